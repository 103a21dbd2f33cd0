"""A worker: takes jobs from the queue, carries out several at a time, and puts back what it cannot end.

procrastinate fetches, retries and aborts. A worker that has not been heard of for 15 s is dead: every other
worker looks after that itself, besides its jobs, and puts its jobs back into the queue.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langchain_core.rate_limiters import InMemoryRateLimiter

from forethought.batch import tables
from forethought.batch.job import JobRunner, Retries
from forethought.batch.outcomes import JobResult, TryAgain, is_lost
from forethought.batch.queue import Queue
from forethought.models.live import LiveTransport
from forethought.models.types import ConfigurationError, ModelRequest, Transport
from forethought.settings import Settings
from forethought.shutdown import Halt, Shutdown
from forethought.storage import StorageError

if TYPE_CHECKING:
    from procrastinate import App, BaseRetryStrategy, JobContext
    from procrastinate.worker import Worker as Fetcher

HEARTBEAT_S = 5.0
DEAD_AFTER_S = 15.0
_LOOK_S = 2.0
"""How often dead workers are looked for."""
_POLL_S = 1.0
"""Longest wait for a job that was put back; of new ones the database tells at once."""
_EMPTY_S = 0.5
_MOST_REFUSED = 3
"""Jobs in a row that no model can be asked for, before a worker stops: it is likely to be its own fault."""
_MOST_LOST = 10
"""Times in a row that the database is lost, before a worker gives up."""
_LONGEST_WAIT_S = 30.0
_OPEN = """
SELECT EXISTS (SELECT 1 FROM procrastinate_jobs WHERE status IN ('todo', 'doing') AND task_name = ?
AND queue_name = ?)
"""


class WorkerShutdown(Shutdown):
    """Stops a worker, and with it each of its jobs, which can also be stopped alone."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: set[Shutdown] = set()

    def request(self, *, at_once: bool = False) -> None:
        """See Shutdown."""
        super().request(at_once=at_once)
        for job in list(self.jobs):
            job.request(at_once=at_once)


@dataclass(frozen=True)
class WorkerOptions:
    """How a worker works."""

    concurrency: int = 4
    """Jobs side by side."""
    name: str = tables.QUEUE
    """The queue that jobs are taken from."""
    until_empty: bool = False
    """Whether it ends once no job is open any more, in this process or another."""
    retries: Retries = field(default_factory=Retries)
    on_ended: Callable[[str, JobResult, float], None] = lambda thread_id, ended, seconds: None
    """Called for each job: its thread, how it ended, after how many seconds."""
    on_put_back: Callable[[str, str], None] = lambda thread_id, why: None
    """Called for each job that goes back into the queue: its thread, why."""


async def work(
    queue: Queue,
    settings: Settings,
    options: WorkerOptions | None = None,
    *,
    transport: Transport | None = None,
    shutdown: WorkerShutdown | None = None,
) -> Counter[str]:
    """Carry out jobs until `shutdown` asks to stop, or the queue is empty where that is chosen; cancelled, it
    breaks off what is under way. In each case jobs that are not done go back into the queue.

    Returns how many ended, by outcome. Raises ConfigurationError (no model can be asked), StorageError (the
    database is lost for good).
    """
    async with AsyncExitStack() as stack:
        options = options or WorkerOptions()
        runner = JobRunner(queue, settings, transport or _transport(settings), stack, options.retries)
        return await _Worker(queue, runner, options, shutdown or WorkerShutdown()).work()


def _transport(settings: Settings) -> Transport:
    """The providers, asked no more often than the operator's limit for a worker allows."""
    a_minute = settings.requests_per_minute
    if a_minute is None:
        return LiveTransport(settings)
    limiters: dict[str, InMemoryRateLimiter] = {}

    async def wait(request: ModelRequest) -> None:
        if request.model not in limiters:
            limiters[request.model] = InMemoryRateLimiter(requests_per_second=a_minute / 60)
        await limiters[request.model].aacquire()

    return LiveTransport(settings, before=wait)


class _Worker:
    def __init__(
        self, queue: Queue, runner: JobRunner, options: WorkerOptions, shutdown: WorkerShutdown
    ) -> None:
        self.queue, self.runner, self.options, self.shutdown = queue, runner, options, shutdown
        self.ended: Counter[str] = Counter()
        self._refused = 0
        self._error: Exception | None = None
        self._empty = False

    async def work(self) -> Counter[str]:
        lost = 0
        while True:
            began = time.monotonic()
            error = await self._fetch()
            if self._error:
                raise self._error
            if self.shutdown.requested or self._empty:
                return self.ended
            lost = 1 if time.monotonic() - began > 2 * _LONGEST_WAIT_S else lost + 1
            if lost > _MOST_LOST:
                raise StorageError(
                    f"the database {self.queue.address.shown} cannot be reached; its jobs are taken over, or "
                    "go on when a worker is started again"
                ) from error
            try:
                await self.shutdown.finish(asyncio.sleep(min(2.0**lost, _LONGEST_WAIT_S)), 0)
            except Halt:
                return self.ended

    async def _fetch(self) -> Exception | None:
        """Fetch and carry out jobs until it is to stop; the error where the database ended it."""
        from procrastinate.worker import Worker as Fetcher

        fetcher = Fetcher(
            _procrastinate_app(self.queue, self._job),
            queues=[self.options.name],
            concurrency=self.options.concurrency,
            fetch_job_polling_interval=_POLL_S,
            update_heartbeat_interval=HEARTBEAT_S,
            stalled_worker_timeout=DEAD_AFTER_S,
            delete_jobs="successful",
            install_signal_handlers=False,
        )
        helpers = [asyncio.create_task(self._stop(fetcher)), asyncio.create_task(self._watch(fetcher))]
        fetching = asyncio.create_task(fetcher.run())  # type: ignore[no-untyped-call]
        try:
            await asyncio.shield(fetching)
        except asyncio.CancelledError:
            self.shutdown.request(at_once=True)
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

    async def _stop(self, fetcher: Fetcher) -> None:
        try:
            await self.shutdown.finish(asyncio.Event().wait(), 0)
        except Halt:
            fetcher.stop()  # type: ignore[no-untyped-call]

    async def _watch(self, fetcher: Fetcher) -> None:
        """Rescue dead workers' jobs, and see whether the queue is empty. An error of ours ends the worker."""
        looked = 0.0
        while not self._empty:
            try:
                if time.monotonic() - looked >= _LOOK_S:
                    looked = time.monotonic()
                    for thread_id in await rescue(self.queue):
                        self.options.on_put_back(thread_id, "its worker is gone")
                if self.options.until_empty:
                    self._empty = not (await self.queue.rows(_OPEN, (tables.TASK, self.options.name)))[0][0]
            except Exception as error:
                if not is_lost(error):
                    self._error = error
                    self.shutdown.request()
                    return
            await asyncio.sleep(0 if self._empty else _EMPTY_S)
        fetcher.stop()  # type: ignore[no-untyped-call]

    async def _job(self, context: JobContext, thread_id: str) -> None:
        """One job. What is raised says whether it goes back into the queue."""
        shutdown = Shutdown()
        self.shutdown.jobs.add(shutdown)
        if self.shutdown.requested:
            shutdown.request()
        started = time.monotonic()
        try:
            ended = await self._unless_aborted(self.runner.run(thread_id, shutdown), shutdown)
        except (Halt, TryAgain) as stopped:
            self.options.on_put_back(thread_id, str(stopped))
            raise
        finally:
            self.shutdown.jobs.discard(shutdown)
        if ended is not None:
            self._count(ended)
            self.options.on_ended(thread_id, ended, time.monotonic() - started)

    async def _unless_aborted(self, run: Awaitable[JobResult | None], shutdown: Shutdown) -> JobResult | None:
        """What `run` gives. A job that is aborted is cancelled by procrastinate: its calls finish first."""
        from procrastinate.exceptions import JobAborted

        running = asyncio.ensure_future(run)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            shutdown.request()
            try:
                return await running
            except (Halt, TryAgain):
                raise JobAborted from None

    def _count(self, ended: JobResult) -> None:
        self.ended[ended.outcome] += 1
        self._refused = self._refused + 1 if ended.refused else 0
        if self._refused == _MOST_REFUSED:
            self._error = ConfigurationError(
                f"{_MOST_REFUSED} jobs in a row failed, the last: {ended.error}; put it right, then: "
                "forethought jobs --retry, and start the worker again"
            )
            self.shutdown.request()


async def rescue(queue: Queue) -> list[str]:
    """Threads of dead workers' jobs, which wait in the queue again. One process at a time does this.

    Raises psycopg.Error, procrastinate's ConnectorException.
    """
    if not await queue.threads.locks.acquire("rescuing jobs"):
        return []
    try:
        stalled = await queue.app.job_manager.get_stalled_jobs(
            task_name=tables.TASK, seconds_since_heartbeat=DEAD_AFTER_S
        )
        for job in stalled:
            await queue.app.job_manager.retry_job(job)
        return [str(job.lock) for job in stalled]
    finally:
        await queue.threads.locks.release("rescuing jobs")


def _procrastinate_app(queue: Queue, job: Callable[..., Awaitable[None]]) -> App:
    """procrastinate's app, which knows the one kind of job."""
    from procrastinate import App

    app = App(connector=queue.app.connector)
    app.task(name=tables.TASK, pass_context=True, retry=_retry_strategy())(job)
    return app


def _retry_strategy() -> BaseRetryStrategy:
    from procrastinate import BaseRetryStrategy, RetryDecision

    class PutBack(BaseRetryStrategy):
        """Jobs that a worker did not end go back into the queue."""

        def get_retry_decision(self, *, exception: BaseException, job: Any) -> RetryDecision | None:
            if not isinstance(exception, Halt | TryAgain):
                return None
            return RetryDecision(retry_in={"seconds": int(getattr(exception, "wait_s", 0))})

    return PutBack()
