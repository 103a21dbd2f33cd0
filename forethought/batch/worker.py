"""A worker: takes jobs from the queue, carries out several at a time, and puts back what it cannot end.

procrastinate fetches and retries. A worker that has not been heard of for 15 s is dead: every other worker
looks after that itself, besides its jobs, and puts its jobs back into the queue. A worker that loses the
database ends with an error: whatever supervises it starts it again.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forethought.batch import tables
from forethought.batch.job import JobResult, JobRunner, TryAgain, is_lost
from forethought.batch.queue import Queue
from forethought.models.types import ConfigurationError, Transport
from forethought.settings import Settings
from forethought.shutdown import Halt, Shutdown
from forethought.storage import StorageError, open_experience
from forethought.storage.locks import hold

if TYPE_CHECKING:
    from procrastinate import App

HEARTBEAT_S = 5.0
DEAD_AFTER_S = 15.0
_LOOK_S = 0.5
"""Interval of the checks for dead workers, an empty queue and a request to stop."""
_POLL_S = 1.0
"""Longest wait for a job that was put back; new jobs are announced at once."""
_MOST_REFUSED = 3
"""Consecutive jobs without a reachable model after which a worker stops: its own setup is likely wrong."""
_OPEN = "SELECT EXISTS (SELECT 1 FROM procrastinate_jobs WHERE status IN ('todo', 'doing') AND task_name = ?)"


@dataclass(frozen=True)
class WorkerOptions:
    """How a worker works."""

    concurrency: int = 4
    """Jobs in parallel."""
    until_empty: bool = False
    """Whether it ends when no job is left, in this process or another."""
    attempts: int = JobRunner.attempts
    first_wait_s: float = JobRunner.first_wait_s
    on_ended: Callable[[str, JobResult, float], None] = lambda thread_id, result, seconds: None
    """Called for each job that ended: its thread, its result, its seconds."""
    on_put_back: Callable[[str, str], None] = lambda thread_id, why: None
    """Called for each job that returns to the queue: its thread, the reason."""


async def work(
    queue: Queue,
    settings: Settings,
    options: WorkerOptions | None = None,
    *,
    transport: Transport | None = None,
    shutdown: Shutdown | None = None,
) -> Counter[str]:
    """Carry out jobs until `shutdown` asks to stop, or the queue is empty where that is chosen; cancelled, it
    breaks off what is under way. In each case jobs that are not done go back into the queue.

    Returns how many ended, by outcome. Raises ValueError (a tool is not usable), ConfigurationError (no model
    can be asked), StorageError (the database is lost).
    """
    from forethought.graph.agent import build_agent

    options, shutdown = options or WorkerOptions(), shutdown or Shutdown()
    async with open_experience(queue.address) as store:
        graph = build_agent(settings=settings, checkpointer=queue.threads, store=store, transport=transport)
        runner = JobRunner(queue, settings, graph, shutdown, options.attempts, options.first_wait_s)
        return await _Worker(queue, runner, options, shutdown).work()


class _Worker:
    def __init__(self, queue: Queue, runner: JobRunner, options: WorkerOptions, shutdown: Shutdown) -> None:
        self.queue, self.runner, self.options, self.shutdown = queue, runner, options, shutdown
        self.ended: Counter[str] = Counter()
        self._refused: list[str] = []
        """Why no model could be asked for the newest jobs in a row."""

    async def work(self) -> Counter[str]:
        from procrastinate.worker import Worker as Fetcher

        self._fetcher = fetcher = Fetcher(
            _procrastinate_app(self.queue, self._job),
            concurrency=self.options.concurrency,
            fetch_job_polling_interval=_POLL_S,
            update_heartbeat_interval=HEARTBEAT_S,
            stalled_worker_timeout=DEAD_AFTER_S,
            delete_jobs="successful",
            install_signal_handlers=False,
        )
        fetching = asyncio.create_task(fetcher.run())  # type: ignore[no-untyped-call]
        try:
            await self._watch(fetching)
        except BaseException as error:
            self.shutdown.request(at_once=True)
            if is_lost(error):
                raise StorageError(
                    f"the database {self.queue.address.shown} was lost; start the worker again when it is "
                    "back, and its jobs continue"
                ) from error
            raise
        finally:
            fetcher.stop()  # type: ignore[no-untyped-call]
            await asyncio.gather(fetching, return_exceptions=True)
        if len(self._refused) >= _MOST_REFUSED:
            raise ConfigurationError(
                f"{_MOST_REFUSED} jobs in a row failed, the last one with: {self._refused[-1]}; fix "
                "this, run forethought jobs --retry, and start the worker again"
            )
        return self.ended

    async def _watch(self, fetching: asyncio.Task[None]) -> None:
        """Rescue dead workers' jobs until this worker is to stop, or the queue is empty.

        Raises what ended the fetching of jobs, StorageError, psycopg.Error.
        """
        while not self.shutdown.requested:
            if fetching.done():
                fetching.result()
                raise StorageError("the worker's heartbeat failed")
            for thread_id in await rescue(self.queue):
                self.options.on_put_back(thread_id, "its worker has died")
            if self.options.until_empty and not (await self.queue.threads.rows(_OPEN, (tables.TASK,)))[0][0]:
                return
            await asyncio.sleep(_LOOK_S)

    async def _job(self, thread_id: str) -> None:
        """One job. What is raised says whether it goes back into the queue."""
        started = time.monotonic()
        try:
            result = await self.runner.run(thread_id)
        except (Halt, TryAgain) as stopped:
            self.options.on_put_back(thread_id, str(stopped))
            if self.shutdown.requested:
                self._fetcher.stop()  # type: ignore[no-untyped-call]  # before it is fetched again
            raise
        if result is None:
            return
        self.ended[result.outcome] += 1
        self._refused = [*self._refused, result.error] if result.refused else []
        if len(self._refused) >= _MOST_REFUSED:
            self.shutdown.request()
        self.options.on_ended(thread_id, result, time.monotonic() - started)


async def rescue(queue: Queue) -> list[str]:
    """Threads of dead workers' jobs, which wait in the queue again. One process at a time does this.

    Raises psycopg.Error, procrastinate's ConnectorException.
    """
    manager = queue.app.job_manager
    if not await manager.get_stalled_jobs(seconds_since_heartbeat=DEAD_AFTER_S):
        return []
    async with hold(queue.threads.locks, "rescuing jobs", wait_s=0) as held:
        stalled = await manager.get_stalled_jobs(seconds_since_heartbeat=DEAD_AFTER_S) if held else []
        for job in stalled:
            await manager.retry_job(job)
        return [str(job.lock) for job in stalled]


def _procrastinate_app(queue: Queue, job: Callable[[str], Awaitable[None]]) -> App:
    """procrastinate's app, which knows the one kind of job and which of its errors put it back."""
    from procrastinate import App, BaseRetryStrategy, RetryDecision

    class PutBack(BaseRetryStrategy):
        def get_retry_decision(self, *, exception: BaseException, job: Any) -> RetryDecision | None:
            if not isinstance(exception, Halt | TryAgain) and not is_lost(exception):
                return None
            return RetryDecision(retry_in={"seconds": int(getattr(exception, "wait_s", 0))})

    app = App(connector=queue.app.connector)
    app.task(name=tables.TASK, retry=PutBack())(job)
    return app
