"""What `doctor` finds of one thing: it was tried, and it worked or not."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from forethought.app.errors import explain
from forethought.app.text import one_line


@dataclass(frozen=True)
class Check:
    """One thing that was tried. `core`: without it no run works."""

    name: str
    ok: bool
    detail: str
    core: bool = False


def tried(name: str, attempt: Callable[[], str], core: bool = False) -> Check:
    """A check by doing: what `attempt` says, or why it failed."""
    started = time.monotonic()
    try:
        detail = attempt()
    except Exception as error:
        # Whatever breaks is what a person wants to be told here.
        return Check(name, False, why(error), core)
    return Check(name, True, f"{detail} ({time.monotonic() - started:.1f}s)", core)


def why(error: Exception) -> str:
    """What went wrong, in a line that a person can act on."""
    failure = explain(error)
    return f"{type(error).__name__}: {one_line(error, 200)}" if failure.internal else failure.line
