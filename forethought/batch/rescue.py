"""Putting jobs back into the queue whose worker is gone.

A worker that has not been heard of for 15 s is dead: its jobs are to be taken over. Every worker looks after
that itself, besides its jobs; as a job of the queue, as procrastinate proposes it, this would wait behind
long ones.
"""

from __future__ import annotations

from forethought.batch import tables
from forethought.batch.opening import Queue
from forethought.storage.advisory_locks import lock_key

HEARTBEAT_S = 5.0
DEAD_AFTER_S = 15.0
LOOK_S = 2.0
"""How often is looked for them."""
ALONE = lock_key("rescuing jobs")
"""Held by the one that rescues: a second one could put back what a worker has just taken up again."""


async def rescue(queue: Queue) -> list[str]:
    """Threads of dead workers' jobs, which wait in the queue again. One process at a time does this, and one
    that hangs as it does so is not waited for.

    Raises psycopg.Error, procrastinate's ConnectorException.
    """
    from forethought.batch.acknowledging import put_back

    async with queue.threads.pool.connection() as connection, connection.transaction():
        got = await connection.execute("SELECT pg_try_advisory_xact_lock(%s) AS alone", (ALONE,))
        row = await got.fetchone()
        if not row or not row["alone"]:
            return []
        await connection.execute("SET LOCAL idle_in_transaction_session_timeout = '30s'")
        stalled = await queue.manager.get_stalled_jobs(
            task_name=tables.TASK, seconds_since_heartbeat=DEAD_AFTER_S
        )
        return [
            job.lock or f"job {job.id}"
            for job in stalled
            if await put_back(queue.threads.rows, job.id or 0, job.worker_id)
        ]


class Strays:
    """Jobs that a worker has according to the queue, and does not know of: the database failed when they
    were to be ended. Nobody else would take them over while the worker lives."""

    def __init__(self) -> None:
        self._suspected: set[int] = set()

    async def put_back(self, queue: Queue, worker_id: int, running: set[int]) -> None:
        """Put those back that were strays the last time too: others are only just being begun or ended."""
        from forethought.batch.acknowledging import put_back

        jobs = await queue.manager.list_jobs_async(task=tables.TASK, status="doing", worker_id=worker_id)
        strays = {job.id for job in jobs if job.id is not None and job.id not in running}
        for number in self._suspected & strays:
            await put_back(queue.threads.rows, number, worker_id)
        self._suspected = strays
