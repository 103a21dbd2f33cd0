"""Plays one ALFWorld game for another process.

    python -m forethought.evals.environments.alfworld.worker GAME.tw-pddl [planner|handcoded]

`plan` of an answer is what ALFWorld's own expert would do next, and is empty unless an expert was named.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from typing import Any

from forethought.evals.environments.worker import serve


class Player:
    """A game, loaded when it is first reset."""

    def __init__(self, path: str, expert: str = "") -> None:
        self.path, self.expert = path, expert
        self.game: Any = None

    def reset(self) -> dict[str, Any]:
        """The game from its beginning."""
        self.game = self.game or self._load()
        random.seed(0)  # the handcoded expert draws lots
        return self._position(self.game.reset())

    def step(self, action: str) -> dict[str, Any]:
        """Carry out a command."""
        return self._position(self.game.step(action)[0])

    def _load(self) -> Any:
        """The game, as ALFWorld itself wraps it."""
        os.environ["ALFWORLD_DATA"] = tempfile.gettempdir()  # alfworld makes the folder that it is told of
        import textworld
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredExpert
        from textworld.envs import PddlEnv

        game = AlfredDemangler(PddlEnv(textworld.EnvInfos(admissible_commands=True, won=True)))
        game = AlfredExpert(game, expert_type=self.expert) if self.expert else game
        game.load(self.path)
        return game

    def _position(self, state: Any) -> dict[str, Any]:
        return {
            "observation": state.feedback,
            "admissible": list(state.admissible_commands),
            "won": bool(state.won),
            "plan": list(state["extra.expert_plan"]) if self.expert else [],
        }


if __name__ == "__main__":
    player = Player(*sys.argv[1:])
    serve({"reset": player.reset, "step": player.step})
