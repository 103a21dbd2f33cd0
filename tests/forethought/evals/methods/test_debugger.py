"""The debugger as a method: what it answers, what it costs, and where it goes on."""

from __future__ import annotations

import json

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from forethought.evals import critical_error_task
from forethought.evals.registry import method
from forethought.evals.types import Budget, InfrastructureError
from forethought.knowledge.error_taxonomy import load_taxonomy
from forethought.models.types import TransportError
from forethought.trajectories.types import Annotation
from tests.support.debugging import Reader, critical, trajectory
from tests.support.evaluating import Bureau
from tests.support.model_server import Fault

TASK = critical_error_task.question(trajectory(3), load_taxonomy())
FOUND = Annotation(critical_step=2, critical_module="planning", error_type="constraint_ignorance")
ERRORS = {2: {"planning": "constraint_ignorance"}}


async def test_it_labels_every_step_and_answers_with_the_critical_error(bureau: Bureau) -> None:
    out = await bureau.work(method("debugger"), Reader(ERRORS), task=TASK)
    assert critical_error_task.read_answer(out.attempt.answer, load_taxonomy()) == FOUND
    assert out.server.names == ["StepLabels"] * 3 + ["CriticalError"]
    assert (out.attempt.status, out.attempt.usage["calls"]) == ("answered", 4)
    assert out.attempt.trajectory.steps[0].planning == "the wrong drawer was chosen"


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("debugger-no-labels", ["CriticalError"]),
        ("debugger-direct", ["FailurePoint"]),
    ],
)
async def test_other_ways_ask_for_less(bureau: Bureau, name: str, asked: list[str]) -> None:
    point = {"step": 2, "module": "planning", "error_type": "constraint_ignorance", "reason": "r"}
    reader = Reader(ERRORS, {"FailurePoint": [{**point, "suggestion": ""}], "CriticalError": [critical(2)]})
    out = await bureau.work(method(name), reader, task=TASK)
    assert json.loads(out.attempt.answer) == FOUND.model_dump()
    assert out.server.names == asked


@pytest.mark.parametrize(("name", "step"), [("debugger-brute-force", 2), ("debugger-binary-search", 1)])
async def test_searches_ask_of_single_steps(bureau: Bureau, name: str, step: int) -> None:
    """The first step asked of would not have saved the run, the second would: 1 and 2, or 2 and 1."""
    saved = [{"reasoning": "r", "saved": False}, {"reasoning": "r", "saved": True}]
    out = await bureau.work(method(name), Reader(ERRORS, {"Salvage": saved}), task=TASK)
    assert out.server.names == ["Salvage", "Salvage", "CriticalError"]
    found = critical_error_task.read_answer(out.attempt.answer, load_taxonomy())
    assert found is not None
    assert found.critical_step == step


async def test_nothing_found_is_no_answer(bureau: Bureau) -> None:
    nothing = critical(0, "action", "no_error", evidence="-")
    out = await bureau.work(method("debugger"), Reader({}, {"CriticalError": [nothing]}), task=TASK)
    assert (out.attempt.answer, out.attempt.status) == ("", "failed")


async def test_a_spent_budget_is_the_status(bureau: Bureau) -> None:
    out = await bureau.work(method("debugger"), Reader(ERRORS), task=TASK, budget=Budget(max_tokens=1))
    assert (out.attempt.answer, out.attempt.status) == ("", "budget_exhausted")


async def test_an_unreachable_model_is_no_failure_of_the_method_and_the_thread_goes_on(
    bureau: Bureau,
) -> None:
    saver = InMemorySaver()
    broken = Reader(ERRORS, {"CriticalError": [Fault("503")]})
    with pytest.raises(TransportError):
        await bureau.work(method("debugger"), broken, task=TASK, saver=saver)
    again = await bureau.work(method("debugger"), Reader(ERRORS), task=TASK, saver=saver)
    assert again.server.names == ["CriticalError"]
    assert critical_error_task.read_answer(again.attempt.answer, load_taxonomy()) == FOUND
    third = await bureau.work(method("debugger"), Reader(ERRORS), task=TASK, saver=saver)
    assert (third.server.names, third.attempt.answer) == ([], again.attempt.answer)


async def test_another_task_is_refused(bureau: Bureau) -> None:
    with pytest.raises(InfrastructureError, match="agent-error-bench only"):
        await bureau.work(method("debugger"), Reader(), task="Which bridge?")
