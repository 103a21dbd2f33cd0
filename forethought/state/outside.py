"""What may be written to a thread from outside of its run: by a server's client, by Studio, by a fork.

A plan, a proposal, a step may be edited. What a run is bounded by may not: else the operator's budgets
(graph/bounds.py) would be what a client says has been spent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langgraph.types import Command, Overwrite

from forethought.state.reducers import CLEAR

WIDEST = 64
"""Most subtasks of a wave that a run of any graph may send side by side (`max_parallel`)."""
_COUNTERS = "progress"
_WAVES = ("dispatch", "wave")
_OVERWRITE = "__overwrite__"


_inside: ContextVar[bool] = ContextVar("inside", default=False)


@contextmanager
def from_inside() -> Iterator[None]:
    """While it is the project's own code that writes to a thread, and not whoever uses it."""
    token = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(token)


class OutsideError(ValueError):
    """A write that only a run may make; one line that says which."""


def check_update(values: Any) -> None:
    """Raises OutsideError where an update from outside takes a bound away.

    `values` is what `update_state` takes: channels and their writes, several of them, or a Command, which may
    resume and write, but send nobody to a node.
    """
    if _inside.get():
        return
    for channel, value in _writes(values):
        if _overwrites(value):
            raise OutsideError(f"channel {channel} cannot be overwritten from outside of a run")
        if channel == _COUNTERS:
            raise OutsideError(f"channel {channel} holds the run's own counters: only a run writes it")
        if channel == "usage" and not _is_spending(value):
            raise OutsideError("channel usage is only added to: figures of 0 or more, by role")
        if channel in _WAVES and not (isinstance(value, list) and len(value) <= WIDEST):
            raise OutsideError(f"channel {channel} is a list of at most {WIDEST}: no wave is wider")


def _writes(values: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(values, Command):
        if values.goto:
            raise OutsideError("a command may not name the node that runs next: write to the thread instead")
        yield from _writes(values.update)
    elif isinstance(values, Mapping):
        yield from values.items()
    elif isinstance(values, list | tuple):
        for item in values:
            if isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str):
                yield item[0], item[1]
            else:  # with the node that it is written as, where a checkpoint is copied
                yield from _writes(item[0] if isinstance(item, list | tuple) and item else item)
    elif values is not None:
        raise OutsideError("what is written to a thread is given by channel")


def _overwrites(value: Any) -> bool:
    if isinstance(value, Mapping):
        return _OVERWRITE in value or value.get("type") == _OVERWRITE
    return isinstance(value, Overwrite)


def _is_spending(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and CLEAR not in value
        and all(isinstance(usage, Mapping) and all(map(_counts, usage.values())) for usage in value.values())
    )


def _counts(figure: Any) -> bool:
    return isinstance(figure, int | float) and math.isfinite(figure) and figure >= 0
