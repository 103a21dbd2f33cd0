"""experience: advice is listed, shown, edited, dropped, and moved through files."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from forethought.app.experience import open_own_book
from forethought.experience.advice import Advice
from forethought.knowledge.planning_errors import PACKAGED, load_planning_errors
from forethought.settings import Settings
from forethought.storage.sqlite import open_sqlite_experience
from tests.forethought.app.conftest import Cli

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def advice(key: str, **fields: Any) -> Advice:
    """An advice on amounts."""
    given = {"id": key, "name": "gross", "applies": "amounts", "instead": "Write gross amounts."}
    return Advice.model_validate({**given, "source": "person", "made": NOW, **fields})


def keep(*items: Advice, namespace: str = "default") -> None:
    """Keep these advices for the commands."""

    async def put() -> None:
        async with open_own_book(Settings(), namespace) as book:
            for item in items:
                await book.put(item)

    asyncio.run(put())


def test_nothing_taught_says_how_to_teach_and_makes_no_file(cli: Cli) -> None:
    said = cli("experience", "list")
    assert (said.code, "/remember" in said.out) == (0, True)
    assert cli("experience", "list", "--json").json == []
    assert list(Path().rglob("experience.sqlite")) == []


def test_a_person_reads_rewords_confirms_and_drops_an_advice(cli: Cli) -> None:
    keep(advice("a"), advice("b", state="quarantined", outside=["web:a.example"], thread="t1", number=2))
    listed = cli("experience", "list").out.splitlines()
    assert [line.split()[:2] for line in listed] == [["a", "adopted"], ["b", "quarantined"]]
    shown = cli("experience", "show", "b").out
    assert "web:a.example" in shown
    assert "thread t1, task 2" in shown
    assert cli("experience", "confirm", "b").code == 0
    assert cli("experience", "edit", "b", "--instead", "Write net amounts.").code == 0
    assert cli("experience", "drop", "a").code == 0
    states = {row["id"]: (row["state"], row["instead"]) for row in cli("experience", "list", "--json").json}
    assert states == {"a": ("dropped", "Write gross amounts."), "b": ("adopted", "Write net amounts.")}


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("show", "zz"), "no advice zz; see: forethought experience list"),
        (("edit", "a"), "give the new text"),
        (("edit", "a", "--instead", " "), "at least 1 character"),
        (("edit", "a", "--name", "Two words"), "pattern"),
        (("import", "missing.json"), "missing.json"),
        (("import", "scan.pdf"), "scan.pdf: no advice"),
        (("import", "lessons"), "there are no lessons at"),
        (("list", "--namespace", "../x"), "--namespace"),
    ],
)
def test_wrong_use_is_one_line(cli: Cli, arguments: tuple[str, ...], line: str) -> None:
    keep(advice("a"))
    said = cli("experience", *arguments)
    assert said.code == 2
    assert line in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_an_export_is_imported_into_another_collection_once(cli: Cli) -> None:
    keep(advice("a"), advice("b", state="retired"))
    assert cli("experience", "export", "all.json").code == 0
    flags = ("--namespace", "bills", "--json")
    assert cli("experience", "import", "all.json", *flags).json == {"imported": 2}
    assert cli("experience", "import", "all.json", *flags).json == {"imported": 0}
    rows = cli("experience", "list", *flags).json
    assert [(row["id"], row["state"]) for row in rows] == [("a", "adopted"), ("b", "retired")]
    Path("all.json").write_text(json.dumps([{"id": "c"}]))
    assert "not an export" in cli("experience", "import", "all.json").err


def test_files_of_earlier_versions_are_imported(cli: Cli) -> None:
    Path("errors.yaml").write_text(PACKAGED.read_text("utf-8"))
    Path("guidance.txt").write_text("Amounts are\ngross.\n\nThe fiscal year starts in July.\n")
    errors = load_planning_errors()
    assert cli("experience", "import", "errors.yaml", "--json").json == {"imported": len(errors)}
    assert cli("experience", "import", "guidance.txt", "--json").json == {"imported": 2}
    rows = cli("experience", "list", "--json").json
    assert {row["name"] for row in rows if row["kind"] == "error"} == {error.name for error in errors}
    assert "Amounts are gross." in [row["instead"] for row in rows if row["kind"] == "rule"]
    packaged = cli("experience", "list", "--packaged", "--json").json
    assert len(packaged) > len(rows)


def test_lessons_of_an_earlier_version_are_imported_and_stay_in_quarantine(cli: Cli) -> None:
    lesson = {
        "id": "l1", "task": "Add up claims", "failed": "no date", "why": "unread", "worked": "Read the date.",
        "error_type": "", "thread": "t", "number": 1, "steps": [2], "origin": "web", "outside": ["web"],
        "confirmed": "", "found": 1, "made": NOW.isoformat(), "renewed": NOW.isoformat(), "used": 3,
        "helped": 1, "hurt": 0,
    }  # fmt: skip
    path = Settings().data_dir / "lessons.sqlite"

    async def old() -> None:
        async with open_sqlite_experience(path, create=True) as store:
            await store.aput(("lessons", "local", "default"), "l1", lesson)

    asyncio.run(old())
    assert cli("experience", "import", "lessons", "--json").json == {"imported": 1}
    (row,) = cli("experience", "list", "--json").json
    assert (row["state"], row["instead"], row["wrong"]) == ("quarantined", "Read the date.", "no date unread")
    assert (row["shown"], row["helped"], row["steps"]) == (3, 1, [2])
