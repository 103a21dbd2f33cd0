"""A re-run begins before the call that made the error: the planner's, or the tool agent's."""

from __future__ import annotations

from typing import Any

import pytest

from forethought.nodes.debugger.entered import entered_by
from forethought.trajectories import own
from forethought.trajectories.types import Trajectory
from tests.support.debugging import critical


def _step(n: int, thought: str) -> dict[str, Any]:
    return {
        "n": n,
        "task": 1,
        "plan_version": 1,
        "subtask": "total",
        "action": "call",
        "tool": "python",
        "arguments": {"code": "print(sum(column))"},
        "thought": thought,
        "observation": "42",
        "ok": True,
    }


def _run() -> Trajectory:
    subtask = {"id": "total", "description": "Add up the amounts of all shipped orders.", "depends_on": []}
    values = {
        "task": "What was the revenue?",
        "progress": {"task": 1},
        "plan": {"version": 1, "why": "first plan", "subtasks": [subtask]},
        "trajectory": [
            _step(1, "Look at the table first."),
            _step(2, "The status says enough, skip remarks."),
        ],
    }
    return own.from_state(values, {"python": "read"})


@pytest.mark.parametrize(
    ("step", "evidence", "entered"),
    [
        (1, "Add up the amounts of all shipped orders.", "planning"),
        (2, "Add up the amounts of all shipped orders.", "planning"),
        (2, "The status says enough, skip remarks.", "action"),
        (2, "print(sum(column))", "action"),
        (2, "", "planning"),
    ],
)
def test_the_evidence_tells_whose_plan_it_was(step: int, evidence: str, entered: str) -> None:
    error = critical(step, evidence=evidence)
    assert entered_by(error, _run()) == entered


def test_other_modules_stay_what_they_are() -> None:
    assert entered_by(critical(2, "reflection", evidence="The status says enough"), _run()) == "reflection"


def test_an_agent_with_one_planning_module_has_no_planner_of_its_own() -> None:
    run = _run().model_copy(update={"source": "react_log"})
    assert entered_by(critical(2, evidence="The status says enough, skip remarks."), run) == "planning"
