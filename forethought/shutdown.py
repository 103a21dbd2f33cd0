"""Graceful shutdown: on SIGTERM no new node begins, the calls under way finish, the thread can be resumed.

One `Shutdown` serves a whole process, however many graphs it runs: each is given its `control` (LangGraph
ends the graph at the next checkpoint with GraphDrained) and is awaited with `finish`.

    shutdown = Shutdown()
    with on_sigterm(shutdown):
        await shutdown.finish(graph.ainvoke(given, config, control=shutdown.control), grace_s=25)
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
from typing import TypeVar

from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl, get_runtime

T = TypeVar("T")
_must_finish: ContextVar[bool] = ContextVar("must_finish", default=False)
_POLL_S = 0.1
"""Interval of the checks for a request to stop."""


class Halt(Exception):
    """The work was stopped before its end; it can be resumed."""

    def __init__(self, broken_off: bool = False) -> None:
        super().__init__("stopped by SIGTERM" + (", with unfinished calls" if broken_off else ""))
        self.broken_off = broken_off
        """Whether running calls were cancelled."""


class Shutdown:
    """Whether this process is to stop, and whether at once."""

    def __init__(self) -> None:
        self.control = RunControl()
        """For `astream` and `ainvoke`, of any number of graphs."""
        self.requested = False
        self._at_once = False
        self._idle = False

    def request(self, *, at_once: bool = False) -> None:
        """Let the calls under way finish and begin none; `at_once` cancels them. From any thread."""
        self.requested, self._at_once = True, self._at_once or at_once
        self.control.request_drain("SIGTERM")

    async def finish(self, work: Awaitable[T], grace_s: float) -> T:
        """Return what `work` returns. It is cancelled `grace_s` seconds after a stop was requested.

        Raises Halt where it did not come to its end, and what `work` raises.
        """
        task = asyncio.ensure_future(work)
        deadline = float("inf")
        try:
            while not task.done() and time.monotonic() < deadline:
                await asyncio.wait([task], timeout=_POLL_S)
                if self.requested:
                    grace_s = 0 if self._at_once else grace_s
                    deadline = min(deadline, time.monotonic() + grace_s)
            return await self._result(task)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _result(self, task: asyncio.Future[T]) -> T:
        """The task's result. One that has not ended by now is cancelled."""
        broken_off = task.cancel()
        try:
            return await task
        except asyncio.CancelledError:
            this = asyncio.current_task()
            if not broken_off or (this is not None and this.cancelling()):
                raise  # cancelled by somebody else, as Ctrl-C does
            raise Halt(broken_off=True) from None
        except GraphDrained:
            raise Halt from None

    @contextmanager
    def idle(self) -> Iterator[None]:
        """While nothing runs that could finish (a person is asked): SIGTERM raises Halt there."""
        if self.requested:
            raise Halt
        self._idle = True
        try:
            yield
        finally:
            self._idle = False

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.request(at_once=self.requested)
        if self._idle:
            raise Halt


@contextmanager
def on_sigterm(shutdown: Shutdown) -> Iterator[None]:
    """SIGTERM requests `shutdown`, a second one at once. Nothing happens outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # Not the loop's own handler: a person may be asked while no loop runs.
    before = signal.signal(signal.SIGTERM, shutdown._on_signal)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def finish_when_stopping() -> Iterator[None]:
    """Calls in this block have begun and come to their end though the graph is to stop."""
    token = _must_finish.set(True)
    try:
        yield
    finally:
        _must_finish.reset(token)


async def sleep_unless_stopping(seconds: float) -> None:
    """Wait before a request to a model, for its turn or for another try.

    Raises GraphDrained as soon as the graph around it is to stop, since the request would be a call that is
    begun; not within `finish_when_stopping`.
    """
    control = None if _must_finish.get() else _control()
    deadline = time.monotonic() + seconds
    while control is None or not control.drain_requested:
        left = deadline - time.monotonic()
        if left <= 0:
            return
        await asyncio.sleep(left if control is None else min(left, _POLL_S))
    raise GraphDrained(control.drain_reason or "shutdown")


def _control() -> RunControl | None:
    """Of the graph around this; None outside of one, also within another runnable of LangChain's."""
    try:
        return getattr(get_runtime(), "control", None)
    except (RuntimeError, KeyError):
        return None
