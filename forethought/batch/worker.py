"""A worker: takes jobs from the queue, carries out several at a time, and puts back what it cannot end."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forethought.batch import rescue, tables
from forethought.batch.opening import Queue
from forethought.batch.outcomes import Ended, Retries, TryAgain, is_lost
from forethought.batch.rate_limited import transport_of
from forethought.batch.running import Runner
from forethought.models.types import ConfigurationError, Transport
from forethought.settings import Settings
from forethought.shutdown import Halt, Shutdown
from forethought.storage import StorageError

if TYPE_CHECKING:
    from procrastinate import JobContext
    from procrastinate.worker import Worker as Fetcher

_POLL_S = 1.0
"""Longest wait for a job that was put back; of new ones the database tells at once."""
_EMPTY_S = 0.5
_MOST_REFUSED = 3
"""Jobs in a row that no model can be asked for, before a worker stops: it is likely to be its own fault."""
_MOST_LOST = 10
"""Times in a row that the database is lost, before a worker gives up."""
_LONGEST_WAIT_S = 30.0


class SharedDrain(Shutdown):
    """Stops a worker, and with it each of its jobs. Those have drains of their own, to be cancelled alone."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: set[Shutdown] = set()

    def request(self, *, at_once: bool = False) -> None:
        """See Shutdown."""
        super().request(at_once=at_once)
        for job in list(self.jobs):
            job.request(at_once=at_once)


@dataclass(frozen=True)
class Choices:
    """How a worker works."""

    concurrency: int = 4
    """Jobs side by side."""
    name: str = tables.QUEUE
    """The queue that jobs are taken from."""
    until_empty: bool = False
    """Whether it ends once no job is open any more, in this process or another."""
    retries: Retries = field(default_factory=Retries)
    on_ended: Callable[[str, Ended, float], None] = lambda thread_id, ended, seconds: None
    """Told of each job: its thread, how it ended, after how many seconds."""
    on_put_back: Callable[[str, str], None] = lambda thread_id, why: None
    """Told of each job that goes back into the queue: its thread, why."""


async def work(
    queue: Queue,
    settings: Settings,
    choices: Choices | None = None,
    *,
    transport: Transport | None = None,
    drain: SharedDrain | None = None,
) -> Counter[str]:
    """Carry out jobs until `drain` asks to stop, or the queue is empty where that is chosen; cancelled, it
    breaks off what is under way. In each case jobs that are not done go back into the queue.

    Returns how many ended, by outcome. Raises ConfigurationError (no model can be asked), StorageError (the
    database is lost for good).
    """
    async with AsyncExitStack() as stack:
        choices = choices or Choices()
        carried = transport or transport_of(settings, queue.threads.rows)
        runner = Runner(queue, settings, carried, stack, choices.retries)
        return await _Worker(queue, runner, choices, drain or SharedDrain()).work()


class _Worker:
    def __init__(self, queue: Queue, runner: Runner, choices: Choices, drain: SharedDrain) -> None:
        from forethought.batch.acknowledging import app_of

        self.queue, self.runner, self.choices, self.drain = queue, runner, choices, drain
        self.ended: Counter[str] = Counter()
        self._running: set[int] = set()
        self._refused = 0
        self._error: Exception | None = None
        self._empty = False
        self._app = app_of(queue, self._job)

    async def work(self) -> Counter[str]:
        lost = 0
        while True:
            began = time.monotonic()
            error = await self._fetch()
            if self._error:
                raise self._error
            if self.drain.requested or self._empty:
                return self.ended
            lost = 1 if time.monotonic() - began > 2 * _LONGEST_WAIT_S else lost + 1
            if lost > _MOST_LOST:
                raise StorageError(
                    f"the database {self.queue.address.shown} cannot be reached; its jobs are taken over, or "
                    "go on when a worker is started again"
                ) from error
            try:
                await self.drain.finish(asyncio.sleep(min(2.0**lost, _LONGEST_WAIT_S)), 0)
            except Halt:
                return self.ended

    async def _fetch(self) -> Exception | None:
        """Fetch and carry out jobs until it is to stop; the error where the database ended it."""
        from procrastinate.worker import Worker as Fetcher

        fetcher = Fetcher(
            self._app,
            queues=[self.choices.name],
            concurrency=self.choices.concurrency,
            fetch_job_polling_interval=_POLL_S,
            update_heartbeat_interval=rescue.HEARTBEAT_S,
            stalled_worker_timeout=rescue.DEAD_AFTER_S,
            delete_jobs="successful",
            install_signal_handlers=False,
        )
        helpers = [self._help(fetcher, self._stop), self._help(fetcher, self._look_after)]
        if self.choices.until_empty:
            helpers.append(self._help(fetcher, self._stop_when_empty))
        fetching = asyncio.create_task(fetcher.run())  # type: ignore[no-untyped-call]
        try:
            await asyncio.shield(fetching)
        except asyncio.CancelledError:
            self.drain.request(at_once=True)
            fetcher.stop()  # type: ignore[no-untyped-call]
            await asyncio.gather(fetching, return_exceptions=True)
            raise
        except Exception as error:
            if not is_lost(error):
                raise
            return error
        finally:
            for helper in helpers:
                helper.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)
        return None

    def _help(self, fetcher: Fetcher, work: Callable[[Fetcher], Awaitable[None]]) -> asyncio.Task[None]:
        """Do this beside the jobs. A mistake of ours in it ends the worker, which would go on without."""

        async def helped() -> None:
            try:
                await work(fetcher)
            except Exception as error:
                self._error = error
                self.drain.request()

        return asyncio.create_task(helped())

    async def _stop(self, fetcher: Fetcher) -> None:
        try:
            await self.drain.finish(asyncio.Event().wait(), 0)
        except Halt:
            fetcher.stop()  # type: ignore[no-untyped-call]

    async def _look_after(self, fetcher: Fetcher) -> None:
        strays = rescue.Strays()

        async def once() -> None:
            for thread_id in await rescue.rescue(self.queue):
                self.choices.on_put_back(thread_id, "its worker is gone")
            if fetcher.worker_id is not None:
                await strays.put_back(self.queue, fetcher.worker_id, self._running)

        while True:
            await _unless_lost(once)
            await asyncio.sleep(rescue.LOOK_S)

    async def _stop_when_empty(self, fetcher: Fetcher) -> None:
        query = (
            "SELECT EXISTS (SELECT 1 FROM procrastinate_jobs WHERE status IN ('todo', 'doing') "
            "AND task_name = ? AND queue_name = ?)"
        )

        async def once() -> None:
            given = (tables.TASK, self.choices.name)
            self._empty = not (await self.queue.threads.rows(query, given))[0][0]

        while not self._empty:
            await _unless_lost(once)
            await asyncio.sleep(0 if self._empty else _EMPTY_S)
        fetcher.stop()  # type: ignore[no-untyped-call]

    async def _job(self, context: JobContext, **_: Any) -> None:
        """One job, which the row says that has its number. What is raised says whether it goes back into the
        queue."""
        drain, number = Shutdown(), context.job.id or 0
        thread_id = context.job.lock or f"job {number}"
        self.drain.jobs.add(drain)
        self._running.add(number)
        if self.drain.requested:
            drain.request()
        started = time.monotonic()
        try:
            ended = await self._unless_aborted(self.runner.run(number, drain), drain)
        except (Halt, TryAgain) as stopped:
            self.choices.on_put_back(thread_id, str(stopped))
            raise
        finally:
            self.drain.jobs.discard(drain)
            self._running.discard(number)
        if ended is not None:
            self._count(ended)
            self.choices.on_ended(thread_id, ended, time.monotonic() - started)

    async def _unless_aborted(self, run: Awaitable[Ended | None], drain: Shutdown) -> Ended | None:
        """What `run` gives. A job that is aborted is cancelled by procrastinate: its calls finish first."""
        from procrastinate.exceptions import JobAborted

        running = asyncio.ensure_future(run)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            drain.request()
            try:
                return await running
            except (Halt, TryAgain):
                raise JobAborted from None

    def _count(self, ended: Ended) -> None:
        self.ended[ended.outcome] += 1
        self._refused = self._refused + 1 if ended.refused else 0
        if self._refused == _MOST_REFUSED:
            self._error = ConfigurationError(
                f"{_MOST_REFUSED} jobs in a row failed, the last: {ended.error}; put it right, then: "
                "forethought jobs --retry, and start the worker again"
            )
            self.drain.request()


async def _unless_lost(once: Callable[[], Awaitable[None]]) -> None:
    """Do it; where the database fails, the next time will do."""
    try:
        await once()
    except Exception as error:
        if not is_lost(error):
            raise
