"""Work in threads that do not keep the process from ending, and results that concurrent calls share."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

Result = TypeVar("Result")


async def in_daemon_thread(work: Callable[[], Result]) -> Result:
    """What `work` returns or raises. Given up by whoever waits, it runs on; at exit it is left alone.

    asyncio.to_thread would not do for other people's parsers: the process waits for its threads at exit.
    """
    return await asyncio.wrap_future(start_in_thread(work))


def start_in_thread(work: Callable[[], Result]) -> Future[Result]:
    """Begin `work` in a daemon thread."""
    future: Future[Result] = Future()
    # Marked as running, so that one caller who gives up does not cancel it for the others.
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # raised again where it is awaited
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="forethought-work").start()
    return future


class SharedWork(Generic[Result]):
    """The last results by key: concurrent calls for one key share one piece of work."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._futures: OrderedDict[Hashable, Future[Result]] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, key: Hashable, work: Callable[[], Result]) -> Future[Result]:
        """The work under `key`, begun unless it is under way or done. One that failed is begun anew."""
        with self._lock:
            future = self._futures.get(key)
            if future is None or (future.done() and future.exception()):
                future = self._futures[key] = start_in_thread(work)
            self._futures.move_to_end(key)
            while len(self._futures) > self._size:
                self._futures.popitem(last=False)
            return future
