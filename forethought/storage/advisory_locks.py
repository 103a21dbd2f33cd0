"""A lock a thread in Postgres: an advisory lock of the session that holds it, on whatever machine that is.

The server lets go of it when the session ends. A machine that has lost its network is a session that has not
ended: so the server asks every few seconds (TCP keepalives) and lets go after 25 s of silence, while the
holder asks before every write and stops at the first question that is not answered within 10.
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
"""Longest wait for the server's word that the lock is still held."""
PATIENCE_S = 0.5
"""How long a lock is asked for that another holds: one that was just given up, say."""
_POLL_S = 0.05
KEEPALIVES = (
    "SET tcp_keepalives_idle = 10",
    "SET tcp_keepalives_interval = 5",
    "SET tcp_keepalives_count = 3",
    "SET tcp_user_timeout = 25000",
)
Connection = AsyncConnection[Any]


class AdvisoryLocks:
    """The threads that this process holds, on one connection that does nothing else."""

    def __init__(
        self, connect: Callable[[], Awaitable[Connection]], go_on: str = "forethought resume {thread}"
    ) -> None:
        """`go_on` says how a thread is gone on with whose lock was lost."""
        self._connect = connect
        self._go_on = go_on
        self._connection: Connection | None = None
        self._session = 0
        self._held: dict[str, Connection] = {}
        self._opening = asyncio.Lock()

    async def take(self, thread_id: str, patience_s: float = PATIENCE_S) -> bool:
        """Hold a thread. False when another process, or this one, holds it for longer than `patience_s`.

        Raises StorageError, psycopg.Error.
        """
        deadline = asyncio.get_running_loop().time() + patience_s
        while not await self._take(thread_id):
            if asyncio.get_running_loop().time() >= deadline:
                return False
            await asyncio.sleep(_POLL_S)
        return True

    async def _take(self, thread_id: str) -> bool:
        async with self._opening:
            if thread_id in self._held:
                return False
            connection = await self._opened()
            if await _one(connection, "SELECT pg_try_advisory_lock(%s)", (lock_key(thread_id),)):
                self._held[thread_id] = connection
                return True
            await self._close_if_idle()
            return False

    async def give_back(self, thread_id: str) -> None:
        """Let go of a thread that `take` gave. That of a lost connection is gone already."""
        async with self._opening:
            connection = self._held.pop(thread_id)
            try:
                if not connection.closed:
                    async with asyncio.timeout(ANSWER_S):
                        await connection.execute("SELECT pg_advisory_unlock(%s)", (lock_key(thread_id),))
            except (psycopg.Error, TimeoutError):
                # With the connection goes the lock.
                await connection.close()
            await self._close_if_idle()

    async def check(self, thread_id: str) -> None:
        """Raises StorageError when the thread was held and is no longer."""
        connection = self._held.get(thread_id)
        if connection is None:
            return
        try:
            async with asyncio.timeout(ANSWER_S):
                session = await _one(connection, "SELECT pg_backend_pid()")
        except (psycopg.Error, TimeoutError) as error:
            await connection.close()
            raise self._lost(thread_id) from error
        if session != self._session:
            raise StorageError(
                f"thread {thread_id[:100]} cannot be held: between here and the database stands a pool that "
                "shares sessions; name the server itself, or a pool in session mode"
            )

    def _lost(self, thread_id: str) -> StorageError:
        shown = thread_id[:100]
        return StorageError(
            f"thread {shown}: the connection that held it for this process was lost, and another one may "
            f"have taken it up; what was done is kept: {self._go_on.format(thread=shown)}"
        )

    async def _opened(self) -> Connection:
        if self._connection is None or self._connection.closed:
            self._connection = await self._connect()
            self._session = await _one(self._connection, "SELECT pg_backend_pid()")
        return self._connection

    async def _close_if_idle(self) -> None:
        if not self._held and self._connection is not None:
            await self._connection.close()
            self._connection = None


async def _one(connection: Connection, query: str, given: tuple[Any, ...] = ()) -> Any:
    row = await (await connection.execute(query, given)).fetchone()
    return None if row is None else row[0]


def lock_key(name: str) -> int:
    """The number that Postgres knows the lock of a name by."""
    digest = hashlib.sha256(b"forethought thread " + name.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def held_keys(rows: Iterable[tuple[int, int]]) -> set[int]:
    """The lock keys of rows (classid, objid) of pg_locks, which holds them in halves."""
    return {
        int.from_bytes(high.to_bytes(4, "big") + low.to_bytes(4, "big"), "big", signed=True)
        for high, low in rows
    }
