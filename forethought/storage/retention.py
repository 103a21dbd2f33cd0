"""Letting go of threads: their rows, and the stored files that only they named.

Each thread goes in one transaction, together with a note of the files that it named. Files go afterwards, and
their notes last: broken off anywhere, the next pruning goes on with the notes.

A thread goes as a whole. Trimming its history is not offered: a growing channel is kept as what was added to
it, so that a checkpoint without its ancestors is not complete (LangGraph's own `aprune` refuses it too).
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import suppress
from pathlib import Path

from forethought.storage.errors import StorageError
from forethought.storage.saver import ThreadSaver
from forethought.storage.serializer import plain_bytes

YOUNG_S = 3600.0
"""A file stored or asked for since then is kept: its run may not have written a checkpoint yet."""
_NOTES = "CREATE TABLE IF NOT EXISTS forethought_dropped (hash TEXT PRIMARY KEY)"
_HEX = re.compile(rb"[0-9a-f]{64,}")
_DIGITS = 64
_ASIDE = ".gone-"
"""How a file is called while it is looked at for the last time."""


async def erase(saver: ThreadSaver, thread_id: str, files: Path) -> int:
    """Delete a thread, and note which of the stored `files` it named. Returns the bytes of its contents.

    Raises StorageError when a process holds it.
    """
    async with saver.claim(thread_id):
        there = _stored(files)
        named: set[str] = set()
        freed = 0
        async for content in _contents(saver, "=", thread_id):
            freed += len(content)
            # What is damaged names nothing; its files stay.
            with suppress(StorageError):
                named |= _hashes(plain_bytes(saver.sealer, content), there)
        notes = [
            ("INSERT INTO forethought_dropped (hash) VALUES (?) ON CONFLICT (hash) DO NOTHING", (name,))
            for name in sorted(named)
        ]
        deletes = [(f"DELETE FROM {table} WHERE thread_id = ?", (thread_id,)) for table in saver.tables]
        await saver.transact([(_NOTES, ()), *notes, *deletes])
    return freed


async def has_left_files(saver: ThreadSaver) -> bool:
    """Whether files are noted: a pruning was broken off, or left those alone that were young."""
    return await saver.has_table("forethought_dropped") and bool(
        await saver.rows("SELECT 1 FROM forethought_dropped LIMIT 1")
    )


async def drop_files(saver: ThreadSaver, others: Sequence[ThreadSaver], files: Path) -> list[str]:
    """Delete the noted files that no thread of `saver` and `others` names any more; their hashes.

    Raises StorageError when a thread cannot be read: it might name any of them, so all stay.
    """
    _tidy(files)
    await saver.transact([(_NOTES, ())])
    noted = {str(row[0]) for row in await saver.rows("SELECT hash FROM forethought_dropped")}
    unnamed = set(noted)
    for each in (saver, *others) if unnamed else ():
        async for content in _contents(each, "<>", ""):
            unnamed -= _hashes(plain_bytes(each.sealer, content), unnamed)
            if not unnamed:
                break
    gone, young = [], set()
    for name in sorted(unnamed):
        if _remove(files / name):
            gone.append(name)
        elif (files / name).exists():
            young.add(name)
    done = [("DELETE FROM forethought_dropped WHERE hash = ?", (name,)) for name in sorted(noted - young)]
    await saver.transact(done)
    return gone


async def _contents(saver: ThreadSaver, compared: str, thread_id: str) -> AsyncIterator[bytes]:
    """What the serializer wrote for the threads whose id is `=` or `<>` this one."""
    for table, column in saver.contents:
        query = f"SELECT {column} FROM {table} WHERE thread_id {compared} ? AND {column} IS NOT NULL"
        async for row in saver.stream(query, (thread_id,)):
            if row[0]:
                yield bytes(row[0])


def _hashes(content: bytes, wanted: Collection[str]) -> set[str]:
    """Those of the hashes that stand in a content, whatever stands beside them."""
    found: set[str] = set()
    for run in _HEX.findall(content):
        found.update(
            name
            for at in range(len(run) - _DIGITS + 1)
            if (name := run[at : at + _DIGITS].decode()) in wanted
        )
    return found


def _stored(files: Path) -> set[str]:
    try:
        return {entry.name for entry in os.scandir(files)}
    except OSError:
        return set()


def _tidy(files: Path) -> None:
    """Put back what a killed pruning had set aside, and clear away what a killed run had half written."""
    for name in _stored(files):
        path = files / name
        with suppress(OSError):
            if name.startswith(_ASIDE):
                os.replace(path, files / name.removeprefix(_ASIDE))
            elif name.startswith(".new-") and not _is_young(path):
                path.unlink()


def _is_young(path: Path) -> bool:
    return time.time() - path.stat().st_mtime < YOUNG_S


def _remove(path: Path) -> bool:
    """Delete a file unless it is young. A process that wants it just now finds it, or writes it again."""
    aside = path.with_name(_ASIDE + path.name)
    try:
        os.replace(path, aside)
        if _is_young(aside):
            os.replace(aside, path)
            return False
        aside.unlink()
    except FileNotFoundError:
        return False
    return True
