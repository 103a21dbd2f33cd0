"""A lock a thread beside an SQLite file: the operating system's, so it ends with the process.

A byte of one file a thread: nothing piles up beside the database. The system's locks belong to the process
and all go as soon as it closes the file anywhere; so a process opens it once, and knows itself what it holds.

No call waits: who is patient asks again (`hold`). So a task that is cancelled holds what it was told that it
holds, and nothing else.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

PATIENCE_S = 0.5
"""Somebody who only looks whether a thread is held holds it for a moment."""
_POLL_S = 0.02
_guard = threading.Lock()
_open: dict[Path, _LockFile] = {}


class _LockFile:
    """The lock file of a database, open while this process holds a thread of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self.held: set[str] = set()


@asynccontextmanager
async def hold(database: Path, thread_id: str, patience_s: float = PATIENCE_S) -> AsyncIterator[bool]:
    """Hold a thread; yields False when a process, perhaps this one, still does after that long.

    Raises OSError.
    """
    deadline = asyncio.get_running_loop().time() + patience_s
    while not (held := take(database, thread_id)):
        if asyncio.get_running_loop().time() >= deadline:
            break
        await asyncio.sleep(_POLL_S)
    try:
        yield held
    finally:
        if held:
            give_back(database, thread_id)


def take(database: Path, thread_id: str) -> bool:
    """Hold a thread. False when a process, perhaps this one, does. Raises OSError."""
    path = _lock_path(database)
    with _guard:
        file = _open.get(path) or _LockFile(path)
        _open[path] = file
        if thread_id not in file.held and _lock_byte(file.descriptor, _place(thread_id)):
            file.held.add(thread_id)
            return True
        _close_if_idle(file)
        return False


def give_back(database: Path, thread_id: str) -> None:
    """Let go of a thread that `take` gave."""
    with _guard:
        file = _open[_lock_path(database)]
        file.held.discard(thread_id)
        _unlock_byte(file.descriptor, _place(thread_id))
        _close_if_idle(file)


def is_taken(database: Path, thread_id: str) -> bool:
    """Whether some process holds the thread. A lock file that cannot be opened tells nothing: False."""
    path = _lock_path(database)
    with _guard:
        if path in _open:
            return thread_id in _open[path].held or _probe(_open[path].descriptor, thread_id)
        try:
            descriptor = os.open(path, os.O_RDWR)
        except OSError:
            return False
        try:
            return _probe(descriptor, thread_id)
        finally:
            os.close(descriptor)


def _probe(descriptor: int, thread_id: str) -> bool:
    place = _place(thread_id)
    if not _lock_byte(descriptor, place):
        return True
    _unlock_byte(descriptor, place)
    return False


def _close_if_idle(file: _LockFile) -> None:
    if not file.held:
        os.close(file.descriptor)
        del _open[file.path]


def _lock_path(database: Path) -> Path:
    """By the real path: a link to the database is the same database."""
    real = database.resolve()
    return real.with_name(real.name + "-threads")


def _place(thread_id: str) -> int:
    return int.from_bytes(hashlib.sha256(thread_id.encode("utf-8", "replace")).digest()[:4], "big")


if sys.platform == "win32":
    import msvcrt

    def _lock_byte(descriptor: int, place: int) -> bool:
        os.lseek(descriptor, place, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock_byte(descriptor: int, place: int) -> None:
        os.lseek(descriptor, place, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock_byte(descriptor: int, place: int) -> bool:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def _unlock_byte(descriptor: int, place: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, place)
