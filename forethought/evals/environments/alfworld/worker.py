"""Plays one ALFWorld game for another process: a line of JSON in, a line of JSON out.

    python worker.py GAME.tw-pddl [planner|handcoded]

A line in is {"do": "reset"} or {"do": "step", "action": ...}. A line out is {"observation", "admissible",
"won", "plan"}, where `plan` is what ALFWorld's own expert would do from here, and is empty unless an expert
was named; or {"error": ...}. The file imports nothing of this project: it is run by its path.
"""

from __future__ import annotations

import json
import os
import random
import sys
from typing import IO, Any


def _own_output() -> IO[str]:
    """Standard output for the replies alone: whatever the planner prints goes to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return out


def load(path: str, expert: str) -> Any:
    """The game, as ALFWorld itself wraps it."""
    import textworld
    from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredExpert
    from textworld.envs import PddlEnv

    game = AlfredDemangler(PddlEnv(textworld.EnvInfos(admissible_commands=True, won=True)))
    game = AlfredExpert(game, expert_type=expert) if expert else game
    game.load(path)
    return game


def main() -> None:
    """Answer until the input ends."""
    path, expert = [*sys.argv[1:], ""][:2]
    out = _own_output()
    game: Any = None
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if game is None:
                game = load(path, expert)
            if asked["do"] == "reset":
                random.seed(0)  # the handcoded expert draws lots
                state = game.reset()
            else:
                state = game.step(asked["action"])[0]
            reply = {
                "observation": state.feedback,
                "admissible": list(state.admissible_commands),
                "won": bool(state.won),
                "plan": list(state["extra.expert_plan"]) if expert else [],
            }
        except Exception as error:  # the parent decides what it means; the process ends with its input
            reply = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:500]}"}
        out.write(json.dumps(reply) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
