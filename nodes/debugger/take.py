"""take: brings in what is to be debugged, and asks whether there is anything to debug.

Algorithm 1 evaluates the trajectory after stage 1; here it is evaluated first, so that a successful one costs
no labels. What no model may see, accepted answers and annotations, is parted from it here.
"""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.runtime import Runtime

from forethought.models.types import ReplyError, Usage, no_usage
from forethought.nodes.debugger.services import DebugServices
from forethought.rollouts.types import RolloutError
from forethought.state.debugger import DebuggerContext, DebuggerState, Json
from forethought.state.reducers import CLEAR
from forethought.trajectories.read import from_json
from forethought.trajectories.types import Loaded, Trajectory


async def take(
    state: DebuggerState, runtime: Runtime[DebuggerContext], *, services: DebugServices
) -> dict[str, Any]:
    """The validated trajectory, what its evaluator says of it, and what a reader should know of it."""
    context = services.context(runtime)
    fresh = _empty_channels()
    try:
        loaded = await _load(state, services)
    except ValueError as error:
        return {**fresh, "notes": [CLEAR], **_failure(str(error))}
    trajectory = loaded.trajectory
    accepted = [state["expect"]] if state.get("expect", "").strip() else list(loaded.reference.gold)
    taken = {
        **fresh,
        "thread": state.get("thread_id") or "",
        "subject": trajectory.model_dump(mode="json"),
        "accepted": accepted,
        "notes": [CLEAR, *trajectory.notes, *_notes(trajectory, context)],
    }
    if not trajectory.steps:
        return {**taken, **_failure("the trajectory has no steps: there is nothing to debug in it")}
    verdict, usage, notes = await _judge(loaded, accepted, context, services)
    taken |= {"verdict": verdict, "notes": [*taken["notes"], *notes]}
    taken["usage"] = {CLEAR: None, "judge": usage} if usage.get("calls") else {CLEAR: None}
    if verdict["success"]:
        return {**taken, "status": "successful"}
    if problem := _impossible(trajectory, state.get("thread_id") or None, accepted, context, services):
        return {**taken, **_failure(problem)}
    return {**taken, "status": "running"}


def _empty_channels() -> dict[str, Any]:
    """Every channel as it begins: a thread of the debugger's may be used again, and what was sent for the
    last debugging must not be taken for this one's."""
    return {
        "trajectory": {},
        "thread_id": "",
        "expect": "",
        "thread": "",
        "subject": {},
        "accepted": [],
        "labels": {CLEAR: None},
        "label_problems": {CLEAR: None},
        "critical": {},
        "probes": [CLEAR],
        "attempt": {},
        "tree": [],
        "branches": [CLEAR],
        "guidance": [],
        "wave": [],
        "verdict": {},
        "usage": {CLEAR: None},
        "problem": "",
    }


def _failure(problem: str) -> dict[str, Any]:
    return {"status": "failed", "problem": " ".join(problem.split())}


async def _load(state: DebuggerState, services: DebugServices) -> Loaded:
    """What the client sent or named. Raises ValueError, one line that says what to do."""
    given, thread = state.get("trajectory"), state.get("thread_id") or ""
    if given and thread:
        raise ValueError("a thread_id and a trajectory cannot go together: give one of them")
    if given:
        return await asyncio.to_thread(from_json, given)
    if not thread:
        raise ValueError("name what is to be debugged: a thread_id, or a trajectory")
    if services.load_thread is None:
        raise ValueError("threads cannot be read here: give a trajectory instead")
    return await services.load_thread(thread)


async def _judge(
    loaded: Loaded, accepted: list[str], context: DebuggerContext, services: DebugServices
) -> tuple[Json, Usage, list[str]]:
    """The verdict on the trajectory: {success, reason, by}, what it cost, and notes.

    Where nobody in the program can judge, the trajectory's own source may have; else it is taken as failed,
    since it was given to be debugged.
    """
    notes: list[str] = []
    usage = no_usage()
    evaluator = services.evaluator(context, accepted)
    if evaluator is not None:
        try:
            said = await evaluator.judge(loaded.trajectory)
            return {"success": said.success, "reason": said.reason, "by": evaluator.name}, said.usage, notes
        except ReplyError as error:
            usage = error.usage
            notes = [f"the trajectory could not be judged ({error.problem or error}): taken as failed"]
        except RolloutError as error:
            notes = [f"the trajectory could not be judged ({error}): taken as failed"]
    if loaded.reference.outcome == "success":
        return {"success": True, "reason": "its source records a success", "by": "record"}, usage, notes
    if loaded.reference.outcome == "failure":
        return {"success": False, "reason": "its source records a failure", "by": "record"}, usage, notes
    reason = "nobody judged it: taken as failed, as what is debugged is"
    return {"success": False, "reason": reason, "by": ""}, usage, notes


def _impossible(
    trajectory: Trajectory,
    thread: str | None,
    accepted: list[str],
    context: DebuggerContext,
    services: DebugServices,
) -> str:
    """Why what was asked for cannot be done with this, '' if it can."""
    if context.rerun == "off" and context.method != "counterfactual":
        return ""
    what = "a re-run" if context.rerun != "off" else "counterfactual mode"
    if services.rollouts is None:
        return f"{what} needs a place to run in: a thread of the agent's, or an environment"
    try:
        services.rollouts(trajectory, thread, context)
    except RolloutError as error:
        return str(error)
    unable = context.judge == "none" or (context.judge in ("gold", "model") and not accepted)
    if unable and services.evaluators is None:
        return (
            f"{what} needs somebody to say whether it succeeded: give the expected answer (expect), or "
            "choose another judge"
        )
    counts = context.method == "counterfactual" and context.rerun in ("off", "agentdebug")
    if counts and services.evaluator(context, accepted) is None:
        return "counterfactual mode judges many runs: choose a judge other than a person"
    return ""


def _notes(trajectory: Trajectory, context: DebuggerContext) -> list[str]:
    """What a prompt does not show whole."""
    notes = []
    count, limit = len(trajectory.steps), context.max_observation_chars
    if count > context.window:
        notes.append(
            f"the run has {count} steps: it is shown by windows of {context.window} steps, the others in one "
            "line each"
        )
    long = [
        step.number for step in trajectory.steps if any(len(text) > limit for text in step.texts().values())
    ]
    if long:
        named = ", ".join(map(str, long[:10])) + (f" and {len(long) - 10} more" if len(long) > 10 else "")
        notes.append(f"prompts show {limit} characters of each part of a step; cut in step {named}")
    return notes
