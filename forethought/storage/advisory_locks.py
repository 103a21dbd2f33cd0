"""A lock a thread in Postgres: an advisory lock of the session that holds it, on whatever machine that is.

The server lets go of it when the session ends, and by TCP keepalives 25 s after a machine has lost its
network. The holder asks before every write whether it still has its session, and stops where it has not.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import psycopg
from psycopg import AsyncConnection

from forethought.storage.errors import StorageError

ANSWER_S = 10.0
"""Longest wait for the server to confirm a lock."""
_HELD = """
SELECT classid::bigint << 32 | objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND granted
AND objsubid = 1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
Connection = AsyncConnection[Any]


class AdvisoryLocks:
    """The threads that this process holds, on one connection that does nothing else."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]]) -> None:
        self._connect = connect
        self._connection: Connection | None = None
        self._held: dict[str, Connection] = {}
        self._busy = asyncio.Lock()

    async def acquire(self, thread_id: str) -> bool:
        """See ThreadLocks. Raises StorageError, psycopg.Error."""
        acquiring = asyncio.ensure_future(self._acquire(thread_id))
        try:
            return await asyncio.shield(acquiring)
        except asyncio.CancelledError:
            if await acquiring:
                await self._release(thread_id)
            raise

    async def release(self, thread_id: str) -> None:
        """See ThreadLocks. That of a lost connection is gone already."""
        await asyncio.shield(self._release(thread_id))

    async def check(self, thread_id: str) -> None:
        """See ThreadLocks."""
        connection = self._held.get(thread_id)
        if connection is not None and not await _is_alive(connection):
            shown = thread_id[:100]
            raise StorageError(
                f"thread {shown}: the connection that locked it was lost, and another process may have "
                f"resumed it; the work so far is saved; continue with: forethought resume {shown}"
            )

    async def locked(self, thread_ids: Iterable[str]) -> set[str]:
        """See ThreadLocks."""
        async with self._busy:
            cursor = await (await self._open()).execute(_HELD)
            keys = {row[0] for row in await cursor.fetchall()}
            await self._close_if_idle()
        return {thread_id for thread_id in thread_ids if lock_key(thread_id) in keys}

    async def _acquire(self, thread_id: str) -> bool:
        async with self._busy:
            if thread_id in self._held:
                return False
            connection = await self._open()
            cursor = await connection.execute("SELECT pg_try_advisory_lock(%s)", (lock_key(thread_id),))
            if locked := (await cursor.fetchone() or (False,))[0]:
                self._held[thread_id] = connection
            await self._close_if_idle()
            return bool(locked)

    async def _release(self, thread_id: str) -> None:
        async with self._busy:
            connection = self._held.pop(thread_id)
            if await _is_alive(connection):
                await connection.execute("SELECT pg_advisory_unlock(%s)", (lock_key(thread_id),))
            await self._close_if_idle()

    async def _open(self) -> Connection:
        if self._connection is None or not await _is_alive(self._connection):
            self._connection = await self._connect()
        return self._connection

    async def _close_if_idle(self) -> None:
        if not self._held and self._connection is not None:
            await self._connection.close()
            self._connection = None


async def _is_alive(connection: Connection) -> bool:
    """Whether the server answers on a connection; one that it does not is closed, and its locks with it."""
    try:
        async with asyncio.timeout(ANSWER_S):
            await connection.execute("SELECT 1")
    except (psycopg.Error, TimeoutError):
        await connection.close()
        return False
    return True


def lock_key(name: str) -> int:
    """The number of a name's lock in Postgres."""
    digest = hashlib.sha256(b"forethought thread " + name.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
