"""rerun: the run is made once more, from where its error entered (AgentDebug, algorithm 1, stage 3).

What came of it waits in `attempt` for its verdict. Where no further re-run can be made, the debugging ends
here: `failed` if there was none at all, else `not_fixed`.
"""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from forethought.models.allowance import total
from forethought.models.types import ReplyError, Usage
from forethought.nodes.debugger.attempts import Attempt, Made, Maker, agentdebug, attempts_left
from forethought.nodes.debugger.baselines import best_of_n, self_refine, tree_of_thoughts, vanilla
from forethought.nodes.debugger.budget import exhausted, remaining
from forethought.nodes.debugger.services import DebugServices
from forethought.rollouts.types import RolloutError
from forethought.state.debugger import Branch, DebuggerContext, DebuggerState
from forethought.trajectories.types import Trajectory

MAKERS: dict[str, Maker] = {
    "agentdebug": agentdebug,
    "self_refine": self_refine,
    "vanilla": vanilla,
    "best_of_n": best_of_n,
    "tree_of_thoughts": tree_of_thoughts,
}


async def rerun(
    state: DebuggerState, runtime: Runtime[DebuggerContext], *, services: DebugServices
) -> dict[str, Any]:
    """Make the next re-run. Raises ModelError where the model cannot be reached: what was done is kept."""
    context = services.context(runtime)
    if spent := exhausted(state, context):
        return _ended(state, f"no further re-run: {spent}")
    if attempts_left(state, context) <= 0:
        return _ended(state, f"no further re-run: {len(state.get('branches', []))} were made")
    original = Trajectory.model_validate(state["subject"])
    try:
        made = await _make(state, context, services, original)
    except RolloutError as error:
        return _ended(state, f"no re-run: {error}")
    except ReplyError as error:
        spent_on: Usage = error.usage
        return {**_ended(state, f"no re-run: {error.problem or error}"), "usage": {"rerun": spent_on}}
    update: dict[str, Any] = {**made.update, "attempt": _branch(state, original, made)}
    if made.rolled.diverged:
        update["notes"] = [f"re-run {update['attempt']['attempt']}: {made.rolled.diverged}"]
    return {**update, "usage": {"rerun": total(made.usage, made.rolled.usage)}, "status": "running"}


async def _make(
    state: DebuggerState, context: DebuggerContext, services: DebugServices, original: Trajectory
) -> Made:
    if services.rollouts is None:
        raise RolloutError("there is no place to run in: debug a thread, or give an environment")
    rollouts = services.rollouts(original, state.get("thread") or None, remaining(state, context))
    number = len(state.get("branches", [])) + 1
    return await MAKERS[context.rerun](Attempt(number, state, context, services, original, rollouts))


def _ended(state: DebuggerState, why: str) -> dict[str, Any]:
    if state.get("branches"):
        return {"attempt": {}, "status": "not_fixed", "notes": [why]}
    return {"attempt": {}, "status": "failed", "problem": why}


def _branch(state: DebuggerState, original: Trajectory, made: Made) -> Branch:
    rolled, number = made.rolled, len(state.get("branches", [])) + 1
    known = {branch["branch"] for branch in state.get("branches", [])}
    return {
        "attempt": number,
        "branch": rolled.branch if rolled.branch not in known else f"attempt-{number}",
        "from_step": made.from_step,
        "module": made.module,
        "guidance": list(made.guidance),
        "kept": rolled.kept,
        "steps": [step.model_dump(mode="json") for step in rolled.trajectory.steps[rolled.kept :]],
        "answer": rolled.trajectory.answer,
        "status": rolled.status,
        "reward": rolled.reward,
        "diverged": rolled.diverged,
        "usage": total(made.usage, rolled.usage),
        "seconds": round(rolled.seconds, 3),
    }
