"""What a diagnosis is asked for, and why it is sent back.

In the paper's order it names errors, and a second turn revises the plan (PreFlect 3.2.2). Else it carries the
revised plan itself, which saves the second turn.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from forethought.models.types import ReplySpec, reply_spec, without
from forethought.nodes.support.plans import plan_problem
from forethought.prompts.planned_calls import with_calls
from forethought.prompts.replies import PlanDiagnosis, diagnosis_of
from forethought.state.agent import Plan
from forethought.state.context import Context
from forethought.tools.base import Tool


def diagnosis_spec(
    names: Sequence[str], context: Context, calls: dict[str, Tool]
) -> ReplySpec[PlanDiagnosis]:
    """The spec of a diagnosis.

    Args:
        names: The error types; without any, types are free text.
        context: The run's choices.
        calls: The tools whose calls a plan may carry.
    """
    spec = reply_spec(diagnosis_of(tuple(names)) if names else PlanDiagnosis)
    if context.effort == "paper":
        return without(spec, "subtasks")
    return with_calls(without(spec, "situation", "tool_notes"), calls)


def diagnosis_problem(reply: PlanDiagnosis, plan: Plan, results: Collection[str]) -> str | None:
    """Why a diagnosis that carries the revised plan is sent back, or None."""
    if not reply.errors:
        return None
    if not reply.subtasks:
        return "errors were found, but `subtasks` is empty: it is the whole revised plan"
    return plan_problem(reply.subtasks, old=plan, results=results)
