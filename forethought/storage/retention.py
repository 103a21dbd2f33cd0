"""Deleting threads, with the stored files that only they named.

A thread goes as a whole. Trimming its history is not offered: a growing channel is kept as what was added to
it, so that a checkpoint without its ancestors is not complete (LangGraph's own `aprune` refuses it too).
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from forethought.storage.errors import StorageError
from forethought.storage.saver import ThreadSaver

YOUNG_S = 3600.0
"""A file stored or asked for since then is kept: its run may not have written a checkpoint yet."""
_HASH = re.compile(rb"(?=([0-9a-f]{64}))")


@dataclass
class Deletion:
    """What was deleted, and what was not and why."""

    files: list[str] = field(default_factory=list)
    """Hashes of the stored files that went."""
    skipped: list[str] = field(default_factory=list)
    """Threads that stay."""
    problems: list[str] = field(default_factory=list)


async def delete_threads(saver: ThreadSaver, thread_ids: Sequence[str], files: Path | None) -> Deletion:
    """Delete threads, and those of the stored `files` that no other thread names any more.

    A thread that some process runs stays. Killed on the way, some of the files stay behind.
    """
    done = Deletion()
    named: set[str] = set()
    for thread_id in thread_ids:
        try:
            async with saver.claim(thread_id):
                hashes = await _named_files(saver, thread_id) if files else set()
                await saver.adelete_thread(thread_id)
                named |= hashes
        except StorageError as error:
            done.skipped.append(thread_id)
            done.problems.append(str(error))
    if files is None:
        return done
    try:
        if named:
            async for content in _contents(saver, "<>", ""):
                named -= _hashes(content)
    except StorageError as error:
        # It might name any of them.
        done.problems.append(f"{error}; the stored files stay")
        return done
    done.files = [name for name in sorted(named) if _delete_file(files / name)]
    return done


async def _named_files(saver: ThreadSaver, thread_id: str) -> set[str]:
    """The hashes in a thread; none in one that cannot be read, whose files stay."""
    named: set[str] = set()
    try:
        async for content in _contents(saver, "=", thread_id):
            named |= _hashes(content)
    except StorageError:
        return set()
    return named


async def _contents(saver: ThreadSaver, compared: str, thread_id: str) -> AsyncIterator[bytes]:
    """What the serializer wrote for the threads whose id is `=` or `<>` this one, in plain."""
    for table, column in saver.contents:
        query = f"SELECT {column} FROM {table} WHERE thread_id {compared} ? AND {column} IS NOT NULL"
        async for row in saver.stream(query, (thread_id,)):
            if content := bytes(row[0]):
                yield saver.cipher.decrypt("aes", content) if saver.cipher else content


def _hashes(content: bytes) -> set[str]:
    """Whatever could be a file's hash, also where other such digits stand beside it."""
    return {match.decode() for match in _HASH.findall(content)}


def _delete_file(path: Path) -> bool:
    """Delete a file unless it is young. Returns whether it went."""
    try:
        if time.time() - path.stat().st_mtime < YOUNG_S:
            return False
        path.unlink()
    except FileNotFoundError:
        return False
    return True
