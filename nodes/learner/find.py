"""take and find: the failed task, and the step that made it fail (AgentDebug, stage 2).

The person's correction is the reference: with it, one reading of the run finds the step. AgentDebug labels
each step first, since it has no reference.
"""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from forethought.models.types import ReplyError
from forethought.nodes.debugger.critical import canonical, critical_problem
from forethought.nodes.debugger.messages import critical_messages
from forethought.nodes.learner.services import LearnerServices
from forethought.prompts.debug_replies import CriticalError
from forethought.rollouts.types import RolloutError
from forethought.state.debugger import DebuggerContext
from forethought.state.learner import LearnerContext, LearnerState
from forethought.state.offline import empty_channels
from forethought.trajectories.types import Trajectory


async def take(
    state: LearnerState, runtime: Runtime[LearnerContext], *, services: LearnerServices
) -> dict[str, Any]:
    """Read the failed task, and the correction that a person gave before."""
    update = empty_channels(LearnerState)
    update |= {name: state.get(name, update[name]) for name in ("thread_id", "number", "expect")}
    try:
        task = await services.lab.failed_task(state["thread_id"], state["number"])
    except RolloutError as error:
        return {**update, "status": "failed", "problem": str(error)}
    own = await services.own_advice(state)
    before = own.instead if own and own.source == "person" else "; ".join(task.decisions)
    said = state.get("correction", "") or before
    return {
        **update,
        "subject": task.trajectory.model_dump(mode="json"),
        "correction": said,
        "tries": task.tries,
        "outside": task.outside,
        "status": "running",
    }


async def find(
    state: LearnerState, runtime: Runtime[LearnerContext], *, services: LearnerServices
) -> dict[str, Any]:
    """Find the critical step in one reading. Without one, a correction still makes an advice. Raises
    ModelErrors other than ReplyError."""
    run, context = Trajectory.model_validate(state["subject"]), services.context(runtime)
    shown = DebuggerContext(window=context.window, max_observation_chars=context.max_observation_chars)
    reference = state["correction"] or (f"The right answer: {state['expect']}" if state.get("expect") else "")
    messages = critical_messages(
        run, None, shown, services.taxonomy, known_failure=bool(reference), correction=reference
    )

    def check(reply: CriticalError) -> str | None:
        return critical_problem(reply, run, services.taxonomy)

    try:
        result = await services.request(runtime, "find", messages, CriticalError, check)
    except ReplyError as error:
        why = f"no critical step was found: {error.problem or error}"
        return {**_without_step(state, why), "usage": {"find": error.usage}}
    reply = result.reply
    if not reply.critical_step:
        return {**_without_step(state, reply.root_cause), "usage": {"find": result.usage}}
    kind = canonical(services.taxonomy, reply.critical_module, reply.error_type)
    critical = {**reply.model_dump(), "error_type": kind}
    return {"critical": critical, "usage": {"find": result.usage}}


def _without_step(state: LearnerState, why: str) -> dict[str, Any]:
    update: dict[str, Any] = {"critical": {}, "notes": [why]}
    return update if state["correction"] else {**update, "status": "not_found", "problem": why}
