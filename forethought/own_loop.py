"""Calling what is asynchronous from code that is not: one thread of this process, with an event loop of its
own.

So it works beside a loop that runs already, as in a notebook, and connections are kept from call to call.
Each call has the context variables of who calls.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import queue
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing
from typing import Any, TypeVar

T = TypeVar("T")
_CLOSE_S = 5.0
"""Longest wait for running calls when the process ends."""
_THREADS = 64
"""Maximum synchronous tools and models at work in parallel."""
_lock = threading.Lock()
_own: _OwnLoop | None = None


class _OwnLoop:
    """The thread and its loop, which ends with the process."""

    def __init__(self) -> None:
        ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self.thread = threading.Thread(
            target=lambda: asyncio.run(_until_stopped(ready)), name="forethought", daemon=True
        )
        self.thread.start()
        self.loop, self._stop = ready.result()
        atexit.register(self._close)

    def _close(self) -> None:
        self.loop.call_soon_threadsafe(self._stop.set)
        self.thread.join(_CLOSE_S)


async def _until_stopped(ready: Future[Any]) -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "forethought"))
    stop = asyncio.Event()
    ready.set_result((asyncio.get_running_loop(), stop))
    await stop.wait()


def run(call: Coroutine[Any, Any, T]) -> T:
    """What `call` returns or raises. Raises RuntimeError in the loop's own thread."""
    try:
        future = asyncio.run_coroutine_threadsafe(call, _loop())
    except RuntimeError:
        call.close()
        raise
    try:
        return future.result()
    except BaseException:
        future.cancel()  # Ctrl-C came here, in the thread that waits
        raise


def iterate(items: AsyncGenerator[T, None]) -> Iterator[T]:
    """The items, each made when it is asked for. Who stops asking cancels what is under way.

    Raises RuntimeError in the loop's own thread.
    """
    loop, wanted = _loop(), asyncio.Semaphore(0)
    made: queue.SimpleQueue[tuple[T] | None] = queue.SimpleQueue()

    async def make() -> None:
        try:
            async with aclosing(items):
                async for item in items:
                    made.put((item,))
                    await wanted.acquire()
        finally:
            made.put(None)

    future = asyncio.run_coroutine_threadsafe(make(), loop)
    got: tuple[T] | None = None
    try:
        while got := made.get():
            yield got[0]
            loop.call_soon_threadsafe(wanted.release)
        future.result()
    finally:
        if future.cancel():
            while made.get() is not None:
                pass


def is_here() -> bool:
    """Whether this is the loop's own thread."""
    return _own is not None and threading.current_thread() is _own.thread


def _loop() -> asyncio.AbstractEventLoop:
    global _own
    with _lock:
        _own = _own if _own and _own.thread.is_alive() else _OwnLoop()
    if is_here():
        raise RuntimeError(
            "a synchronous method of a graph was called from asynchronous code, where it would "
            "wait for itself: await ainvoke, astream or aget_state instead"
        )
    return _own.loop


def _forget() -> None:
    """A forked process has the loop, but not its thread."""
    global _own, _lock
    _own, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
