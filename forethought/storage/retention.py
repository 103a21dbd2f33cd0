"""Deleting threads, and stored files that nobody has used for as long.

A thread goes as a whole. Trimming its history is not offered: a growing channel is kept as what was added to
it, so that a checkpoint without its ancestors is not complete (LangGraph's own `aprune` refuses it too).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from langgraph.checkpoint.base.id import UUID

from forethought.storage.errors import StorageError
from forethought.storage.saver import ThreadSaver

_UUID_EPOCH = 0x01B21DD213814000
"""1970 in the time of a UUID: 100 nanoseconds each since 1582."""
YOUNG_S = 3600.0
"""A run stores its files before it writes its first checkpoint: at most so much earlier."""


async def delete_threads(saver: ThreadSaver, thread_ids: Sequence[str]) -> dict[str, str]:
    """Delete threads. Returns those that stay since some process runs them, each with the reason."""
    skipped: dict[str, str] = {}
    for thread_id in thread_ids:
        try:
            async with saver.claim(thread_id):
                await saver.adelete_thread(thread_id)
        except StorageError as error:
            skipped[thread_id] = str(error)
    return skipped


async def oldest_thread(saver: ThreadSaver) -> float:
    """When the oldest thread began, in seconds since 1970; infinity where there is none."""
    ((first,),) = await saver.rows("SELECT MIN(checkpoint_id) FROM checkpoints")
    return math.inf if first is None else (UUID(hex=first).time - _UUID_EPOCH) / 1e7


def delete_files(folder: Path, unused_for: timedelta, needed_since: float) -> list[str]:
    """Delete the stored files that were neither stored nor read for that long. Returns their hashes.

    Files stay that the oldest thread may need: those used since it began, or shortly before.
    """
    oldest = min(time.time() - max(unused_for.total_seconds(), YOUNG_S), needed_since - YOUNG_S)
    kept = [path for path in sorted(folder.rglob("[0-9a-f]*")) if path.is_file()]
    old = [path for path in kept if path.stat().st_mtime < oldest]
    for path in old:
        path.unlink(missing_ok=True)
    return [path.name for path in old]
