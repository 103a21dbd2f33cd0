"""Who says that a run succeeded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forethought.collecting.success import (
    checker_judge,
    exact_match,
    f1,
    f1_judge,
    judge_for,
    load_function,
    model_judge,
)
from forethought.models.ask import Models
from forethought.settings import Settings
from forethought.trajectories.tasks import CollectTask
from forethought.trajectories.types import Trajectory
from tests.support.model_server import Fault, ModelServer, script


def task(*accepted: str) -> CollectTask:
    """A task with accepted answers."""
    return CollectTask(id="a", task="How many?", expected=accepted or ("42",))


def run(answer: str) -> Trajectory:
    """A run that came to an answer."""
    return Trajectory(id="r", task="How many?", answer=answer)


@pytest.mark.parametrize(
    ("answer", "accepted", "outcome"),
    [
        ("The Old Bridge.", "old bridge", "success"),
        ("Final answer: 1,200", "1200", "success"),
        ("-5", "5", "failure"),
        ("3.5", "35", "failure"),
        ("3.5", "3.5", "success"),
        ("Old Bridge or New Bridge", "Old Bridge", "failure"),
        ("", "", "failure"),
        ("Café", "cafe", "success"),
    ],
)
async def test_exact_match(answer: str, accepted: str, outcome: str) -> None:
    found = task("no such thing").model_copy(update={"expected": (accepted,)})
    assert (await exact_match(found, run(answer))).outcome == outcome


async def test_f1_counts_the_words_in_common() -> None:
    assert f1("the Old Bridge of Ulm", "Old Bridge") == pytest.approx(2 / 3)
    assert f1("", "x") == 0
    assert (await f1_judge(0.6)(task("Old Bridge"), run("Old Bridge of Ulm"))).outcome == "success"
    assert (await f1_judge(0.8)(task("Old Bridge"), run("Old Bridge of Ulm"))).outcome == "failure"


@pytest.mark.parametrize(("said", "outcome"), [(True, "success"), (0.5, "failure"), (1.0, "success")])
async def test_a_checker_says_yes_no_or_a_share(said: Any, outcome: str) -> None:
    seen: list[Any] = []
    judge = checker_judge("m:f", lambda answer, given: seen.append((answer, given)) or said)
    assert (await judge(task(), run("x"))).outcome == outcome
    assert seen == [("x", {"id": "a", "task": "How many?", "files": []})]


async def test_a_checker_may_be_a_coroutine() -> None:
    async def check(answer: str, given: dict[str, Any]) -> bool:
        return answer == "x"

    assert (await checker_judge("m:f", check)(task(), run("x"))).outcome == "success"


async def test_a_checker_that_throws_leaves_the_outcome_open_and_is_told() -> None:
    def check(answer: str, given: dict[str, Any]) -> bool:
        raise KeyError("total")

    verdict = await checker_judge("m:f", check)(task(), run("x"))
    assert (verdict.outcome, verdict.reason) == ("unknown", "m:f failed: KeyError: 'total'")


async def test_a_checker_that_says_something_else_leaves_the_outcome_open() -> None:
    verdict = await checker_judge("m:f", lambda answer, given: "yes")(task(), run("x"))
    assert verdict.outcome == "unknown"
    assert "not str" in verdict.reason


def test_a_checker_is_loaded_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_checks_of_test.py").write_text("def right(answer, task):\n    return True\nx = 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert load_function("my_checks_of_test:right")("", {}) is True
    for spec, said in (("my_checks_of_test:wrong", "AttributeError"), ("my_checks_of_test:x", "no function")):
        with pytest.raises(ValueError, match=said):
            load_function(spec)
    with pytest.raises(ValueError, match="no_such_module:x: ModuleNotFoundError"):
        load_function("no_such_module:x")


async def test_a_model_judges_the_answer_alone_and_its_cost_is_counted(
    model_server: Callable[..., ModelServer], settings: Callable[..., Settings]
) -> None:
    server = model_server(script({"reasoning": "the same", "correct": True}))
    judge = judge_for(task("Old Bridge"), "model", 0.8, Models(settings(server)), "openai:scripted")
    verdict = await judge(task("Old Bridge"), run("It is the bridge called Old."))
    assert (verdict.outcome, verdict.by, verdict.usage["calls"]) == ("success", "model", 1)
    assert "<accepted>\nOld Bridge\n</accepted>" in server.requests[0].last
    assert (await judge(task(), run(" "))).outcome == "failure"
    assert len(server.requests) == 1, "no answer needs no judge"


async def test_a_judge_without_a_usable_verdict_leaves_the_outcome_open(
    model_server: Callable[..., ModelServer], settings: Callable[..., Settings]
) -> None:
    server = model_server(script(Fault("refusal")))
    verdict = await model_judge(Models(settings(server)), "openai:scripted")(task(), run("x"))
    assert (verdict.outcome, verdict.usage["calls"]) == ("unknown", 1)
