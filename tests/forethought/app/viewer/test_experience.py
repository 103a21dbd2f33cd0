"""The page on experience: advice with its effect, and the planning errors."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from forethought.experience.advice import Advice, Gate, Proof
from forethought.experience.book import Book, namespace_of
from forethought.knowledge.planning_errors import FOR_FOLDERS, load_planning_errors
from forethought.settings import Settings
from forethought.storage import address_of, open_experience
from tests.forethought.app.conftest import Cli
from tests.forethought.app.viewer.conftest import Page

OWN = """
version: 1
errors:
  - name: own_error
    description: The plan <script>alert(1)</script> forgets.
    failures: [one, two]
    successes:
      - text: three
        provenance: {source: "javascript:alert(1)", trial: 2, outcome: success}
    generated: {model: "openai:m", date: "2026-01-02"}
"""


def test_the_planning_errors_are_those_that_plans_are_checked_against(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = page("/experience")
    assert shown.select_one("nav [aria-current]").text == "Experience"  # type: ignore[union-attr]
    errors = [*load_planning_errors(), *load_planning_errors(FOR_FOLDERS)]
    names = [one.text for one in shown.select("article dd.name")]
    assert names == [error.name for error in errors]
    path = tmp_path / "own.yaml"
    path.write_text(OWN)
    monkeypatch.setenv("FORETHOUGHT_PLANNING_ERRORS_FILE", str(path))
    own = page("/experience")
    for part in ("own_error", "<script>alert(1)</script>", "one", "three"):
        assert part in own.text
    assert not own.select("main script")
    path.write_text("version: 2")
    assert f"{path}:1:" in page("/experience", 500).select_one("[role=alert]").text  # type: ignore[union-attr]


async def keep(*items: Advice) -> None:
    async with open_experience(address_of(Settings())) as store:
        book = Book(store, namespace_of("local", "default"))
        for item in items:
            await book.put(item)


async def test_an_advice_shows_its_evidence_its_life_and_its_effect(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "/remember" in page("/experience").text
    now = datetime.now(UTC)
    plain = Advice(
        id="a", name="read_first", applies="Add", instead="Read <b>first</b>", source="learn", made=now,
        thread="t1", number=2, steps=[3, 4], shown=3, applied=2, helped=2,
        proof=Proof(status="proven", flips=3, runs=3, control_runs=3), gate=Gate(prevented=4, runs=5),
    )  # fmt: skip
    changes = {"id": "b", "instead": "Send it", "outside": ["web"], "state": "quarantined"}
    await keep(plain.model_copy(update=changes), plain)
    shown = page("/experience")
    assert [one.text for one in shown.select("article h3")[:2]] == ["Read <b>first</b>", "Send it"]
    assert [one["href"] for one in shown.select("article a")] == ["/view/threads/t1"] * 2
    first, second = (" ".join(one.text.split()) for one in shown.select("article")[:2])
    for part in ("adopted", "shown to 3 tasks: applied 2, helped 2, harmed 0", "task 2, steps 3, 4",
                 "proven: 3 of 3 re-runs", "prevented 4, broke 0 of 5 plans"):  # fmt: skip
        assert part in first
    assert "quarantined: based on text from web" in second


def test_an_answer_leads_to_the_advice_that_changed_it(
    cli: Cli, page: Page, scripted: Callable[..., Any]
) -> None:
    scripted()
    Path("rules.txt").write_text("Products of numbers are rounded up.")
    assert cli("experience", "import", "rules.txt").code == 0
    assert cli("run", "Which products are rounded?", "--thread", "t1").code == 0
    (link,) = page("/threads/t1").select("p.applied a")
    target = str(link["href"]).removeprefix("/view")
    assert page(target.partition("#")[0]).find(id=target.partition("#")[2])
    assert "Applied: Products of numbers" in page("/threads/t1").text
