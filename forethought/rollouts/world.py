"""Putting back a world that a run has changed (AgentDebug 3.2: a re-run needs the state before its step)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from langgraph.errors import GraphBubbleUp

from forethought.rollouts.types import Environment, EnvironmentReply, Replayed, RolloutError
from forethought.text import one_line
from forethought.trajectories.types import TrajectoryStep

_SHOWN = 160
R = TypeVar("R", EnvironmentReply, Replayed)


async def restored(environment: Environment, prefix: Sequence[TrajectoryStep]) -> Replayed:
    """`environment` reset and brought to where `prefix` ends; what came out differently is said, and the rest
    of the prefix is carried out all the same. Raises RolloutError when the environment breaks."""
    own: Any = getattr(environment, "replay", None)
    if own is not None:
        return await _asked(environment, lambda: own(prefix), "in its replay", Replayed)
    reply = await _asked(environment, environment.reset, "when it was reset", EnvironmentReply)
    diverged = ""
    for step in prefix:
        reply = await carried_out(environment, step.action)
        if not diverged and one_line(reply.observation) != one_line(step.observation):
            diverged = (
                f"at step {step.number} the replay saw {one_line(reply.observation, _SHOWN)!r} "
                f"where the recorded run saw {one_line(step.observation, _SHOWN)!r}"
            )
        if reply.done and step is not prefix[-1]:
            diverged = diverged or f"the replay ended at step {step.number}, before the prefix did"
            break
    return Replayed(reply, diverged)


async def carried_out(environment: Environment, action: str) -> EnvironmentReply:
    """What `environment` answers to `action`. Raises RolloutError when it breaks."""
    when = f"at {one_line(action, _SHOWN)!r}"
    return await _asked(environment, lambda: environment.step(action), when, EnvironmentReply)


async def _asked(environment: Environment, ask: Callable[[], Awaitable[R]], when: str, kind: type[R]) -> R:
    """An environment is the caller's own code: whatever it raises becomes a line that names it, but
    what LangGraph itself raises."""
    try:
        reply = await ask()
    except GraphBubbleUp:  # the graph around it is to stop
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {one_line(str(error), _SHOWN)}".rstrip(": ")
        raise RolloutError(f"the environment {environment.name} broke {when} ({what}): mend it") from error
    if not isinstance(reply, kind):
        given = type(reply).__name__
        raise RolloutError(
            f"the environment {environment.name} gave a {given} {when}: give a {kind.__name__}"
        )
    return reply
