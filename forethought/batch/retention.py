"""Deleting the jobs of deleted threads, cancelled ones that are old, and files that no job names.

Needs neither the extra `scale` nor a queue, since `threads --prune` is for everybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from forethought.storage.saver import ThreadSaver

_DELETE_JOBS = """
DELETE FROM forethought_jobs
WHERE thread_id = ANY(?) OR (outcome = 'cancelled' AND ended_at < now() - ?::interval) RETURNING thread_id
"""
_DELETE_FILES = """
DELETE FROM forethought_files WHERE NOT EXISTS (SELECT 1 FROM forethought_jobs j WHERE hash = ANY(j.files))
"""


async def delete_jobs(saver: ThreadSaver, thread_ids: Sequence[str], older_than: timedelta) -> int:
    """Delete the jobs of these threads, old cancelled ones, and unused files. Returns how many jobs.

    Raises psycopg.Error.
    """
    if not await saver.has_table("forethought_jobs"):
        return 0
    deleted = await saver.rows(_DELETE_JOBS, (list(thread_ids), older_than))
    await saver.rows(_DELETE_FILES)
    return len(deleted)
