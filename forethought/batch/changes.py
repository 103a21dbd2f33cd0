"""Cancelling jobs, and retrying those that failed, waited for a person, or were cancelled."""

from __future__ import annotations

from forethought.batch import tables
from forethought.batch.queue import Queue
from forethought.batch.submit import enqueue
from forethought.journal import is_waiting
from forethought.storage import StorageError

_OF = "(?::text IS NULL OR f.batch = ?)"
_OPEN = f"""
SELECT f.thread_id, f.job FROM {tables.JOINED} WHERE f.outcome IS NULL AND p.status IN ('todo', 'doing')
AND {_OF} AND (?::text IS NULL OR f.thread_id = ?)
"""
_ENDING = f"""
SELECT f.thread_id FROM {tables.JOINED} WHERE f.outcome IS NULL AND p.status = 'doing' AND p.abort_requested
AND {_OF} ORDER BY f.position
"""
_CLOSED = f"""
SELECT f.thread_id, f.queue, f.priority, {tables.STATE} FROM {tables.JOINED}
WHERE {_OF} AND {tables.STATE} = ANY(?) ORDER BY f.position
"""
_REOPEN = """
UPDATE forethought_jobs SET outcome = NULL, error = '', tries = 0, ended_at = NULL WHERE thread_id = ANY(%s)
"""


async def cancel(queue: Queue, *, thread_id: str | None = None, batch: str | None = None) -> int:
    """Cancel a job, or all that are open: one that waits in the queue is dropped, one that runs is stopped
    after its calls under way, and its thread can be gone on with. Returns how many.

    Raises procrastinate's ConnectorException, psycopg.Error.
    """
    cancelled = [
        name
        for name, job in await queue.rows(_OPEN, (batch, batch, thread_id, thread_id))
        if await queue.app.job_manager.cancel_job_by_id_async(job, abort=True)
    ]
    query = "UPDATE forethought_jobs SET ended_at = now() WHERE thread_id = ANY(?) AND outcome IS NULL"
    await queue.rows(query, (cancelled,))
    return len(cancelled)


async def being_cancelled(queue: Queue, batch: str | None = None) -> list[str]:
    """The jobs that are cancelled and whose calls under way have not ended. Raises psycopg.Error."""
    return [str(row[0]) for row in await queue.rows(_ENDING, (batch, batch))]


async def retry(queue: Queue, *, batch: str | None = None, cancelled: bool = False) -> int:
    """Put jobs back into the queue that failed or whose person has answered, and cancelled ones where that is
    asked for. Their threads are gone on with; a job that waits and whose thread cannot be read stays. Returns
    how many.

    Raises psycopg.Error.
    """
    states = ["failed", "waiting", *(["cancelled"] if cancelled else [])]
    chosen = [
        (thread_id, name, priority)
        for thread_id, name, priority, state in await queue.rows(_CLOSED, (batch, batch, states))
        if state != "waiting" or not await _still_waits(queue, thread_id)
    ]
    async with queue.threads.pool.connection() as connection, connection.transaction():
        await connection.execute(_REOPEN, ([thread_id for thread_id, _, _ in chosen],))
        await enqueue(queue, connection, chosen)
    return len(chosen)


async def _still_waits(queue: Queue, thread_id: str) -> bool:
    try:
        return is_waiting(await queue.threads.aget_tuple({"configurable": {"thread_id": thread_id}}))
    except StorageError:
        return True
