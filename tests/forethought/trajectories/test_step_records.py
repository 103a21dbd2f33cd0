"""Steps of smolagents and of StableToolBench: calls are calls, answers are answers, limits are limits."""

from __future__ import annotations

from typing import Any

import pytest

from forethought.trajectories.read import from_json
from tests.forethought.trajectories import chat_examples as chat
from tests.forethought.trajectories import step_examples as given

FIND = 'find({"parcel": 7})'


@pytest.mark.parametrize("value", [given.SMOLAGENTS, given.SMOLAGENTS["steps"]])
def test_smolagents_calls_are_calls_even_where_they_failed(value: Any) -> None:
    run = from_json(value, "run").trajectory
    assert (run.task, run.instructions, run.answer, run.halted) == (
        chat.TASK,
        chat.SYSTEM,
        chat.ANSWER,
        False,
    )
    look, again, end = run.steps
    assert (look.planning, look.action, look.observation) == (chat.THOUGHT, FIND, chat.SEEN)
    assert (again.action, again.observation) == (FIND, "no such parcel")
    assert again.failure == "tool_execution_error"
    assert end.tool == "final_answer"


def test_smolagents_at_its_step_limit() -> None:
    last = {
        "step_number": 4,
        "error": {"type": "AgentMaxStepsError", "message": "m"},
        "action_output": "guess",
    }
    steps = [*given.SMOLAGENTS["steps"][:2], last]
    run = from_json(steps).trajectory
    assert (run.limit, run.answer, run.steps[-1].failure) == ("max_steps", "guess", "")
    assert from_json({"state": "max_steps_error", "steps": steps}).trajectory.limit == "max_steps_error"


def test_a_tree_of_stable_tool_bench_is_read_as_it_was_searched() -> None:
    loaded = from_json(given.DFS, "588_DFS_woFilter_w2")
    run = loaded.trajectory
    bad, good, end = run.steps
    assert (run.task, run.instructions, run.answer) == (chat.TASK, chat.SYSTEM, chat.ANSWER)
    assert (run.task_id, [tool.name for tool in run.tools]) == ("588", ["find", "Finish"])
    assert (bad.planning, bad.action) == (chat.THOUGHT, "find({})")
    assert bad.observation == "no parcel\n[search] back before the last 2 moves, to try another"
    assert (good.action, good.observation, end.tool) == (FIND, chat.SEEN, "Finish")
    assert (loaded.reference.outcome, run.halted) == ("unknown", False)


def test_a_chain_that_never_finished_is_halted() -> None:
    run = from_json(given.COT).trajectory
    assert [step.action for step in run.steps] == [FIND]
    assert (run.limit, run.answer) == ("single_chain_max_step", "")


def test_predictions_of_stable_tool_bench() -> None:
    run = from_json(given.PREDICTIONS, "G1").trajectory
    look, end = run.steps
    assert (run.id, run.task_id, run.answer) == ("G1-588", "588", chat.ANSWER)
    assert (look.planning, look.action, look.observation) == (chat.THOUGHT, FIND, chat.SEEN)
    assert end.tool == "Finish"
