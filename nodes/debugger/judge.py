"""judge: whether a re-run succeeded (AgentDebug, algorithm 1, Eval). The evaluator or a person judges, never
the run itself.
"""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from forethought.nodes.debugger.rerun import attempts_left, branch_trajectory
from forethought.nodes.debugger.services import DebugServices, verdict_on
from forethought.rollouts.types import Verdict
from forethought.state.debugger import Branch, DebuggerContext, DebuggerState
from forethought.text import numbered
from forethought.trajectories.types import Trajectory


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
    if changed := [step["number"] for step in branch["steps"] if step.get("changes_world")]:
        where = numbered("step", changed)
        note = (
            f"re-run {branch['attempt']} changed something outside in {where}; undo it by hand if it "
            "must not stay"
        )
        update["notes"] = [note]
    if attempts_left(state, context) > 1:
        return {**update, "status": "running"}
    await services.restore(state, context)
    return {**update, "status": "not_fixed"}


async def _verdict(state: DebuggerState, context: DebuggerContext, services: DebugServices) -> Verdict:
    attempt = state["attempt"]
    if attempt["status"] == "waiting":
        return Verdict(False, "the re-run waits for a person and has no outcome yet")
    original = Trajectory.model_validate(state["subject"])
    if context.judge == "person":
        return _by_person(attempt, original)
    evaluator = services.evaluator(context, state.get("accepted", []))
    if evaluator is None:
        return Verdict(False, "no judge was available: the re-run counts as failed")
    return await verdict_on(evaluator, branch_trajectory(original, attempt), attempt.get("reward"))


def _by_person(attempt: Branch, original: Trajectory) -> Verdict:
    """Ask until the reply is a yes or a no. There is no effect before: the node runs again on resume."""
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
        word = str(value).strip().casefold().rstrip(".!")
        if word in ("yes", "y", "no", "n"):
            return Verdict(word[0] == "y", f"a person said {'yes' if word[0] == 'y' else 'no'}")


def _last_seen(attempt: Branch) -> str:
    """How a run without an answer ended."""
    last = attempt["steps"][-1] if attempt["steps"] else {}
    return f"(no answer) last step: {last.get('action', '')} -> {last.get('observation', '')}"
