"""A game's process: TextWorld blocks whoever calls it, and its planner can take its process along."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from forethought.evals.environments.process import WorkerProcess
from forethought.evals.types import InfrastructureError

Expert = Literal["", "planner", "handcoded"]
WORKER = ("-m", "forethought.evals.environments.alfworld.worker")


@dataclass(frozen=True)
class Position:
    """Where a game stands."""

    observation: str
    admissible: tuple[str, ...]
    won: bool
    plan: tuple[str, ...] = ()
    """What ALFWorld's expert would do from here, the next action first; () without an expert."""


class Game:
    """A game in a process that starts with the first `reset`. Raises InfrastructureError where it breaks, and
    can be reset after that."""

    def __init__(self, path: Path, expert: Expert = "") -> None:
        self.path, self.expert = path, expert
        self._process: WorkerProcess | None = None

    async def reset(self) -> Position:
        """The game from its beginning."""
        if self._process is None:
            arguments = (*WORKER, str(self.path), self.expert)
            self._process = await asyncio.to_thread(WorkerProcess, f"the game {self.path}", arguments)
        return await self._ask("reset")

    async def step(self, action: str) -> Position:
        """Carry `action` out; an impossible one changes nothing. Raises ValueError before the first reset."""
        return await self._ask("step", action=action)

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            await asyncio.to_thread(process.close)

    async def _ask(self, operation: str, **arguments: Any) -> Position:
        if self._process is None:
            raise ValueError("reset the game before its first step")
        try:
            reply = await self._process.ask_async(operation, **arguments)
        except (InfrastructureError, asyncio.CancelledError):
            await self.close()
            raise
        return Position(reply["observation"], tuple(reply["admissible"]), reply["won"], tuple(reply["plan"]))
