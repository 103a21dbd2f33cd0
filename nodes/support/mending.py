"""What the answer's checks found undone, as one more subtask of the same plan.

Not in the papers: MIRROR's next round (3.5) plans anew. What a check finds missing is mostly one reading or
one sum, so it is done in the same round, without a planner, once a task.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from forethought.nodes.support.answer_reply import unmet_text
from forethought.nodes.support.origins import thread_origin
from forethought.nodes.support.plans import plan_update
from forethought.prompts.replies import AnswerDraft
from forethought.state.agent import AgentState, Plan, Replan, Subtask
from forethought.state.context import Context

KIND = "checks"
"""The kind of re-plan that a mending is recorded as."""


def mending(state: AgentState) -> Replan | None:
    """The record of the task's mending, if there was one."""
    task = state.get("progress", {}).get("task", 1)
    return next((r for r in state.get("replans", []) if (r["kind"], r["task"]) == (KIND, task)), None)


def may_mend(state: AgentState, context: Context) -> bool:
    """Whether the task may be mended: not yet done, and a re-plan is left. Budgets that can pass until the
    answer is there are not asked."""
    progress = state.get("progress", {})
    is_open = not progress.get("stopped") and mending(state) is None
    return is_open and context.replanning and progress.get("replans", 0) < context.max_replans


def mending_update(reply: AnswerDraft, state: AgentState, context: Context) -> dict[str, Any]:
    """The update that adds the subtask, as a plan version of its own; a person who approves plans is asked.

    `state` with statuses. The subtask depends on everything that was finished, so that its worker sees it.
    """
    plan, results, progress = state.get("plan", {}), state.get("results", {}), state["progress"]
    subtasks, version = plan.get("subtasks", []), progress["version"] + 1
    reason = f"The answer's checks found work to do. {unmet_text(reply)}"
    subtask: Subtask = {
        "id": _new_id(state),
        "description": reply.work,
        "depends_on": [item["id"] for item in subtasks if item["id"] in results],
        "call": None,
        "expected": "",
        "status": "pending",
    }
    mended: Plan = {
        **plan,
        "version": version,
        "subtasks": [*subtasks, subtask],
        "why": reason,
        "n": progress["n"],
        "reviewed": True,
        "approval": "wanted" if context.approve_plan else "",
        "origin": thread_origin(state),
    }
    record: Replan = {
        "n": progress["n"],
        "reason": reason,
        "forced": False,
        "kind": KIND,
        "task": progress["task"],
    }
    planned_at = [*progress["planned_at"], progress["n"] - progress["base_n"]]
    return {
        **plan_update(mended),
        "replans": [record],
        "progress": {
            **progress,
            "version": version,
            "planned_at": planned_at,
            "replans": progress["replans"] + 1,
        },
    }


def _new_id(state: AgentState) -> str:
    """An id under which nothing was done yet."""
    used = {item["id"] for item in state.get("plan", {}).get("subtasks", [])} | set(state.get("results", {}))
    used |= {step["subtask"] for step in state.get("trajectory", [])}
    return next(name for n in count(1) if (name := "mend" if n == 1 else f"mend_{n}") not in used)
