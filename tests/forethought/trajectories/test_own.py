"""A thread of the agent's as a trajectory: modules, prompts' memory, the answer, and failures."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forethought.trajectories.own import from_state
from forethought.trajectories.read import from_json
from tests.support import sample_state


def step(n: int, subtask: str = "read", **fields: Any) -> dict[str, Any]:
    own = {"plan_version": 1, "arguments": {"key": n}, "score": 8, "evaluation": "fits", "ok": True}
    made: dict[str, Any] = sample_state.step(n, subtask, **{**own, "observation": f"seen {n}", **fields})
    return made


def subtask(key: str) -> dict[str, Any]:
    return {
        "id": key,
        "description": f"do {key}",
        "tool": "lookup",
        "depends_on": ["read"],
        "expected": "a sum",
    }


def state(**fields: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "task": "Which is least?",
        "trajectory": [
            step(
                6, "sum", plan_version=2, shown=["result:read", "failure:5", "rejected:5"], surprise="serious"
            ),
            step(4, finished=True),
            step(5, tool="save", ok=False, cause="timeout", observation="too slow"),
            step(1, task=1),
        ],
        "plan": {
            "version": 2,
            "why": "the sum is missing",
            "subtasks": [subtask("sum")],
            "evaluation": "sound",
        },
        "plan_reviews": [
            {
                "task": 2,
                "plan_version": 2,
                "errors": [{"error_type": "too_short", "evidence": "no check"}],
                "changes": "added a check",
                "skipped": "",
            }
        ],
        "progress": {"task": 2, "base_n": 3, "stopped": "steps"},
        "draft": {"evaluation": "complete", "score": 9, "used_steps": [4, 6]},
        "answer": "team B",
        "status": "budget_exhausted",
    }
    return {**base, **fields}


def test_only_the_present_task_in_the_order_of_its_steps_with_the_answer_last():
    trajectory = from_state(state(), {"save": "write"}, id="thread")
    assert [each.number for each in trajectory.steps] == [4, 5, 6, 7]
    assert (trajectory.id, trajectory.environment, trajectory.answer) == ("thread", "forethought", "team B")
    answer = trajectory.steps[-1]
    assert answer.action == "answer: team B"
    assert answer.memory == "The answer rests on steps 4, 6."
    assert answer.reflection == "Evaluation of the draft (score 9 of 10): complete"


def test_what_the_planner_was_shown_of_the_files_is_told():
    look = {"files": [{"name": "teams.csv", "shown": "whole", "text": "team,cost\nB,3"}]}
    assert from_state(state(look=look), {"save": "write"}).world == (
        "Tools that it had: save.\n\nWhat it was shown of its files at once:\n\n## teams.csv\nteam,cost\nB,3"
    )


def test_an_answer_in_which_its_author_named_no_defect_says_so():
    answer = from_state(state(draft={"evaluation": "", "score": 10, "used_steps": []}), {}).steps[-1]
    assert answer.reflection == "Evaluation of the draft (score 10 of 10): no defect was named"
    unscored = from_state(state(draft={"evaluation": "", "score": 0, "used_steps": []}), {}).steps[-1]
    assert unscored.reflection == ""


def test_memory_is_what_stood_in_the_prompt():
    last = from_state(state(), {}).step(6)
    assert last.memory.split("\n") == [
        "Result of read: seen 4",
        'Step 5 failed: save({"key": 5}): timeout: too slow',
        "A move of step 5 that was rejected before it was made",
    ]


def test_the_plan_and_its_review_open_the_first_step_under_it_only():
    trajectory = from_state(
        state(),
        {},
        plans=[{"version": 1, "why": "start", "known": ["net"], "subtasks": [subtask("read")]}],
    )
    first, second, third, _ = trajectory.steps
    assert first.planning.startswith("Plan 1: start\nKnown: net\n- read: do read (after read)\n")
    assert second.planning == "Subtask: read\nThought: thought 5"
    assert "The reflector found too_short: no check\nThe reflector's changes: added a check" in third.planning
    assert first.given == "read: do read\nSuggested tool: lookup\nExpected result: a sum"
    assert from_state(state(), {}).steps[0].given == "read"


def test_reflection_action_effects_and_failures():
    first, second, third, _ = from_state(state(), {"save": "write", "lookup": "read"}).steps
    assert (
        third.reflection
        == "Surprise at the last result: serious\nEvaluation of its move (score 8 of 10): fits"
    )
    assert (first.action, first.tool, first.arguments) == ('lookup({"key": 4})', "lookup", {"key": 4})
    assert [each.changes_world for each in (first, second)] == [False, True]
    assert [each.failure for each in (first, second)] == ["", "tool_execution_error"]


@pytest.mark.parametrize(
    ("action", "shown"),
    [
        ("finish", "finish: seen 4"),
        ("replan", "replan: seen 4"),
        ("none", "none: no usable move was proposed"),
    ],
)
def test_moves_that_are_no_call(action, shown):
    only = from_state(state(trajectory=[step(4, action=action, tool=None)], answer=""), {}).steps
    assert [(each.action, each.tool, each.arguments) for each in only] == [(shown, "", {})]


def test_halted_by_steps_and_by_another_budget():
    assert from_state(state(), {}).halted
    other = from_state(state(progress={"task": 2, "stopped": "usd"}), {})
    assert not other.halted
    assert "usd" in other.notes[0]
    assert not from_state(state(status="answered"), {}).halted


def test_a_thread_without_steps_and_one_read_from_json():
    empty = from_state({"task": "x", "progress": {"task": 1}}, {})
    assert empty.steps == ()
    assert from_json(json.loads(json.dumps(state())), "t").trajectory == from_state(state(), {}, id="t")
    with pytest.raises(ValueError, match="no number n"):
        from_json(state(trajectory=[{"task": 2}]))


def test_what_a_program_wrote_has_changed_the_world_too() -> None:
    program = step(4, tool="python", sub_steps=[{"tool": "lookup"}, {"tool": "save"}])
    harmless = step(5, tool="python", sub_steps=[{"tool": "lookup"}])
    effects = {"python": "read", "lookup": "read", "save": "write"}
    run = from_state(state(trajectory=[program, harmless]), effects)
    assert [item.changes_world for item in run.steps[:2]] == [True, False]
