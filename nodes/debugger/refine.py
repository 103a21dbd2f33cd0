"""refine_guidance: what the failed re-run teaches goes into the guidance of the next one (AgentDebug,
algorithm 1, UpdateFeedback)."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from forethought.models.types import Message, ReplyError, reply_spec
from forethought.nodes.debugger.attempts import branch_trajectory
from forethought.nodes.debugger.budget import exhausted
from forethought.nodes.debugger.services import DebugServices
from forethought.prompts.debug_replies import UpdatedGuidance
from forethought.prompts.render import render
from forethought.rollouts.policy import steps_shown
from forethought.state.debugger import Branch, DebuggerContext, DebuggerState
from forethought.trajectories.types import Trajectory


async def refine_guidance(
    state: DebuggerState, runtime: Runtime[DebuggerContext], *, services: DebugServices
) -> dict[str, Any]:
    """New guidance, which replaces the last; baselines have none to refine. Without a usable reply the last
    guidance is tried once more, since a run need not come out the same twice."""
    context = services.context(runtime)
    if context.rerun != "agentdebug" or exhausted(state, context):
        return {}
    try:
        asked = await services.models.ask(
            role="refine",
            model=context.model,
            messages=refine_messages(state, context),
            reply=reply_spec(UpdatedGuidance),
        )
    except ReplyError as error:
        note = f"no refined guidance came ({error.problem or error}): the last is tried again"
        return {"usage": {"refine": error.usage}, "notes": [note]}
    return {"guidance": [asked.reply.guidance], "usage": {"refine": asked.usage}}


def refine_messages(state: DebuggerState, context: DebuggerContext) -> list[Message]:
    """The prompt: what went wrong, what was tried, and the last attempt step by step.

    Verdicts are shown as success or failure only: a reason could give the accepted answer away.
    """
    original = Trajectory.model_validate(state["subject"])
    critical, branches = state["critical"], state["branches"]
    last = branches[-1]
    limit = context.max_observation_chars
    before = [step for step in original.steps if step.number <= critical["critical_step"]]
    prefix, _ = steps_shown(before, limit, context.window)
    steps, _ = steps_shown(branch_trajectory(original, last).steps[last["kept"] :], limit, context.window)
    found = (
        f"Step {critical['critical_step']}, {critical['critical_module']}, {critical['error_type']}: "
        f"{critical['root_cause']}"
    )
    system, user = render(
        "debug_refine",
        task=original.task,
        critical=found,
        prefix=prefix,
        from_step=critical["critical_step"],
        attempts=[_attempt(branch) for branch in branches],
        steps=steps,
        answer=last["answer"],
    )
    return [Message("system", system), Message("user", user)]


def _attempt(branch: Branch) -> str:
    given = "\n".join(branch["guidance"])
    ended = f"answered: {branch['answer']}" if branch["answer"] else f"ended: {branch['status']}"
    return f"Guidance: {given}\nWhat came of it: {len(branch['steps'])} steps, {ended}. It failed."
