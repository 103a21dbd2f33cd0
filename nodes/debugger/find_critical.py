"""find_critical: the earliest error whose correction would have prevented the failure (AgentDebug 3.2,
stage 2).

`agentdebug` asks once, with the whole run and the labels of stage 1 in view. The other methods are the
paper's baselines of 4.1 and its counterfactual testing; those find a step by trying, and which module of it
was at fault is then asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from langgraph.runtime import Runtime

from forethought.models.allowance import total
from forethought.models.types import ReplyError, Usage, no_usage, reply_spec
from forethought.nodes.debugger.budget import exhausted
from forethought.nodes.debugger.checks import canonical, critical_problem, point_problem
from forethought.nodes.debugger.counterfactual import counterfactual
from forethought.nodes.debugger.messages import critical_messages, direct_messages
from forethought.nodes.debugger.search import binary_search, brute_force
from forethought.nodes.debugger.services import DebugServices
from forethought.nodes.debugger.trial import Searched, Stopped, Trial
from forethought.prompts.debug_replies import CriticalError, FailurePoint
from forethought.rollouts.types import RolloutError
from forethought.state.debugger import Critical, DebuggerContext, DebuggerState
from forethought.trajectories.types import Trajectory

_SEARCHES = {"brute_force": brute_force, "binary_search": binary_search, "counterfactual": counterfactual}


async def find_critical(
    state: DebuggerState, runtime: Runtime[DebuggerContext], *, services: DebugServices
) -> dict[str, Any]:
    """The critical error, or why there is none. Raises ModelErrors other than ReplyError."""
    context = services.context(runtime)
    trajectory = Trajectory.model_validate(state["subject"])
    if why := exhausted(state, context):
        return {"status": "failed", "problem": f"{why}, before the critical error was looked for: raise it"}
    runtime.stream_writer({"event": "thinking", "role": "critical", "method": context.method})
    try:
        if context.method == "agentdebug":
            labels = state.get("labels", {}) if context.fine_grained else None
            found, usage = await _ask(state, trajectory, labels, context, services)
            return _settled(found, usage, context) if found["critical_step"] else _none(found, usage)
        if context.method == "direct":
            return await _direct(trajectory, context, services)
        return await _searched(state, runtime, trajectory, context, services)
    except ReplyError as error:
        problem = f"no valid critical error: {error.problem or error}"
        return {"status": "not_found", "problem": problem, "usage": {"critical": error.usage}}


async def _ask(
    state: DebuggerState,
    trajectory: Trajectory,
    labels: Any,
    context: DebuggerContext,
    services: DebugServices,
    known: tuple[int, str] | None = None,
) -> tuple[Critical, Usage]:
    """The checked critical error. Raises ReplyError."""

    def check(reply: CriticalError) -> str | None:
        if known and reply.critical_step != known[0]:
            return f"critical_step must be {known[0]}, which was found by trying"
        return critical_problem(reply, trajectory, services.taxonomy)

    asked = await services.models.ask(
        role="critical",
        model=context.model,
        messages=critical_messages(
            trajectory, labels, context, services.taxonomy, guidance_given(state), known
        ),
        reply=reply_spec(CriticalError),
        check=check,
    )
    found = asked.reply.model_dump()
    found["error_type"] = canonical(services.taxonomy, found["critical_module"], found["error_type"])
    found["cascading_effects"] = sorted(found["cascading_effects"], key=lambda item: item["step"])
    return cast(Critical, {**found, "method": context.method}), asked.usage


async def _direct(
    trajectory: Trajectory, context: DebuggerContext, services: DebugServices
) -> dict[str, Any]:
    """Direct prompting (4.1): the bare run, no labels, no evidence."""
    asked = await services.models.ask(
        role="critical",
        model=context.model,
        messages=direct_messages(trajectory, context, services.taxonomy),
        reply=reply_spec(FailurePoint),
        check=lambda reply: point_problem(reply, trajectory, services.taxonomy),
    )
    point = asked.reply
    found = Critical(
        critical_step=point.step,
        critical_module=point.module,
        error_type=canonical(services.taxonomy, point.module, point.error_type),
        root_cause=point.reason,
        evidence="",
        correction_guidance=point.suggestion or point.reason,
        cascading_effects=[],
        method="direct",
    )
    return _settled(found, asked.usage, context)


async def _searched(
    state: DebuggerState,
    runtime: Runtime[DebuggerContext],
    trajectory: Trajectory,
    context: DebuggerContext,
    services: DebugServices,
) -> dict[str, Any]:
    """A step that was found by trying, and then the module of it that was at fault."""
    searched = Searched()
    trial = Trial(state, runtime, trajectory, context, services, searched)
    update: dict[str, Any] = {}
    try:
        known = await _SEARCHES[context.method](trial)
        if known is None:
            why = "no step was found whose correction would have turned the run"
            update = {"status": "not_found", "problem": why}
        elif why := exhausted(state, context, searched.total):
            raise Stopped(f"{why}, when step {known[0]} was found")
        else:
            labels = state.get("labels") if context.fine_grained else None
            found, usage = await _ask(state, trajectory, labels or None, context, services, known)
            update = _settled(found, usage, context)
    except ReplyError as error:
        problem = f"no valid critical error: {error.problem or error}"
        update = {"status": "not_found", "problem": problem, "usage": {"critical": error.usage}}
    except (Stopped, RolloutError) as error:
        update = {"status": "failed", "problem": str(error)}
    usages = update.get("usage", {})
    for role, usage in searched.usage.items():
        usages[role] = total(usages.get(role, no_usage()), usage)
    return {**update, "usage": usages, "probes": searched.probes, "notes": searched.notes}


def _none(found: Critical, usage: Usage) -> dict[str, Any]:
    """No error was found that could have been corrected (algorithm 1, no critical step)."""
    problem = f"nothing in the run shows an error that doomed it: {found['root_cause']}"
    return {"status": "not_found", "problem": problem, "usage": {"critical": usage}}


def _settled(found: Critical, usage: Usage, context: DebuggerContext) -> dict[str, Any]:
    """The critical error, and whether the run is made again with it."""
    again = context.rerun == "agentdebug"
    return {
        "critical": found,
        "guidance": [found["correction_guidance"]],
        "status": "running" if again else "found",
        "usage": {"critical": usage},
    }


def guidance_given(state: DebuggerState) -> Sequence[str]:
    """Guidance that re-runs have already failed with, each once, in their order."""
    given = [text for branch in state.get("branches", []) for text in branch.get("guidance", [])]
    return list(dict.fromkeys(given))
