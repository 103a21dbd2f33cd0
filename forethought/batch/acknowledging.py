"""Telling the queue what became of a job: by whom it was fetched last, and by nobody else.

A worker that hung for a while, and whose jobs were given to others meanwhile, would otherwise put them back
or end them under these. Times are the database's: a worker's clock may be wrong.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from procrastinate import App, BaseRetryStrategy, RetryDecision
from procrastinate.manager import JobManager
from psycopg.errors import UniqueViolation

from forethought.batch import tables
from forethought.batch.outcomes import TryAgain, is_lost
from forethought.batch.patience import patiently
from forethought.shutdown import Halt

if TYPE_CHECKING:
    from procrastinate.jobs import Job, Status

    from forethought.batch.opening import Queue

Rows = Callable[[str, Sequence[Any]], Awaitable[list[tuple[Any, ...]]]]
_MINE = "p.id = ? AND p.status = 'doing' AND p.worker_id IS NOT DISTINCT FROM ?::bigint"
_DROP_STALE = f"""
DELETE FROM procrastinate_jobs p WHERE {_MINE}
AND NOT EXISTS (SELECT 1 FROM forethought_jobs f WHERE f.job = p.id AND f.outcome IS NULL) RETURNING p.id
"""
_DROP = f"DELETE FROM procrastinate_jobs p WHERE {_MINE}"
_LOCKED = f"WITH mine AS MATERIALIZED (SELECT p.id FROM procrastinate_jobs p WHERE {_MINE} FOR UPDATE)"
_RETRY = f"""
{_LOCKED} SELECT id, procrastinate_retry_job_v2(id, now() + ? * interval '1 s', NULL, NULL, NULL) FROM mine
"""
_FINISH = f"{_LOCKED} SELECT id, procrastinate_finish_job_v1(id, ?::procrastinate_job_status, ?) FROM mine"
_EPOCH = datetime.fromtimestamp(0, UTC)


async def put_back(rows: Rows, number: int, worker: int | None, wait_s: float = 0) -> bool:
    """Have a job that `worker` fetched wait in the queue again; whether it does.

    A row of the queue that stands for nothing to be done is deleted: its job has ended, or has another row.
    Raises psycopg.Error.
    """
    if await rows(_DROP_STALE, (number, worker)):
        return False
    try:
        return bool(await rows(_RETRY, (number, worker, wait_s)))
    except UniqueViolation:
        # Another row of the same job waits already.
        await rows(_DROP, (number, worker))
        return False


class OwnJobs(JobManager):
    """procrastinate's view of the jobs, for a worker."""

    def __init__(self, queue: Queue) -> None:
        super().__init__(queue.app.connector)
        self._rows = queue.threads.rows

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """See JobManager. Does nothing where the job is another worker's by now."""
        await self._told(lambda: self._rows(_FINISH, (job.id, job.worker_id, status.value, delete_job)))

    async def retry_job(
        self,
        job: Job,
        retry_at: datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        """See JobManager; of what `PutBack` says it is all. Does nothing where the job is another worker's by
        now."""
        number, wait_s = job.id or 0, (retry_at - _EPOCH).total_seconds() if retry_at else 0.0
        await self._told(lambda: put_back(self._rows, number, job.worker_id, wait_s))

    async def _told(self, once: Callable[[], Awaitable[object]]) -> None:
        try:
            await patiently(once)
        except Exception as error:
            # The row stays as it is until somebody finds it: see `rescue`.
            if not is_lost(error):
                raise


class PutBack(BaseRetryStrategy):
    """Jobs that a worker did not end go back into the queue."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        """The wait, counted from 1970 rather than from what this machine takes for now."""
        if not isinstance(exception, Halt | TryAgain):
            return None
        return RetryDecision(retry_at=_EPOCH + timedelta(seconds=getattr(exception, "wait_s", 0)))


def app_of(queue: Queue, carry_out: Callable[..., Awaitable[None]]) -> App:
    """procrastinate's app, which knows the one kind of job."""
    app = App(connector=queue.app.connector)
    app.job_manager = OwnJobs(queue)
    app.task(name=tables.TASK, pass_context=True, retry=PutBack())(carry_out)
    return app
