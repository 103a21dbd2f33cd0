"""Putting back a world that a run has changed (AgentDebug 3.2: a re-run needs the state before its step)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from forethought.rollouts.types import Environment, Replayed
from forethought.trajectories.types import TrajectoryStep

_SHOWN = 160


async def restored(environment: Environment, prefix: Sequence[TrajectoryStep]) -> Replayed:
    """`environment` reset and brought to where `prefix` ends; what came out differently is said, and the rest
    of the prefix is carried out all the same."""
    own: Any = getattr(environment, "replay", None)
    if own is not None:
        return cast(Replayed, await own(prefix))
    reply, diverged = await environment.reset(), ""
    for step in prefix:
        reply = await environment.step(step.action)
        if not diverged and squeezed(reply.observation) != squeezed(step.observation):
            diverged = (
                f"at step {step.number} the replay saw {_cut(reply.observation)!r} "
                f"where the recorded run saw {_cut(step.observation)!r}"
            )
        if reply.done and step is not prefix[-1]:
            diverged = diverged or f"the replay ended at step {step.number}, before the prefix did"
            break
    return Replayed(reply, diverged)


def squeezed(text: str) -> str:
    """`text` with runs of white space as one space."""
    return re.sub(r"\s+", " ", text).strip()


def _cut(text: str) -> str:
    text = squeezed(text)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " ..."
