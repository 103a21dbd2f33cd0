"""Who acts when an environment is run on: a model that answers module by module (AgentDebug 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forethought.models.ask import Models
from forethought.models.types import Message, reply_spec
from forethought.prompts.debug_replies import ModularStep
from forethought.prompts.render import render
from forethought.rollouts.types import Act, EnvironmentReply
from forethought.trajectories.show import head, step_text
from forethought.trajectories.types import TrajectoryStep

WHOLE_STEPS = 30
"""The last steps, which a prompt shows whole; those before them are shown by their heads."""


@dataclass(frozen=True)
class ModelPolicy:
    """A model that writes memory, reflection, planning and action of each step."""

    models: Models
    model: str
    max_observation: int = 4_000
    """Characters of an observation that a prompt shows."""

    async def act(
        self, task: str, steps: Sequence[TrajectoryStep], now: EnvironmentReply, guidance: Sequence[str]
    ) -> Act:
        """See `Policy`."""
        shown, earlier = steps_shown(steps, self.max_observation)
        system, user = render(
            "debug_policy",
            task=task,
            guidance=list(guidance),
            steps=shown,
            earlier=earlier,
            now=now.observation,
            admissible=list(now.admissible),
        )
        asked = await self.models.ask(
            role="policy",
            model=self.model,
            messages=[Message("system", system), Message("user", user)],
            reply=reply_spec(ModularStep),
            check=lambda reply: not_possible([reply.action], now.admissible),
        )
        reply, first = asked.reply, not steps
        # The first step has nothing to remember or to reflect upon (AgentDebug, figure 15).
        return Act(
            action=reply.action,
            memory="" if first else reply.memory,
            reflection="" if first else reply.reflection,
            planning=reply.planning,
            usage=asked.usage,
        )


def steps_shown(
    steps: Sequence[TrajectoryStep], max_observation: int, whole: int = WHOLE_STEPS
) -> tuple[list[dict[str, Any]], int]:
    """Steps as a prompt shows them, and how many of them by their heads only."""
    earlier = max(len(steps) - whole, 0)
    shown = [
        {"number": step.number, "text": head(step) if at < earlier else step_text(step, max_observation)}
        for at, step in enumerate(steps)
    ]
    return shown, earlier


def not_possible(actions: Sequence[str], admissible: Sequence[str]) -> str | None:
    """What is wrong with actions that are not among the possible ones, if those are known."""
    wrong = [action for action in actions if admissible and action not in admissible]
    if not wrong:
        return None
    return f"{wrong[0]!r} is not among the possible actions: copy one of them letter by letter"
