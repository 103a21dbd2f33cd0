"""Plan-and-act: the plan, its execution, its updates."""

from __future__ import annotations

from typing import Any

from forethought.evals.baselines.plan_and_act import WHOLE_TASK
from forethought.evals.registry import method
from forethought.evals.types import Budget
from forethought.tools.base import make_tool
from tests.support.evaluating import Bureau, Replies, done, move


def planned(*steps: str, answer: str = "") -> dict[str, Any]:
    """A StepPlan."""
    return {"thought": "", "steps": list(steps), "answer": answer}


def lookup(key: str) -> str:
    """Look something up."""
    return f"value of {key}"


async def test_steps_are_carried_out_one_by_one_and_the_plan_is_updated(bureau: Bureau) -> None:
    replies = Replies(
        {
            "StepPlan": [planned("find a", "find b"), planned("find c"), planned(answer="a and c")],
            "ReactMove": [
                move("lookup", key="a"),
                done("a is there"),
                move("lookup", key="c"),
                done("c too"),
            ],
        }
    )
    out = await bureau.work(method("plan-and-act"), replies, tools=[make_tool(lookup)])
    assert (out.attempt.answer, out.attempt.status, out.attempt.steps) == ("a and c", "answered", 2)
    first, second, third = (seen.last for seen in out.asked("StepPlan"))
    assert "Write the first plan." in first
    assert "Step: find a\nResult: a is there" in second
    assert "<plan>\nfind b\n</plan>" in second
    assert "Step: find c\nResult: c too" in third
    moves = [seen.last for seen in out.asked("ReactMove")]
    assert "<subtask>\nfind a\n</subtask>" in moves[0]
    assert "[done] find a\n  result: a is there\n[open] find c" in moves[2]
    assert "<subtask>\nfind c\n</subtask>" in moves[2]
    assert "value of a" in moves[2]
    actions = [step.action for step in out.attempt.trajectory.steps]
    assert actions[-2:] == ["answer: c too", "answer: a and c"]


async def test_an_unusable_first_plan_is_the_whole_task(bureau: Bureau) -> None:
    replies = Replies(
        {"StepPlan": ["no JSON"], "ReactMove": [done("looked")], "ClosingAnswer": [{"answer": "x"}]}
    )
    out = await bureau.work(method("plan-and-act"), replies)
    assert WHOLE_TASK in out.asked("ReactMove")[0].last
    assert (out.attempt.answer, out.attempt.status) == ("x", "best_effort"), "no plan was left to go on with"
    assert f"[done] {WHOLE_TASK}" in out.asked("ClosingAnswer")[0].last


async def test_a_plan_that_never_ends_is_ended(bureau: Bureau) -> None:
    replies = Replies(
        {"StepPlan": [planned("again")], "ReactMove": [done("done")], "ClosingAnswer": [{"answer": "x"}]}
    )
    out = await bureau.work(method("plan-and-act"), replies, budget=Budget(max_steps=3))
    assert (out.attempt.answer, out.attempt.status) == ("x", "best_effort")
    assert len(out.asked("StepPlan")) == 4
