"""take: brings in what is to be debugged, and asks whether there is anything to debug.

Algorithm 1 evaluates the trajectory after stage 1; here it is evaluated first, so that a successful one costs
no labels. What no model may see, accepted answers and annotations, is parted from it here.
"""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.runtime import Runtime

from forethought.models.types import Usage, no_usage
from forethought.nodes.debugger.estimate import estimate
from forethought.nodes.debugger.services import DebugServices, verdict_on
from forethought.rollouts.matching import one_contains_the_other
from forethought.rollouts.types import RolloutError
from forethought.state.debugger import DebuggerContext, DebuggerState, Json
from forethought.state.offline import empty_channels
from forethought.state.reducers import CLEAR
from forethought.trajectories.read import from_json
from forethought.trajectories.types import Loaded, Trajectory

_INEXACT = "answer and --expect overlap, but --judge gold compares their words: try --judge model"


async def take(
    state: DebuggerState, runtime: Runtime[DebuggerContext], *, services: DebugServices
) -> dict[str, Any]:
    """The validated trajectory, what its evaluator says of it, and whether it can be debugged."""
    context, update = services.context(runtime), empty_channels(DebuggerState)
    try:
        loaded = await _load(state, services)
    except ValueError as error:
        return {**update, **_failure(str(error))}
    trajectory, thread = loaded.trajectory, state.get("thread_id") or ""
    expected = bool(state.get("expect", "").strip())
    accepted = [state["expect"]] if expected else list(loaded.reference.gold)
    update |= {"thread": thread, "subject": trajectory.model_dump(mode="json"), "accepted": accepted}
    update["notes"] = [CLEAR, *trajectory.notes]
    if not trajectory.steps:
        return {**update, **_failure("the trajectory has no steps: give one with at least one step")}
    services.warn_of_cuts(runtime, [trajectory])
    verdict, usage = await _judge(loaded, accepted, expected, context, services)
    update["verdict"] = verdict
    failed_by_words = verdict["by"] == "gold" and not verdict["success"]
    if expected and failed_by_words and one_contains_the_other(trajectory.answer, state["expect"]):
        update["notes"].append(_INEXACT)
    if usage.get("calls"):
        update["usage"] |= {"judge": usage}
    if verdict["success"]:
        return {**update, "status": "successful"}
    if refusal := _refusal(trajectory, thread or None, accepted, context, services):
        return {**update, **_failure(refusal)}
    services.tell(runtime, *estimate([trajectory], context, services.taxonomy))
    return {**update, "status": "running"}


def _failure(problem: str) -> dict[str, Any]:
    return {"status": "failed", "problem": " ".join(problem.split())}


async def _load(state: DebuggerState, services: DebugServices) -> Loaded:
    """What the client sent or named. Raises ValueError, one line that says what to do."""
    sent, thread = state.get("trajectory"), state.get("thread_id") or ""
    if sent and thread:
        raise ValueError("thread_id and trajectory exclude each other: give one of them")
    if sent:
        return await asyncio.to_thread(from_json, sent)
    if not thread:
        raise ValueError("nothing to debug: give a thread_id or a trajectory")
    if services.load_thread is None:
        raise ValueError("this debugger has no access to threads: give a trajectory instead")
    return await services.load_thread(thread)


async def _judge(
    loaded: Loaded, accepted: list[str], expected: bool, context: DebuggerContext, services: DebugServices
) -> tuple[Json, Usage]:
    """The verdict on the trajectory: {success, reason, by}, and what it cost.

    An outcome that the source records wins over a comparison with the source's own gold answers, whose rule
    need not be ours, and over a replay in the environment. Where nobody judged, it is taken as failed, since
    it was given to be debugged.
    """
    by_source = context.judge in ("gold", "environment") and not expected
    recorded = loaded.reference.outcome != "unknown" and by_source
    evaluator = None if recorded else services.evaluator(context, accepted)
    if evaluator:
        verdict = await verdict_on(evaluator, loaded.trajectory, None)
        by = {"success": verdict.success, "reason": verdict.reason, "by": evaluator.name}
        return by, verdict.usage
    outcome = loaded.reference.outcome
    if outcome == "unknown":
        reason = "without a judge or a recorded outcome, a debugged run counts as failed"
        return {"success": False, "reason": reason, "by": ""}, no_usage()
    reason = f"the source of the run records a {outcome}"
    return {"success": outcome == "success", "reason": reason, "by": "record"}, no_usage()


def _refusal(
    trajectory: Trajectory,
    thread: str | None,
    accepted: list[str],
    context: DebuggerContext,
    services: DebugServices,
) -> str:
    """Why the choices cannot be carried out with this, '' if they can."""
    if context.rerun == "off" and context.method != "counterfactual":
        return ""
    what = "a re-run" if context.rerun != "off" else "counterfactual mode"
    if services.rollouts is None:
        return (
            f"{what} needs a thread or an environment: debug a thread, or name the --environment of "
            "the recorded run"
        )
    try:
        services.rollouts(trajectory, thread, context)
    except RolloutError as error:
        return str(error)
    is_person = context.judge == "person"
    if is_person and context.method == "counterfactual" and context.rerun in ("off", "agentdebug"):
        return "counterfactual mode produces too many runs for a person to judge: choose another --judge"
    if not is_person and services.evaluator(context, accepted) is None:
        return (
            f"{what} needs a judge of success: give the expected answer (--expect), or choose another --judge"
        )
    return ""
