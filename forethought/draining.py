"""Stopping in order: on SIGTERM no new node begins, the calls that are under way finish, and the thread is
left where it can be gone on with.

One `Drain` serves a whole process, however many graphs it runs: each is given its `control` (LangGraph ends
the graph at the next checkpoint with GraphDrained) and is waited for with `finish`.

    drain = Drain()
    with on_sigterm(drain):
        await drain.finish(graph.ainvoke(given, config, control=drain.control), grace_s=25)
"""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, TypeVar

from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl, get_runtime

from forethought.starting import over

T = TypeVar("T")
_has_begun: ContextVar[bool] = ContextVar("has_begun", default=False)
_LOOKS_S = 0.2
"""LangGraph's control can be looked at, not waited for."""


class Drained(Exception):
    """The work was stopped before its end; it can be gone on with."""

    def __init__(self, broken_off: bool = False) -> None:
        super().__init__("stopped by SIGTERM" + (", with calls broken off" if broken_off else ""))
        self.broken_off = broken_off
        """Whether calls were under way that the time left was too short for, or that were not to be waited
        for."""


class Drain:
    """Whether this process is to stop, and whether at once."""

    def __init__(self) -> None:
        self.control = RunControl()
        """For `astream` and `ainvoke`, of any number of graphs."""
        self.requested = False
        self._at_once = False
        self._idle = False
        self._waiting: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    def request(self, *, at_once: bool = False) -> None:
        """Let the calls under way finish and begin none; `at_once` breaks them off. From any thread."""
        self.requested, self._at_once = True, self._at_once or at_once
        self.control.request_drain("SIGTERM")
        for event, loop in list(self._waiting.items()):
            loop.call_soon_threadsafe(event.set)

    async def finish(self, work: Awaitable[T], grace_s: float) -> T:
        """What `work` returns. Once it is to stop it has `grace_s` seconds to do so, then it is cancelled.

        Raises Drained where it did not come to its end, and what `work` raises.
        """
        task = asyncio.ensure_future(work)
        called, loop = asyncio.Event(), asyncio.get_running_loop()
        self._waiting[called] = loop
        try:
            if self.requested:
                called.set()
            await _first_of(task, called)
            called.clear()
            if not task.done() and not self._at_once:
                await _first_of(task, called, grace_s)
            broken_off = not task.done()
            task.cancel()
            try:
                return await task
            except asyncio.CancelledError:
                if not broken_off or _is_cancelled():
                    raise
                raise Drained(broken_off=True) from None
            except GraphDrained:
                raise Drained from None
        finally:
            del self._waiting[called]
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    @contextmanager
    def idle(self) -> Iterator[None]:
        """While nothing runs that could finish (a person is asked): SIGTERM raises Drained there."""
        if self.requested:
            raise Drained
        self._idle = True
        try:
            yield
        finally:
            self._idle = False

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        self.request(at_once=self.requested)
        if self._idle:
            raise Drained


@contextmanager
def coming_to_its_end() -> Iterator[None]:
    """What goes on meanwhile has begun, and comes to its end though the graph is to stop: `pause` only
    waits."""
    token = _has_begun.set(True)
    try:
        yield
    finally:
        _has_begun.reset(token)


async def pause(seconds: float) -> None:
    """Wait before a request to a model, for its turn or for another try. Raises GraphDrained as soon as the
    graph around it is to stop, since the request would be a call that is begun; not where it belongs to one
    that has begun (`coming_to_its_end`)."""
    control = None if _has_begun.get() else _control()
    until = time.monotonic() + seconds
    while control is None or not control.drain_requested:
        left = until - time.monotonic()
        if left <= 0:
            return
        await asyncio.sleep(left if control is None else min(left, _LOOKS_S))
    raise GraphDrained(control.drain_reason or "shutdown")


def _control() -> RunControl | None:
    """Of the graph around this; None outside of one, also within another runnable of LangChain's."""
    try:
        return getattr(get_runtime(), "control", None)
    except (RuntimeError, KeyError):
        return None


@contextmanager
def on_sigterm(drain: Drain) -> Iterator[None]:
    """SIGTERM requests `drain`; a second one breaks off what is under way. Outside the main thread, which
    alone is told of signals, nothing is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    over()
    # Not the loop's own handler: a person may be asked while no loop runs.
    before = signal.signal(signal.SIGTERM, drain._signalled)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


async def _first_of(task: asyncio.Future[T], called: asyncio.Event, most_s: float | None = None) -> None:
    """Return when the task is done, the event is set, or the time is up."""
    call = asyncio.ensure_future(called.wait())
    both: set[asyncio.Future[Any]] = {task, call}
    try:
        await asyncio.wait(both, timeout=most_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        call.cancel()


def _is_cancelled() -> bool:
    """Whether somebody else cancels this, as Ctrl-C does."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
