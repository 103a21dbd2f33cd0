"""What a sandbox for Python programs offers, and what every backend says in the same words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forethought.text import cut
from forethought.tools.base import ToolError

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
