"""A Python program for the sandbox, what every backend says of one, and the tools that it calls.

Code actions (PreFlect's agents act by writing code): the agent's tools are functions of a program. It runs in
a thread, the tools on the event loop: each call is handed over and waited for.
"""

from __future__ import annotations

import asyncio
import json
import keyword
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from forethought.text import cut
from forethought.tools.base import Observation, Tool, ToolEnv, ToolError

MODULES = (
    "base64", "bisect", "collections", "copy", "csv", "dataclasses", "datetime", "decimal", "functools",
    "hashlib", "itertools", "json", "math", "random", "re", "time", "typing", "unicodedata",
)  # fmt: skip
"""Imported before a program starts."""
MAX_OUTPUT = 1_000_000
"""Most bytes that a program may print, and most characters of its last value."""
_TAIL = 2000


@dataclass(frozen=True)
class Program:
    """A program and what it may use."""

    code: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """Name -> plain value, bound before the program starts."""
    functions: Mapping[str, Callable[..., str]] = field(default_factory=dict)
    """Name -> what the program may call. Called in the thread that runs the program."""
    seconds: float = 10.0
    """Time limit; waiting for `functions` does not count."""
    memory_mb: int = 256


Backend = Callable[[Program], tuple[str, str]]
"""Runs a program in a sandbox, in the calling thread. Returns what it printed, and the value of its last
expression as text ('' if there is none). Raises ToolError: limit (time, memory, output), tool (an error in
the program), unavailable.
"""


def printed_before(printed: str) -> str:
    """The end of what was printed before an error, with a heading; '' if nothing was."""
    if not printed.strip():
        return ""
    return f"\nprinted before that:\n{cut(printed.rstrip(), _TAIL, tail=1)}"


def too_slow(program: Program, printed: str) -> ToolError:
    """The time limit was reached."""
    message = f"the code ran longer than {program.seconds:g} s and was stopped"
    return ToolError(
        message + printed_before(printed), cause="limit", hint="do less work, or in a cheaper way"
    )


def too_big(program: Program, printed: str) -> ToolError:
    """The memory or the output limit was reached."""
    message = f"the code needed more than {program.memory_mb} MB of memory or printed more than 1 MB"
    return ToolError(
        message + printed_before(printed),
        cause="limit",
        hint="keep less at a time and print only what matters",
    )


def at_line(code: str, line: int) -> str:
    """'line 3, `print(a / b)`: ', or '' where the program has no such line."""
    lines = code.split("\n")
    return f"line {line}, `{lines[line - 1].strip()[:200]}`: " if 0 < line <= len(lines) else ""


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
        """Give the program up: make no more calls for it."""
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
