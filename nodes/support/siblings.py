"""A failed task waits for its siblings before it is heard of.

When one of the tasks that LangGraph runs side by side raises, it cancels the others at once: model calls in
flight are thrown away, though they are paid for, and tool calls are broken off. So what a task of a wave
raises is held back until its siblings have come to their ends; then their writes are kept with the
checkpoint, and only the failed task runs again when the thread is resumed. How long that takes is bounded by
the siblings' own time limits and retries. Cancellation and interrupts are not held back.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp

P = ParamSpec("P")
T = TypeVar("T")
Key = tuple[object, ...]
_TURNS = 10
"""Turns of the event loop in which a task begins, or ends once its node has returned."""


@dataclass
class _Wave:
    """The tasks of one superstep that have begun and have not returned."""

    present: int = 0
    """Those at work, and those that wait for them."""
    working: int = 0
    idle: asyncio.Event = field(default_factory=asyncio.Event)


_waves: dict[Key, _Wave] = {}


def together(node: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """`node`, which runs side by side with others of its superstep, so that an error of it cancels none of
    them."""

    @functools.wraps(node)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        key = _superstep()
        wave = _waves.setdefault(key, _Wave())
        wave.present += 1
        wave.working += 1
        try:
            try:
                return await node(*args, **kwargs)
            finally:
                _stop(wave)
        except GraphBubbleUp:
            raise
        except Exception:
            await _others(wave)
            raise
        finally:
            wave.present -= 1
            if not wave.present:
                _waves.pop(key, None)

    return run


def _stop(wave: _Wave) -> None:
    wave.working -= 1
    if not wave.working:
        wave.idle.set()


async def _others(wave: _Wave) -> None:
    """Return when none is at work any more, those that had not begun yet included."""
    await _turns()
    while wave.working:
        wave.idle.clear()
        await wave.idle.wait()
        await _turns()


async def _turns() -> None:
    for _ in range(_TURNS):
        await asyncio.sleep(0)


def _superstep() -> Key:
    """The superstep that this task is part of: its graph's namespace and checkpoint, in this event loop."""
    info = get_config()["configurable"]["__pregel_runtime"].execution_info
    loop = id(asyncio.get_running_loop())
    if info is None:
        return (loop, id(asyncio.current_task()))
    return (loop, info.thread_id, info.checkpoint_ns.rpartition("|")[0], info.checkpoint_id)
