"""label_wave: decides, without a model call, which steps are labelled next (AgentDebug 3.2, stage 1).

First the first step alone, whose prompt the provider keeps, then up to `max_parallel` side by side, which
share all of that prompt but its last lines. Steps of one window go together.
"""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from forethought.nodes.debugger.budget import exhausted, reserve_tokens, width
from forethought.nodes.debugger.services import DebugServices
from forethought.state.debugger import DebuggerContext, DebuggerState
from forethought.trajectories.types import Trajectory


async def label_wave(
    state: DebuggerState, runtime: Runtime[DebuggerContext], *, services: DebugServices
) -> dict[str, Any]:
    """The numbers of the next steps; none once all are labelled or the budget is spent, which is said."""
    context = services.context(runtime)
    trajectory = Trajectory.model_validate(state["subject"])
    done = {*state.get("labels", {}), *state.get("label_problems", {})}
    open_steps = [step.number for step in trajectory.steps if str(step.number) not in done]
    if not open_steps:
        return {"wave": []}
    reserve = reserve_tokens(trajectory, context)
    wide = width(state, context, len(done), reserve)
    if not wide:
        why = exhausted(state, context, reserve=reserve) or f"the budget of {context.max_tokens} tokens"
        why = why if why.endswith("spent") else f"{why} leaves no room for a further step"
        return {
            "wave": [],
            "label_problems": {str(number): f"not labelled: {why}" for number in open_steps},
            "notes": [f"{len(open_steps)} of {len(trajectory.steps)} steps were not labelled: {why}"],
        }
    return {"wave": open_steps[:wide] if done else open_steps[:1]}
