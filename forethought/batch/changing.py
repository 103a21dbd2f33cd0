"""Cancelling jobs, and taking those up again that failed, waited for a person, or were cancelled."""

from __future__ import annotations

from forethought.batch import tables
from forethought.batch.opening import Queue
from forethought.batch.submitting import enqueue
from forethought.journal import is_waiting
from forethought.storage import StorageError

_OPEN = f"""
SELECT f.thread_id, f.job, {tables.STATE} FROM {tables.JOINED}
WHERE f.outcome IS NULL AND p.status IN ('todo', 'doing') AND (?::text IS NULL OR f.batch = ?)
AND (?::text IS NULL OR f.thread_id = ?)
"""
_ENDING = f"""
SELECT f.thread_id FROM {tables.JOINED} WHERE f.outcome IS NULL AND p.status = 'doing' AND p.abort_requested
AND (?::text IS NULL OR f.batch = ?) ORDER BY f.position
"""
_CLOSED = f"""
SELECT f.thread_id, f.queue, f.priority, f.job, {tables.STATE} AS state
FROM {tables.JOINED} WHERE (%s::text IS NULL OR f.batch = %s) AND {tables.STATE} = ANY(%s)
AND NOT {tables.THREAD_GONE}
ORDER BY f.position FOR UPDATE OF f
"""
_GONE = f"""
SELECT f.thread_id FROM {tables.JOINED} WHERE (?::text IS NULL OR f.batch = ?) AND {tables.STATE} = ANY(?)
AND {tables.THREAD_GONE} ORDER BY f.position
"""
_WAITING = f"""
SELECT f.thread_id FROM {tables.JOINED} WHERE (?::text IS NULL OR f.batch = ?) AND {tables.STATE} = 'waiting'
ORDER BY f.position
"""
_CANCELLED = "UPDATE forethought_jobs SET ended_at = now() WHERE thread_id = ANY(?) AND outcome IS NULL"
_REOPEN = """
UPDATE forethought_jobs SET outcome = NULL, error = '', tries = 0, again = true, ended_at = NULL, run = NULL
WHERE thread_id = ANY(%s)
"""
_DROP = "DELETE FROM procrastinate_jobs WHERE id = ANY(%s::bigint[]) AND status <> 'doing'"
"""Rows of the queue of an earlier time. One that a worker has is its to end, or `rescue`'s."""


async def cancel(queue: Queue, *, thread_id: str | None = None, batch: str | None = None) -> int:
    """Cancel a job, or all that are open: one that waits in the queue is dropped, one that runs is stopped
    after its calls under way, and its thread can be gone on with. Returns how many.

    Raises procrastinate's ConnectorException, psycopg.Error.
    """
    found = await queue.threads.rows(_OPEN, (batch, batch, thread_id, thread_id))
    cancelled = [
        thread_id
        for thread_id, job, _ in found
        if await queue.manager.cancel_job_by_id_async(job, abort=True)
    ]
    await queue.threads.rows(_CANCELLED, (cancelled,))
    return len(cancelled)


async def being_cancelled(queue: Queue, batch: str | None = None) -> list[str]:
    """The jobs that are cancelled and whose calls under way have not ended. Raises psycopg.Error."""
    return [str(row[0]) for row in await queue.threads.rows(_ENDING, (batch, batch))]


async def retry(queue: Queue, *, batch: str | None = None, cancelled: bool = False) -> int:
    """Put jobs back into the queue that failed or whose person has answered, and cancelled ones where that is
    asked for. Their threads are gone on with; jobs whose threads are gone stay, and those that wait and whose
    threads are damaged (see `damaged`). Returns how many.

    Raises psycopg.Error.
    """
    from psycopg.rows import tuple_row

    states = _states(cancelled)
    async with queue.threads.pool.connection() as connection, connection.transaction():
        async with connection.cursor(row_factory=tuple_row) as cursor:
            await cursor.execute(_CLOSED, (batch, batch, states))
            found = await cursor.fetchall()
        taken = [row for row in found if row[4] != "waiting" or await _is_replied_to(queue, row[0])]
        await connection.execute(_REOPEN, ([row[0] for row in taken],))
        await connection.execute(_DROP, ([row[3] for row in taken if row[3] is not None],))
        await enqueue(queue, [row[:3] for row in taken], connection)
    return len(taken)


async def thread_gone(queue: Queue, *, batch: str | None = None, cancelled: bool = False) -> list[str]:
    """The jobs that `retry` does not take up, since they were begun and their threads are gone.

    Raises psycopg.Error.
    """
    rows = await queue.threads.rows(_GONE, (batch, batch, _states(cancelled)))
    return [str(row[0]) for row in rows]


async def damaged(queue: Queue, *, batch: str | None = None) -> dict[str, str]:
    """The jobs that wait, perhaps, for a person, and why nobody knows: their threads cannot be read.

    Raises psycopg.Error.
    """
    found = {}
    for (thread_id,) in await queue.threads.rows(_WAITING, (batch, batch)):
        try:
            await _waits(queue, str(thread_id))
        except StorageError as error:
            found[str(thread_id)] = str(error)
    return found


def _states(cancelled: bool) -> list[str]:
    return ["failed", "waiting", *(["cancelled"] if cancelled else [])]


async def _is_replied_to(queue: Queue, thread_id: str) -> bool:
    """Whether a thread has what its person was asked for; of one that is damaged nobody knows."""
    try:
        return not await _waits(queue, thread_id)
    except StorageError:
        return False


async def _waits(queue: Queue, thread_id: str) -> bool:
    return is_waiting(await queue.threads.aget_tuple({"configurable": {"thread_id": thread_id}}))
