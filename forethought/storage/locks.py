"""A lock a thread, held by one process: the protocol of both databases, and SQLite's."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout

_POLL_S = 0.02


class ThreadLocks(Protocol):
    """The threads that this process holds. The lock ends with the process, however it ends."""

    async def acquire(self, thread_id: str) -> bool:
        """Hold a thread, without waiting. False when a process, perhaps this one, does."""
        ...

    async def release(self, thread_id: str) -> None:
        """Let go of a thread that `acquire` gave."""
        ...

    async def check(self, thread_id: str) -> None:
        """Raises StorageError when the thread was held and is no longer."""
        ...

    async def locked(self, thread_ids: Iterable[str]) -> set[str]:
        """Those of the threads that some process holds now."""
        ...


@asynccontextmanager
async def hold(locks: ThreadLocks, thread_id: str, wait_s: float = 0.5) -> AsyncIterator[bool]:
    """Hold a thread; yields False when another process still does after `wait_s`."""
    deadline = asyncio.get_running_loop().time() + wait_s
    while not (held := await locks.acquire(thread_id)):
        if asyncio.get_running_loop().time() >= deadline:
            break
        await asyncio.sleep(_POLL_S)
    try:
        yield held
    finally:
        if held:
            await locks.release(thread_id)


class FileLocks:
    """Locks beside an SQLite file: a file a thread that is held, in a folder of their own."""

    def __init__(self, database: Path) -> None:
        # By the real path: a link to the database is the same database.
        real = database.resolve()
        self._folder = real.with_name(real.name + "-locks")
        self._held: dict[str, FileLock] = {}

    async def acquire(self, thread_id: str) -> bool:
        """See ThreadLocks. Raises OSError."""
        self._folder.mkdir(exist_ok=True)
        lock = FileLock(self._path(thread_id), thread_local=False)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            return False
        self._held[thread_id] = lock
        return True

    async def release(self, thread_id: str) -> None:
        """See ThreadLocks."""
        lock = self._held.pop(thread_id)
        # Deleted while it is held: whoever opened it meanwhile finds it gone and tries again. Not on Windows.
        with suppress(OSError):
            os.unlink(lock.lock_file)
        lock.release()

    async def check(self, thread_id: str) -> None:
        """See ThreadLocks: the operating system's lock is never lost."""

    async def locked(self, thread_ids: Iterable[str]) -> set[str]:
        """See ThreadLocks. A folder that cannot be written to tells nothing."""
        locked: set[str] = set()
        for thread_id in thread_ids:
            with suppress(OSError):
                if not self._has_file(thread_id):
                    continue
                if await self.acquire(thread_id):
                    await self.release(thread_id)
                else:
                    locked.add(thread_id)
        return locked

    def _has_file(self, thread_id: str) -> bool:
        return self._path(thread_id).exists()

    def _path(self, thread_id: str) -> Path:
        return self._folder / hashlib.sha256(thread_id.encode("utf-8", "replace")).hexdigest()[:32]
