"""prospective_reflector: criticises a plan before anything of it is done (PreFlect 3.2.2, A.3, B.2).

A conversation of its own with the same backbone, of at most two turns: diagnosis, and only after an error,
revision. The first turn sees of every planning error the name, description and two failure examples; the
second all failures and successes of those that were found. A revised plan is diagnosed again, at most
`max_reflections` times; then the version with the fewest errors goes on, marked unresolved. The paper's loop
has no bound.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langgraph.runtime import Runtime

from forethought.knowledge.planning_errors import PlanningError, load_planning_errors
from forethought.models.allowance import total
from forethought.models.types import Asked, Message, ReplyError, ReplySpec, Usage, no_usage, reply_spec
from forethought.nodes.support.budget import allowance, exhausted_calls, left_text
from forethought.nodes.support.events import thinking
from forethought.nodes.support.lessons import lesson_items
from forethought.nodes.support.plans import dropped_ids, join_plan, plan_problem
from forethought.nodes.support.prompt_text import (
    files_text,
    plan_text,
    result_items,
    steps_text,
    tool_record,
    trajectory,
)
from forethought.nodes.support.services import Services
from forethought.prompts.render import render
from forethought.prompts.replies import PlanDiagnosis, PlanRevision, diagnosis_of
from forethought.state.agent import AgentState, Plan, PlanReview
from forethought.state.context import Context
from forethought.state.plan_patches import plan_update
from forethought.tools.registry import describe


@dataclass
class _Reflection:
    """What the reflections on one plan have come to so far."""

    plan: Plan
    reviews: list[PlanReview] = field(default_factory=list)
    usage: Usage = field(default_factory=no_usage)
    candidates: list[tuple[int, Plan]] = field(default_factory=list)


async def prospective_reflector(
    state: AgentState, runtime: Runtime[Context], *, services: Services
) -> dict[str, Any]:
    """Diagnose the plan in force and revise it as long as errors are found and reflections are left."""
    context = services.context(runtime)
    await services.ready()
    plan = state.get("plan", {})
    if plan.get("reviewed") or not any(
        subtask["status"] == "pending" for subtask in plan.get("subtasks", [])
    ):
        return {}
    reflection = _Reflection(plan)
    if context.prospective_reflection:
        errors = await _known_errors(services, context)
        await _reflect(reflection, state, runtime, services, context, errors)
    approval = _approval(plan, reflection.plan, context)
    return {
        **plan_update(plan, {**reflection.plan, "reviewed": True, "approval": approval}),
        "plan_reviews": reflection.reviews,
        "usage": {"reflector": reflection.usage},
        "progress": {**state["progress"], "version": max(state["progress"]["version"], _highest(reflection))},
    }


def _approval(before: Plan, after: Plan, context: Context) -> Literal["", "wanted"]:
    """Whether a person is asked: always when wanted, but not again for their own edit that stands as they
    wrote it."""
    as_edited = before.get("approval") == "edited" and after["version"] == before["version"]
    return "wanted" if context.approve_plan and not as_edited else ""


def _highest(reflection: _Reflection) -> int:
    return max([reflection.plan["version"], *(plan["version"] for _, plan in reflection.candidates)])


async def _known_errors(services: Services, context: Context) -> tuple[PlanningError, ...]:
    if not context.planning_errors:
        return ()
    return await asyncio.to_thread(load_planning_errors, services.settings.planning_errors_file)


async def _reflect(
    reflection: _Reflection,
    state: AgentState,
    runtime: Runtime[Context],
    services: Services,
    context: Context,
    errors: Sequence[PlanningError],
) -> None:
    """Diagnose, revise, diagnose again; every diagnosis leaves a record, a skipped one too."""
    for attempt in range(context.max_reflections + 1):
        now = _with(state, reflection)
        messages = reflector_messages(now, services, context, errors)
        diagnosis, skipped = await _diagnose(reflection, now, runtime, services, context, (messages, errors))
        if diagnosis is None:
            reflection.reviews.append(_review(now, skipped=skipped))
            if reflection.candidates:  # a revision that nobody has examined: its plan before had errors
                _unresolved(reflection)
            return
        reflection.reviews.append(_review(now, diagnosis.reply))
        if not diagnosis.reply.errors:
            return
        reflection.candidates.append((len(diagnosis.reply.errors), reflection.plan))
        if attempt == context.max_reflections:
            break
        if spent := exhausted_calls(_with(state, reflection), context):
            reflection.reviews[-1]["changes"] = f"not revised: the budget of {spent} is spent"
            break
        thinking(runtime, "reflector", turn="revision", plan_version=reflection.plan["version"])
        if not await _revise(reflection, now, services, context, (messages, diagnosis), errors):
            break
    reflection.plan = min(reflection.candidates, key=lambda candidate: candidate[0])[1]
    _unresolved(reflection)


def _with(state: AgentState, reflection: _Reflection) -> AgentState:
    """The state with the plan in hand and what the reflections have cost."""
    usage = {**state.get("usage", {}), "now": reflection.usage}
    return {**state, "plan": reflection.plan, "usage": usage}


def _unresolved(reflection: _Reflection) -> None:
    reflection.plan = {**reflection.plan, "unresolved": True}
    reflection.reviews[-1]["unresolved"] = True


async def _diagnose(
    reflection: _Reflection,
    state: AgentState,
    runtime: Runtime[Context],
    services: Services,
    context: Context,
    asking: tuple[list[Message], Sequence[PlanningError]],
) -> tuple[Asked[PlanDiagnosis] | None, str]:
    """Turn 1, or None and why there was none."""
    spent = exhausted_calls(state, context)
    if spent:
        return None, f"the budget of {spent} is spent"
    messages, errors = asking
    thinking(runtime, "reflector", turn="diagnosis", plan_version=reflection.plan["version"])
    try:
        asked = await services.models.ask(
            role="reflector",
            model=context.model_for("reflector"),
            fallback=context.fallback_model,
            messages=messages,
            reply=_diagnosis_spec(errors),
            allowance=allowance(state, context),
        )
    except ReplyError as error:
        reflection.usage = total(reflection.usage, error.usage)
        return None, f"no valid diagnosis: {error.problem or error}"
    reflection.usage = total(reflection.usage, asked.usage)
    return asked, ""


async def _revise(
    reflection: _Reflection,
    state: AgentState,
    services: Services,
    context: Context,
    first_turn: tuple[list[Message], Asked[PlanDiagnosis]],
    errors: Sequence[PlanningError],
) -> bool:
    """Turn 2. The revised plan becomes the one in hand; False when no valid revision came."""
    messages, diagnosis = first_turn
    found = {error.error_type for error in diagnosis.reply.errors}
    _, text = render("reflector_revise", errors=[error.full() for error in errors if error.name in found])
    results = state.get("results", {})

    def check(reply: PlanRevision) -> str | None:
        return plan_problem(reply.subtasks, tools=services.tools, old=reflection.plan, results=results)

    try:
        asked = await services.models.ask(
            role="reflector",
            model=context.model_for("reflector"),
            fallback=context.fallback_model,
            reply=reply_spec(PlanRevision),
            check=check,
            messages=[*messages, Message("assistant", diagnosis.text), Message("user", text)],
            allowance=allowance(_with(state, reflection), context),
        )
    except ReplyError as error:
        reflection.usage = total(reflection.usage, error.usage)
        reflection.reviews[-1]["changes"] = f"no valid revision: {error.problem or error}"
        return False
    reflection.usage = total(reflection.usage, asked.usage)
    reflection.reviews[-1] = {**reflection.reviews[-1], "revised": True, "changes": asked.reply.changes}
    taken = dropped_ids(trajectory(state), *(plan for _, plan in reflection.candidates))
    subtasks = join_plan(asked.reply.subtasks, old=reflection.plan, results=results, taken=taken)
    version = max(_highest(reflection), state["progress"]["version"]) + 1
    reflection.plan = {**reflection.plan, "version": version, "subtasks": subtasks}
    return True


def _diagnosis_spec(errors: Sequence[PlanningError]) -> ReplySpec[PlanDiagnosis]:
    """PlanDiagnosis with the known error types only; without planning errors, types are free text."""
    return reply_spec(diagnosis_of(tuple(error.name for error in errors)) if errors else PlanDiagnosis)


def _review(state: AgentState, reply: PlanDiagnosis | None = None, skipped: str = "") -> PlanReview:
    return {
        "task": state["progress"]["task"],
        "round": state["progress"]["round"],
        "plan_version": state["plan"]["version"],
        "situation": reply.situation if reply else "",
        "tool_notes": reply.tool_notes if reply else "",
        "errors": [error.model_dump() for error in reply.errors] if reply else [],  # type: ignore[misc]
        "revised": False,
        "changes": "",
        "skipped": skipped,
        "unresolved": False,
    }


def reflector_messages(
    state: AgentState, services: Services, context: Context, errors: Sequence[PlanningError]
) -> list[Message]:
    """Turn 1: the planning errors and tools are fixed and come first; then task, past actions, plan."""
    steps = trajectory(state)
    system, user = render(
        "reflector",
        errors=[error.brief() for error in errors],
        tools=describe(services.tools),
        task=state["task"],
        files=files_text(state.get("files", [])),
        guidance=state.get("guidance", []),
        lessons=lesson_items(state),
        steps=steps_text(steps, state.get("results", {})),
        tool_record=tool_record(steps),
        results=result_items(state.get("results", {})),
        plan=plan_text(state["plan"], only_open=True),
        left=left_text(state, context),
    )
    return [Message("system", system), Message("user", user)]
