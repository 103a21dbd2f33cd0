"""judge: whether a re-run succeeded, as the evaluator or a person says, never the run itself (algorithm 1,
Eval)."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from forethought.models.types import ReplyError, no_usage
from forethought.nodes.debugger.attempts import attempts_left, branch_trajectory
from forethought.nodes.debugger.services import DebugServices
from forethought.rollouts.evaluators import EnvironmentReward
from forethought.rollouts.types import RolloutError, Verdict
from forethought.state.debugger import Branch, DebuggerContext, DebuggerState
from forethought.trajectories.types import Trajectory

_YES, _NO = ("yes", "y", "true", "right", "correct"), ("no", "n", "false", "wrong", "incorrect")


async def judge(
    state: DebuggerState, runtime: Runtime[DebuggerContext], *, services: DebugServices
) -> dict[str, Any]:
    """Give the re-run its verdict and keep it as a branch: fixed, or another one, or the end."""
    context = services.context(runtime)
    verdict = await _verdict(state, context, services)
    branch: Branch = {**state["attempt"], "success": verdict.success, "reason": verdict.reason}
    if verdict.reward is not None:
        branch["reward"] = verdict.reward
    update: dict[str, Any] = {"attempt": {}, "branches": [branch]}
    if verdict.usage.get("calls"):
        update["usage"] = {"judge": verdict.usage}
    if verdict.success:
        return {**update, "status": "fixed"}
    more = attempts_left({**state, "branches": [*state.get("branches", []), branch]}, context) > 0
    return {**update, "status": "running" if more else "not_fixed"}


async def _verdict(state: DebuggerState, context: DebuggerContext, services: DebugServices) -> Verdict:
    attempt = state["attempt"]
    if attempt["status"] == "waiting":
        return Verdict(False, "the re-run stopped to wait for a person: it has no outcome yet")
    original = Trajectory.model_validate(state["subject"])
    if context.judge == "person" and services.evaluators is None:
        return _by_person(state, original)
    evaluator = services.evaluator(context, state.get("accepted", []))
    if evaluator is None:
        return Verdict(False, "nobody could judge it: it counts as failed")
    if isinstance(evaluator, EnvironmentReward) and attempt.get("reward") is not None:
        return evaluator.of(float(attempt["reward"] or 0.0))  # the world stands where the re-run left it
    try:
        return await evaluator.judge(branch_trajectory(original, attempt))
    except ReplyError as error:
        reason = f"it could not be judged and counts as failed: {error.problem or error}"
        return Verdict(False, reason, usage=error.usage)
    except RolloutError as error:
        return Verdict(False, f"it could not be judged and counts as failed: {error}", usage=no_usage())


def _by_person(state: DebuggerState, original: Trajectory) -> Verdict:
    """Ask until the reply is a yes or a no. There is no effect before: the node runs again on resume."""
    attempt = state["attempt"]
    payload = {
        "kind": "question",
        "id": f"judge-{attempt['attempt']}",
        "n": attempt["attempt"],
        "subtask": "",
        "task": original.task,
        "answer": attempt["answer"],
        "question": f"Re-run {attempt['attempt']}: does this solve the task?\n\n"
        + (attempt["answer"] or _last_seen(attempt)),
        "choices": ["yes", "no"],
    }
    while True:
        reply = interrupt(payload)
        value = reply.get("value", reply.get("decision")) if isinstance(reply, dict) else reply
        said = str(value).strip().casefold().rstrip(".!")
        if said in _YES or said in _NO:
            return Verdict(said in _YES, f"a person said {'yes' if said in _YES else 'no'}")


def _last_seen(attempt: Branch) -> str:
    """How a run without an answer ended."""
    last = attempt["steps"][-1] if attempt["steps"] else {}
    return f"(no answer) last step: {last.get('action', '')} -> {last.get('observation', '')}"
