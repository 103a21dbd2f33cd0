"""One re-run, made the way `context.rerun` names: AgentDebug's own, or one of its downstream baselines (4.2).

Every way gets the same tokens, those of `max_tokens`: AgentDebug spends them on labels, a critical error and
at most `max_reruns` re-runs; a baseline goes on until they are spent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forethought.models.types import Usage, no_usage
from forethought.nodes.debugger.entered import entered_by
from forethought.nodes.debugger.services import DebugServices
from forethought.rollouts.types import Rolled, Rollouts
from forethought.state.debugger import DebuggerContext, DebuggerState
from forethought.trajectories.types import Trajectory

MOST_ATTEMPTS = 100
"""Of a baseline, whatever its tokens allow: no loop without an end."""


@dataclass(frozen=True)
class Attempt:
    """What there is to make the next re-run with."""

    number: int
    """From 1."""
    state: DebuggerState
    context: DebuggerContext
    services: DebugServices
    original: Trajectory
    rollouts: Rollouts


@dataclass(frozen=True)
class Made:
    """A re-run that was made."""

    rolled: Rolled
    from_step: int
    module: str = ""
    guidance: tuple[str, ...] = ()
    usage: Usage = field(default_factory=no_usage)
    """What was asked before it, such as for feedback."""
    update: Mapping[str, Any] = field(default_factory=dict)
    """What else the state is to keep."""


Maker = Callable[[Attempt], Awaitable[Made]]
"""Makes one re-run. Raises RolloutError, ModelError."""


def attempts_left(state: DebuggerState, context: DebuggerContext) -> int:
    """How many re-runs may still be made, tokens aside."""
    equal_spend = context.rerun != "agentdebug" and context.max_tokens is not None
    return (MOST_ATTEMPTS if equal_spend else context.max_reruns) - len(state.get("branches", []))


def branch_trajectory(original: Trajectory, branch: Mapping[str, Any]) -> Trajectory:
    """A branch as a whole trajectory: the kept steps and its own."""
    kept = [step.model_dump() for step in original.steps[: branch["kept"]]]
    return Trajectory.model_validate(
        {
            **original.model_dump(include={"id", "task", "environment", "world", "source"}),
            "steps": [*kept, *branch["steps"]],
            "answer": branch["answer"],
            "halted": branch["status"] in ("halted", "budget_exhausted"),
        }
    )


async def agentdebug(attempt: Attempt) -> Made:
    """From just before the critical step, with the guidance in force (algorithm 1, stage 3)."""
    critical = attempt.state["critical"]
    step, module = critical["critical_step"], critical["critical_module"]
    guidance = tuple(attempt.state.get("guidance") or [critical["correction_guidance"]])
    entered = entered_by(critical, attempt.original)
    return Made(await attempt.rollouts.from_step(step, entered, guidance), step, module, guidance)
