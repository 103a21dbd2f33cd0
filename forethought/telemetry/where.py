"""Where in which run something happens: what every log line and span carries."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

_within: ContextVar[dict[str, str] | None] = ContextVar("within", default=None)
"""The node that is at work, where one is."""


def here() -> dict[str, str]:
    """thread_id, run_id and node, as far as they are known; {} outside of a graph."""
    return dict(_within.get() or {})


def entered(**known: Any) -> None:
    """What is known from here on, in this task and those that it starts."""
    _within.set({**here(), **{name: str(value) for name, value in known.items() if value}})
