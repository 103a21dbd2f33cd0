"""Work in daemon threads: turns for it, and results that concurrent calls share.

asyncio.to_thread would not do for other people's parsers: the process waits for its threads at exit.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")
_counting = threading.Lock()


class Work(Future[Result]):
    """Work that several may wait for: it is cancelled when all of them have given it up, unless it runs."""

    _wanted_by = 1
    failed_until = 0.0

    def join(self) -> bool:
        """Wait for it as well; False where it was cancelled or failed."""
        with _counting:
            self._wanted_by += 1
            return not self.done() or not (self.cancelled() or self.exception())

    def cancel(self) -> bool:
        """By one of those who wait."""
        with _counting:
            self._wanted_by -= 1
            return self._wanted_by == 0 and super().cancel()


class Turns:
    """At most so many pieces of work at once; the others wait for their turn, first come, first served."""

    def __init__(self, at_once: int) -> None:
        self._free, self._lock = at_once, threading.Lock()
        self._queue: deque[tuple[Work[Any], Callable[[], Any]]] = deque()

    def start(self, work: Callable[[], Result]) -> Work[Result]:
        """Begin `work` in a daemon thread, or have it wait."""
        future: Work[Result] = Work()
        with self._lock:
            self._queue.append((future, work))
            if self._free:
                self._free -= 1
                threading.Thread(target=self._serve, daemon=True, name="forethought-work").start()
        return future

    def _serve(self) -> None:
        while True:
            with self._lock:
                if not self._queue:
                    self._free += 1
                    return
                future, work = self._queue.popleft()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(work())
                except BaseException as error:  # raised again where it is awaited
                    future.set_exception(error)


AT_ONCE = Turns(sys.maxsize)
"""Nothing waits."""


async def in_daemon_thread(work: Callable[[], Result]) -> Result:
    """What `work` returns or raises. Given up by whoever waits, it runs on; at exit it is left alone."""
    return await asyncio.wrap_future(AT_ONCE.start(work))


class SharedWork(Generic[Result]):
    """The last results by key: concurrent calls for one key share one piece of work.

    Args:
        size: The weight of the results that are kept.
        turns: When work may begin.
        weigh: A result's weight.
        failure_s: Seconds for which a failure is kept, so that no call waits for the same one again.
    """

    def __init__(
        self,
        size: int,
        turns: Turns = AT_ONCE,
        *,
        weigh: Callable[[Result], int] = lambda _: 1,
        failure_s: Callable[[BaseException], float] = lambda _: 0.0,
    ) -> None:
        self._size, self._turns, self._weigh, self._failure_s = size, turns, weigh, failure_s
        self._works: OrderedDict[Hashable, Work[Result]] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, key: Hashable, work: Callable[[], Result]) -> Work[Result]:
        """The work under `key`, begun unless it is under way, done, or failed a short while ago."""
        with self._lock:
            found = self._works.get(key)
            if found is None or not (found.join() or time.monotonic() < found.failed_until):
                found = self._works[key] = self._turns.start(work)
                found.add_done_callback(self._note_failure)
            self._works.move_to_end(key)
            while len(self._works) > 1 and sum(map(self._weight, self._works.values())) > self._size:
                self._works.popitem(last=False)
            return found

    def _note_failure(self, work: Future[Result]) -> None:
        if isinstance(work, Work) and not work.cancelled() and (error := work.exception()):
            work.failed_until = time.monotonic() + self._failure_s(error)

    def _weight(self, work: Work[Result]) -> int:
        known = work.done() and not work.cancelled() and not work.exception()
        return self._weigh(work.result()) if known else 1
