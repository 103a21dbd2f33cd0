"""Code actions (PreFlect's agents act by writing code): the agent's tools as functions of a program.

The program runs in a thread, the tools on the event loop: each call is handed over and waited for.
"""

from __future__ import annotations

import asyncio
import json
import keyword
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any

from forethought.tools.base import Observation, Tool, ToolEnv

MAX_CALLS = 20
"""Most calls of one program."""


class CallError(RuntimeError):
    """A call that failed, as the program sees it: cause, what happened, hint."""


def from_code(tools: Mapping[str, Tool]) -> dict[str, Tool]:
    """Tools that a program may call: they only read, ask nobody, and have a name Python can write."""
    return {
        name: tool
        for name, tool in tools.items()
        if tool.effect == "read"
        and not (tool.asks_person or tool.runs_code)
        and name.isidentifier()
        and not keyword.iskeyword(name)
    }


class Calls:
    """The calls of one program. `stop` ends the one in progress and refuses every other."""

    def __init__(self, env: ToolEnv, loop: asyncio.AbstractEventLoop) -> None:
        self._env, self._loop = env, loop
        self._waiting: Future[Observation] | None = None
        self._stopped = False

    @property
    def functions(self) -> dict[str, Callable[..., str]]:
        """A function by tool; none where the run has no calls to offer."""
        if self._env.call is None:
            return {}
        return {name: partial(self._call, tool) for name, tool in self._env.offered.items()}

    def stop(self) -> None:
        """The program is given up: nothing more is called for it."""
        self._stopped = True
        if self._waiting is not None:
            self._waiting.cancel()

    def _call(self, tool: Tool, /, *positional: Any, **named: Any) -> str:
        if self._stopped or self._env.call is None:
            raise CallError("stopped: the program has run out of time")
        arguments = _arguments(tool, positional, named)
        self._waiting = asyncio.run_coroutine_threadsafe(self._env.call(tool.name, arguments), self._loop)
        observation = self._waiting.result()
        if observation.ok:
            return observation.text
        hint = f" Hint: {observation.hint}" if observation.hint else ""
        raise CallError(f"{observation.cause}: {observation.text}{hint}")


def _arguments(tool: Tool, positional: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """The arguments as plain JSON, those without a name by the order of the schema."""
    names = list(tool.arguments.model_json_schema().get("properties", {}))
    if len(positional) > len(names):
        raise CallError(f"arguments: {tool.name} takes {', '.join(names) or 'no arguments'}")
    by_place = dict(zip(names, positional, strict=False))
    if twice := by_place.keys() & named.keys():
        raise CallError(f"arguments: {tool.name} was given {min(twice)} twice")
    try:
        plain: dict[str, Any] = json.loads(json.dumps({**by_place, **named}, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise CallError(f"arguments: only plain values can be handed over ({error})") from error
    return plain
