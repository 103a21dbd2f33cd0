"""A game's process: TextWorld blocks whoever calls it, and its planner is a C++ library that takes along the
process it is in when it crashes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from forethought.evals.types import InfrastructureError

Expert = Literal["", "planner", "handcoded"]
WORKER = Path(__file__).with_name("worker.py")
PASSED = (
    "PATH",
    "HOME",
    "USERPROFILE",
    "SYSTEMROOT",
    "PYTHONPATH",
    "LD_LIBRARY_PATH",
    "TMPDIR",
    "LANG",
    "LC_ALL",
)
"""Of the environment's variables only these reach a game, whose file holds expressions that TextWorld
evaluates: no key among them."""
LONGEST_LINE = 2**24


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

    def __init__(self, path: Path, expert: Expert = "", timeout_s: float = 120.0) -> None:
        self.path, self.expert, self.timeout_s = path, expert, timeout_s
        self._process: asyncio.subprocess.Process | None = None
        self._errors: IO[bytes] | None = None
        self._one = asyncio.Lock()

    async def reset(self) -> Position:
        """The game from its beginning."""
        return await self._ask({"do": "reset"})

    async def step(self, action: str) -> Position:
        """Carry `action` out; an impossible one changes nothing. Raises ValueError before the first reset."""
        if self._process is None:
            raise ValueError("reset the game before its first step")
        return await self._ask({"do": "step", "action": action})

    async def close(self) -> None:
        """End the process. It has nothing to save, and is not asked to."""
        process, self._process = self._process, None
        errors, self._errors = self._errors, None
        if process is not None:
            with suppress(ProcessLookupError):  # it ended by itself
                process.kill()
            if process.stdin is not None:
                process.stdin.close()
            await process.wait()
        if errors is not None:
            errors.close()

    async def _ask(self, message: dict[str, str]) -> Position:
        async with self._one:
            try:
                line = await asyncio.wait_for(self._exchange(message), self.timeout_s)
                reply = json.loads(line)
            except (OSError, TimeoutError, ValueError) as error:
                raise await self._broken(error) from error
            except asyncio.CancelledError:
                await self.close()  # its answer would be taken for that to the next question
                raise
            if "error" in reply:
                await self.close()
                raise InfrastructureError(f"the game {self.path} broke: {reply['error']}")
            return _position(reply)

    async def _exchange(self, message: dict[str, str]) -> bytes:
        if self._process is None:
            await self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        await self._process.stdin.drain()
        return await self._process.stdout.readline()

    async def _start(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        environment = {name: os.environ[name] for name in PASSED if name in os.environ}
        # Sets of strings order what a planner finds; alfworld makes the folder that it is told of.
        environment |= {"PYTHONHASHSEED": "0", "ALFWORLD_DATA": tempfile.gettempdir()}
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", str(WORKER), str(self.path), self.expert,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=self._errors,
            env=environment, limit=LONGEST_LINE,
        )  # fmt: skip

    async def _broken(self, error: Exception) -> InfrastructureError:
        said = self._last_words()
        await self.close()
        if isinstance(error, TimeoutError):
            said = f"no answer within {self.timeout_s:g} s"
        return InfrastructureError(f"the process of the game {self.path} broke: {said or error}")

    def _last_words(self) -> str:
        if self._errors is None:
            return ""
        self._errors.seek(0)
        lines = self._errors.read()[-2000:].decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _position(reply: dict[str, Any]) -> Position:
    return Position(reply["observation"], tuple(reply["admissible"]), reply["won"], tuple(reply["plan"]))
