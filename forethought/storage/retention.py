"""Deleting threads, and stored files that nobody has used for as long.

A thread goes as a whole. Trimming its history is not offered: a growing channel is kept as what was added to
it, so that a checkpoint without its ancestors is not complete (LangGraph's own `aprune` refuses it too).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from langgraph.checkpoint.base.id import UUID

from forethought.storage.errors import StorageError
from forethought.storage.saver import ThreadSaver

_UUID_EPOCH = 0x01B21DD213814000
"""The year 1970 in UUID time: units of 100 nanoseconds since 1582."""
YOUNG_S = 3600.0
"""Maximum time between the storage of a run's files and its first checkpoint."""


async def delete_threads(
    saver: ThreadSaver, thread_ids: Sequence[str], unchanged_since: datetime
) -> dict[str, str]:
    """Delete threads. Returns those that stay, since a process runs them or has meanwhile, each with why."""
    skipped: dict[str, str] = {}
    for thread_id in thread_ids:
        try:
            async with saver.claim(thread_id):
                if await _newest(saver, thread_id) > unchanged_since.timestamp():
                    raise StorageError(
                        f"thread {thread_id[:100]} was resumed in the meantime; it is not deleted"
                    )
                await saver.adelete_thread(thread_id)
        except StorageError as error:
            skipped[thread_id] = str(error)
    return skipped


async def oldest_thread(saver: ThreadSaver) -> float:
    """When the oldest thread began, in seconds since 1970; infinity where there is none."""
    ((first,),) = await saver.rows("SELECT MIN(checkpoint_id) FROM checkpoints")
    return math.inf if first is None else _time_of(first)


async def _newest(saver: ThreadSaver, thread_id: str) -> float:
    query = "SELECT MAX(checkpoint_id) FROM checkpoints WHERE thread_id = ?"
    ((newest,),) = await saver.rows(query, (thread_id,))
    return -math.inf if newest is None else _time_of(newest)


def _time_of(checkpoint_id: str) -> float:
    return (UUID(hex=checkpoint_id).time - _UUID_EPOCH) / 1e7


def delete_files(folder: Path, unused_for: timedelta, needed_since: float) -> list[str]:
    """Delete the stored files that were neither stored nor read for that long. Returns their hashes.

    Files stay that the oldest thread may need: those used since it began, or shortly before.
    """
    oldest = min(time.time() - max(unused_for.total_seconds(), YOUNG_S), needed_since - YOUNG_S)
    deleted = []
    for path in sorted(folder.rglob("[0-9a-f]*")):
        # Looked at just before it goes: a run may use it meanwhile, and another process may delete it.
        with suppress(FileNotFoundError):
            if path.is_file() and path.stat().st_mtime < oldest:
                path.unlink()
                deleted.append(path.name)
    return deleted
