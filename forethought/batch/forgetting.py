"""Letting go of jobs that have ended: their rows, once their threads are gone, and files that no job names.
Jobs that have not ended keep their threads.

Needs neither the extra `scale` nor a queue, since `threads --prune` is for everybody.
"""

from __future__ import annotations

from datetime import timedelta

from forethought.batch import tables
from forethought.storage import StorageError
from forethought.storage.saver import ThreadSaver

_OVER = f"""
SELECT f.thread_id, f.job FROM {tables.JOINED} WHERE {tables.STATE} IN ('done', 'failed', 'cancelled')
AND coalesce(f.ended_at, f.submitted_at) < now() - ?::interval
AND NOT EXISTS (SELECT 1 FROM checkpoints c WHERE c.thread_id = f.thread_id)
"""
_OPEN = f"SELECT f.thread_id, {tables.STATE} FROM {tables.JOINED} WHERE {tables.STATE} <> ALL(?::text[])"
_ENDED = ["done", "failed", "cancelled"]
_YOUNG = "1 hour"
"""Files that were submitted since then stay: their jobs may be on their way."""


async def forgettable(saver: ThreadSaver, older_than: timedelta) -> int:
    """How many jobs ended that long ago and have no thread (any more). Raises psycopg.Error."""
    if not await _has_jobs(saver):
        return 0
    return int((await saver.rows(f"SELECT count(*) FROM ({_OVER}) AS o", (older_than,)))[0][0])


async def forget(saver: ThreadSaver, older_than: timedelta) -> int:
    """Delete those jobs; how many. Raises psycopg.Error."""
    if not await _has_jobs(saver):
        return 0
    delete = (
        f"DELETE FROM forethought_jobs j USING ({_OVER} FOR UPDATE OF f) AS o WHERE j.thread_id = o.thread_id"
    )
    gone = await saver.rows(f"{delete} RETURNING j.job", (older_than,))
    numbers = [row[0] for row in gone if row[0] is not None]
    await saver.rows("DELETE FROM procrastinate_jobs WHERE id = ANY(?::bigint[])", (numbers,))
    return len(gone)


async def open_jobs(saver: ThreadSaver) -> dict[str, str]:
    """The states of the jobs that have not ended (todo, doing, waiting), by thread. Raises psycopg.Error."""
    return dict(await saver.rows(_OPEN, (_ENDED,))) if await _has_jobs(saver) else {}


async def forget_files(saver: ThreadSaver) -> int:
    """Delete the files that no job names any more; how many.

    Raises StorageError where a job cannot be read (its files are not known, so all stay), psycopg.Error.
    """
    from forethought.batch.given import read_given

    if not await _has_jobs(saver):
        return 0
    named: set[str] = set()
    async for thread_id, kept in saver.stream("SELECT thread_id, given FROM forethought_jobs"):
        try:
            named.update(file.hash for file in read_given(kept, saver.cipher).files)
        except ValueError as error:
            raise StorageError(f"job {thread_id[:100]}: {error}") from error
    # Each is looked at again as it goes: it may have been submitted just now.
    query = "DELETE FROM forethought_files WHERE hash <> ALL(?::text[]) AND shared_at < now() - ?::interval "
    return len(await saver.rows(f"{query} RETURNING hash", (sorted(named), _YOUNG)))


async def _has_jobs(saver: ThreadSaver) -> bool:
    # The index that is made last. Nothing in an SQLite file is ever called so.
    return await saver.has_table("forethought_jobs_job")
