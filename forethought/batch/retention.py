"""Deleting jobs that have ended, once their threads are gone, and files that no job names.

Needs neither the extra `scale` nor a queue, since `threads --prune` is for everybody.
"""

from __future__ import annotations

from datetime import timedelta

from forethought.batch import tables
from forethought.storage.saver import ThreadSaver

_ENDED = ["done", "failed", "cancelled"]
_OPEN = f"SELECT f.thread_id, {tables.STATE} FROM {tables.JOINED} WHERE {tables.STATE} <> ALL(?::text[])"
_DELETE_JOBS = f"""
DELETE FROM forethought_jobs WHERE thread_id IN (
    SELECT f.thread_id FROM {tables.JOINED} WHERE {tables.STATE} = ANY(?::text[])
    AND coalesce(f.ended_at, f.submitted_at) < now() - ?::interval
    AND NOT EXISTS (SELECT 1 FROM checkpoints c WHERE c.thread_id = f.thread_id)
) RETURNING thread_id
"""
_DELETE_FILES = """
DELETE FROM forethought_files WHERE shared_at < now() - interval '1 hour'
AND NOT EXISTS (SELECT 1 FROM forethought_jobs j WHERE hash = ANY(j.files))
"""


async def open_jobs(saver: ThreadSaver) -> dict[str, str]:
    """Jobs that have not ended, or wait for a person, by thread: their states. Raises psycopg.Error."""
    if not await _has_jobs(saver):
        return {}
    return {str(thread_id): str(state) for thread_id, state in await saver.rows(_OPEN, (_ENDED,))}


async def delete_jobs(saver: ThreadSaver, older_than: timedelta) -> int:
    """Delete the jobs that ended that long ago and have no thread, and unused files. Returns how many jobs.

    Raises psycopg.Error.
    """
    if not await _has_jobs(saver):
        return 0
    gone = await saver.rows(_DELETE_JOBS, (_ENDED, older_than))
    await saver.rows(_DELETE_FILES)
    return len(gone)


async def _has_jobs(saver: ThreadSaver) -> bool:
    return await saver.has_table("forethought_jobs")
