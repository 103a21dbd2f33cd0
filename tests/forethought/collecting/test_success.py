"""Who says that a run succeeded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from forethought.collecting.folder import Folder, Trial
from forethought.collecting.running import Collector
from forethought.collecting.success import Checker, CheckerError, judge_for, load_function
from forethought.models.ask import Models
from forethought.models.types import no_usage
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.trajectories.tasks import CollectTask
from forethought.trajectories.types import Trajectory
from tests.support.model_server import Fault, ModelServer, script


def run(answer: str) -> Trajectory:
    """A run that came to an answer."""
    return Trajectory(id="r", task="How many?", answer=answer)


def checked(check: Callable[[str, dict[str, Any]], Any]) -> Checker:
    return Checker(CollectTask(id="a", task="How many?", checker="m:f"), check)


@pytest.mark.parametrize(("said", "right"), [(True, True), (0.5, False), (1.0, True)])
async def test_a_checker_says_yes_no_or_a_share(said: Any, right: bool) -> None:
    seen: list[Any] = []
    verdict = await checked(lambda answer, given: seen.append((answer, given)) or said).judge(run("x"))
    assert verdict.success == right
    assert seen == [("x", {"id": "a", "task": "How many?", "files": []})]


async def test_a_checker_may_be_a_coroutine() -> None:
    async def check(answer: str, given: dict[str, Any]) -> bool:
        return answer == "x"

    assert (await checked(check).judge(run("x"))).success


async def test_a_checker_that_throws_or_says_something_else_gives_no_verdict() -> None:
    def check(answer: str, given: dict[str, Any]) -> bool:
        raise KeyError("total")

    with pytest.raises(CheckerError, match="m:f failed: KeyError: 'total'"):
        await checked(check).judge(run("x"))
    with pytest.raises(CheckerError, match="not str"):
        await checked(lambda answer, given: "yes").judge(run("x"))


def test_a_checker_is_loaded_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_checks_of_test.py").write_text("def right(answer, task):\n    return True\nx = 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert load_function("my_checks_of_test:right")("", {}) is True
    for spec, said in (
        ("my_checks_of_test:wrong", "AttributeError"),
        ("my_checks_of_test:x", "not a function"),
    ):
        with pytest.raises(ValueError, match=said):
            load_function(spec)
    with pytest.raises(ValueError, match="no_such_module:x: ModuleNotFoundError"):
        load_function("no_such_module:x")


async def test_the_accepted_answers_judge_by_themselves_or_by_a_model(
    model_server: Callable[..., ModelServer], settings: Callable[..., Settings]
) -> None:
    server = model_server(script({"reasoning": "the same", "correct": True}))
    task = CollectTask(id="a", task="Which?", expected=("Old Bridge",))
    answer = run("It is the bridge called Old.")
    for method, right, calls in (("exact", False, 0), ("model", True, 1)):
        judge = judge_for(task, method, Models(settings(server)), "openai:scripted")  # type: ignore[arg-type]
        verdict = await judge.judge(answer)
        assert (judge.name, verdict.success, verdict.usage["calls"]) == (method, right, calls)


async def test_a_judge_without_a_usable_verdict_leaves_the_outcome_open(
    model_server: Callable[..., ModelServer], settings: Callable[..., Settings], tmp_path: Path
) -> None:
    models = Models(settings(model_server(script(Fault("refusal")))))
    task = CollectTask(id="a", task="Which?", expected=("Old Bridge",))
    judges = {"a": judge_for(task, "model", models, "openai:scripted")}
    collector = Collector(cast(Any, None), Context(), models.settings, Folder(tmp_path), judges)
    finished = Trial(
        task="a",
        trial=1,
        status="answered",
        outcome="success",
        by="",
        reason="",  # type: ignore[typeddict-item]
        usage=no_usage(),
        seconds=1.0,
    )
    record = await collector._judge(task, finished, run("x"))
    assert (record["outcome"], record["by"], record["usage"]["calls"]) == ("unknown", "model", 1)
    assert "no usable verdict" in record["reason"]
