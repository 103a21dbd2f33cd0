"""An ALFWorld game as an Episode: text commands, success at the end (Shridhar et al. 2021)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from forethought.evals.environments.alfworld.game import Game, Position
from forethought.evals.types import ToolSpec
from forethought.rollouts.types import EnvironmentReply

HOW_TO_ACT = (
    "An action is one command of a text game, worded as the game words it, for example: go to cabinet 1; "
    "open cabinet 1; close cabinet 1; take mug 2 from desk 1; move mug 2 to cabinet 1; clean mug 2 with "
    "sinkbasin 1; heat mug 2 with microwave 1; cool mug 2 with fridge 1; use desklamp 1; examine mug 2; "
    "inventory; look. You can hold one object, and reach only what is where you stand. 'Nothing happens.' "
    "means that the command is not possible there."
)
MAX_STEPS = 50
_WELCOME = re.compile(r"\A-= Welcome to TextWorld, ALFRED! =-\s*")


class AlfworldEpisode:
    """A game of at most `max_steps` commands, impossible ones included."""

    name = "alfworld"
    tools: Sequence[ToolSpec] = ()
    how_to_act = HOW_TO_ACT

    def __init__(self, game: Game, task: str, max_steps: int = MAX_STEPS) -> None:
        self.task, self.max_steps = task, max_steps
        self._game, self._steps = game, 0

    async def reset(self) -> EnvironmentReply:
        """The room as the game shows it first. Raises InfrastructureError."""
        position = await self._game.reset()
        self._steps = 0
        return self._reply(position, _WELCOME.sub("", position.observation))

    async def step(self, action: str) -> EnvironmentReply:
        """Carry out a command. Raises InfrastructureError."""
        position = await self._game.step(" ".join(action.split()))
        self._steps += 1
        return self._reply(position, position.observation)

    async def finish(self, answer: str) -> EnvironmentReply:
        """The end before the goal held. `answer` says nothing to the game."""
        return EnvironmentReply("The game is over.", done=True)

    async def close(self) -> None:
        """End the game's process."""
        await self._game.close()

    def _reply(self, position: Position, text: str) -> EnvironmentReply:
        done = position.won or self._steps >= self.max_steps
        admissible = () if done else position.admissible
        return EnvironmentReply(text.strip(), admissible, reward=float(position.won), done=done)
