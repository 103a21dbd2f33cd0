"""What a diagnosis is asked for, and what follows from its verdicts on the signs.

In the paper's order it names errors, and a second turn revises the plan (PreFlect 3.2.2). Else it first goes
through the signs that were seen, so that none is passed by, and carries the revised plan itself, which saves
the second turn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from forethought.models.types import ReplySpec, reply_spec, without
from forethought.nodes.support.plans import plan_problem
from forethought.nodes.support.sign_verdicts import number, sign_lines, signs_text, unheeded
from forethought.prompts.planned_calls import with_calls
from forethought.prompts.replies import FoundError, PlanDiagnosis, SignVerdict, diagnosis_of
from forethought.state.agent import AgentState
from forethought.state.context import Context
from forethought.tools.base import Tool

UNHEEDED = "insufficient_constraint_verification"
"""The error type of a relevant sign that no subtask handles."""


def diagnosis_spec(
    names: Sequence[str], state: AgentState, context: Context, calls: dict[str, Tool]
) -> ReplySpec[PlanDiagnosis]:
    """The spec of a diagnosis whose error types are `names`; without any, types are free text. `calls`: the
    tools whose calls a plan may carry."""
    spec = reply_spec(diagnosis_of(tuple(names)) if names else PlanDiagnosis)
    if context.effort == "paper":
        return without(spec, "signs", "subtasks")
    asked = without(spec, "situation", "tool_notes", *([] if signs_text(state) else ["signs"]))
    return with_calls(asked, calls)


def diagnosis_problem(reply: PlanDiagnosis, state: AgentState) -> str | None:
    """Why a diagnosis that carries the revised plan is sent back, or None."""
    unheeded = unheeded_signs(reply, state)
    if not (reply.errors or unheeded):
        return None
    if not reply.subtasks:
        signs = ", ".join(verdict.sign for verdict in unheeded)
        why = f"no subtask looks after {signs}" if signs else "errors were found"
        return f"{why}, but `subtasks` is empty: it is the whole revised plan"
    return plan_problem(reply.subtasks, old=state["plan"], results=state.get("results", {}))


def with_unheeded(reply: PlanDiagnosis, state: AgentState, names: Sequence[str]) -> PlanDiagnosis:
    """The diagnosis with each unheeded sign as an error of its own; the sign is the evidence."""
    kind = next((name for name in names if name == UNHEEDED), next(iter(names), UNHEEDED))
    lines = sign_lines(state)
    errors = [
        FoundError(evidence=lines[number(verdict)], risk=verdict.bears, error_type=kind)
        for verdict in unheeded_signs(reply, state)
    ]
    return reply.model_copy(update={"errors": [*reply.errors, *errors]}) if errors else reply


def unheeded_signs(reply: PlanDiagnosis, state: AgentState) -> list[SignVerdict]:
    """The signs that bear on the task, that no subtask of the plan looks after and that no error names."""
    ids = {subtask["id"] for subtask in state["plan"].get("subtasks", [])}
    named = set(re.findall(r"\bS\d+\b", " ".join(f"{e.evidence} {e.risk}" for e in reply.errors)))
    return [verdict for verdict in unheeded(reply.signs, state, ids) if number(verdict) not in named]
