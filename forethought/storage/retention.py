"""Deleting threads, and stored files that nobody has used for as long.

A thread goes as a whole. Trimming its history is not offered: a growing channel is kept as what was added to
it, so that a checkpoint without its ancestors is not complete (LangGraph's own `aprune` refuses it too).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from forethought.storage.errors import StorageError
from forethought.storage.saver import ThreadSaver

YOUNG_S = 3600.0
"""A file used since then is kept in any case: its run may not have written a checkpoint yet."""


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


def delete_files(folder: Path, unused_for: timedelta) -> list[str]:
    """Delete the stored files that were neither stored nor read for that long. Returns their hashes."""
    oldest = time.time() - max(unused_for.total_seconds(), YOUNG_S)
    old = [path for path in sorted(folder.glob("[0-9a-f]*")) if path.stat().st_mtime < oldest]
    for path in old:
        path.unlink(missing_ok=True)
    return [path.name for path in old]
