"""`forethought lessons`, and runs that leave and use lessons, as a person calls them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from forethought.settings import Settings
from tests.forethought.app.conftest import Cli, Serve
from tests.forethought.app.scripted import Json, Script
from tests.support.model_server import ModelServer, SeenRequest
from tests.support.replies import lesson

TASK = "Add up the travel claims"


@dataclass
class Learning(Script):
    """A run whose answers do not pass, and which draws a lesson from that."""

    answer_score: int = 3

    def lessondraft(self, seen: SeenRequest) -> Json:
        """The lesson."""
        return lesson(
            "The claims were added up unread.", "Read the travel claims first.", error_type="Unread claims"
        )


@dataclass(frozen=True)
class Taught:
    """A place where one run has left a lesson."""

    cli: Cli
    server: ModelServer
    key: str

    def run(self, task: str = TASK) -> Any:
        """Another run with lessons."""
        return self.cli("run", task, "--json", "--set", "lessons=true", "--set", "max_rounds=2")

    def lessons(self) -> Any:
        """What `list` says."""
        return self.cli("lessons", "list", "--json").json


@pytest.fixture
def taught(cli: Cli, served: Serve) -> Taught:
    server = served(Learning())
    first = Taught(cli, server, "")
    assert first.run().code == 3
    (kept,) = first.lessons()
    return Taught(cli, server, kept["id"])


def test_a_run_leaves_a_lesson_that_the_next_one_is_shown(taught: Taught) -> None:
    (kept,) = taught.lessons()
    assert (kept["worked"], kept["quarantined"], kept["used"]) == ("Read the travel claims first.", False, 0)
    taught.server.requests.clear()
    output = taught.cli("run", "Add up the claims of travel in May", "--set", "lessons=true").out
    assert f"lessons from other tasks: {taught.key}" in output
    assert "lesson saved: forethought lessons show" in output
    assert "Read the travel claims first." in taught.server.requests[0].text
    kept = next(item for item in taught.lessons() if item["id"] == taught.key)
    assert (kept["used"], kept["hurt"], kept["helped"]) == (1, 1, 0)


def test_a_run_without_lessons_opens_no_store(
    cli: Cli, scripted: Callable[..., tuple[Script, ModelServer]]
) -> None:
    scripted()
    assert cli("run", TASK, "--json").code == 0
    assert not (Settings().data_dir / "experience.sqlite").exists()


def test_a_lesson_is_shown_edited_confirmed_and_dropped(taught: Taught) -> None:
    cli, key = taught.cli, taught.key
    shown = cli("lessons", "show", key).out
    for part in ("Read the travel claims first.", "in use", "thread ", "helped 0, hurt 0", "strength 1.00"):
        assert part in shown
    assert cli("lessons", "show", key, "--json").json["id"] == key
    listed = cli("lessons", "list").out
    assert key in listed
    assert "Read the travel claims first." in " ".join(listed.split())
    assert cli("lessons", "edit", key, "--worked", "Read every travel claim.").code == 0
    assert cli("lessons", "confirm", key).code == 0
    (kept,) = taught.lessons()
    assert (kept["worked"], kept["confirmed"]) == ("Read every travel claim.", "person")
    assert kept["failed"] == "The claims were added up unread."
    assert cli("lessons", "drop", key).code == 0
    assert taught.lessons() == []


def test_wrong_use_is_one_line(taught: Taught) -> None:
    for arguments, said in (
        (("show", "nothere"), "no lesson nothere"),
        (("edit", taught.key), "--failed, --why or --worked"),
        (("edit", taught.key, "--worked", "  "), "`lessons drop` deletes a lesson"),
        (("drop", "nothere"), "no lesson nothere"),
        (("list", "--namespace", "../x"), "use letters, digits, _ and -"),
    ):
        refused = taught.cli("lessons", *arguments)
        assert refused.code == 2
        assert said in refused.err
        assert len(refused.err.strip().splitlines()) == 1
    assert len(taught.lessons()) == 1


def test_without_any_lesson_the_commands_say_so(cli: Cli) -> None:
    assert cli("lessons", "list").code == 0
    assert cli("lessons", "list", "--json").json == []
    shown = cli("lessons", "show", "x")
    assert (shown.code, "no lessons yet" in shown.err) == (2, True)
    proposals = cli("lessons", "proposals")
    assert (proposals.code, "no lesson names" in proposals.out) == (0, True)


def test_a_new_error_type_is_listed_until_it_is_known(
    taught: Taught, monkeypatch: pytest.MonkeyPatch
) -> None:
    (named,) = taught.cli("lessons", "proposals", "--json").json
    assert (named["error_type"], named["tasks"]) == ("unread_claims", 1)
    assert "unread_claims" in taught.cli("lessons", "proposals").out
    known = Path("errors.yaml")
    examples = ["it was not read", "nor was that"]
    error = {"name": "unread_claims", "description": "d", "failures": examples, "successes": examples}
    known.write_text(json.dumps({"version": 1, "errors": [error]}))
    monkeypatch.setenv("FORETHOUGHT_PLANNING_ERRORS_FILE", str(known.resolve()))
    assert taught.cli("lessons", "proposals", "--json").json == []
