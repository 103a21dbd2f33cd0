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

from forethought.storage.errors import StorageError, ThreadLost

ANSWER_S = 10.0
"""Longest wait for the server's word that the lock is still held."""
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
        self._session = 0
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
        if connection is None:
            return
        try:
            session = await _ask(connection, "SELECT pg_backend_pid()")
        except (psycopg.Error, TimeoutError) as error:
            await connection.close()
            shown = thread_id[:100]
            raise ThreadLost(
                f"thread {shown}: the connection that held it for this process was lost, and another one may "
                f"have taken it up; what was done is kept: forethought resume {shown}"
            ) from error
        if session != self._session:
            raise StorageError(
                f"thread {thread_id[:100]} cannot be held: between here and the database stands a pool that "
                "shares sessions; name the server itself, or a pool in session mode"
            )

    async def locked(self, thread_ids: Iterable[str]) -> set[str]:
        """See ThreadLocks."""
        async with self._busy:
            connection = await self._open()
            try:
                keys = {row[0] for row in await (await connection.execute(_HELD)).fetchall()}
            finally:
                await self._close_if_idle()
        return {thread_id for thread_id in thread_ids if lock_key(thread_id) in keys}

    async def _acquire(self, thread_id: str) -> bool:
        async with self._busy:
            if thread_id in self._held:
                return False
            try:
                return await self._try(thread_id)
            except psycopg.OperationalError:
                if not self._held:
                    raise
                # The connection was lost, which nobody had noticed so far.
                return await self._try(thread_id)
            finally:
                await self._close_if_idle()

    async def _try(self, thread_id: str) -> bool:
        connection = await self._open()
        try:
            locked = await _ask(connection, "SELECT pg_try_advisory_lock(%s)", lock_key(thread_id))
        except TimeoutError as error:
            await connection.close()
            raise psycopg.OperationalError("the server does not answer: timeout expired") from error
        if locked:
            self._held[thread_id] = connection
        return bool(locked)

    async def _release(self, thread_id: str) -> None:
        async with self._busy:
            connection = self._held.pop(thread_id)
            try:
                if not connection.closed:
                    await _ask(connection, "SELECT pg_advisory_unlock(%s)", lock_key(thread_id))
            except (psycopg.Error, TimeoutError):
                await connection.close()  # and with it goes the lock
            await self._close_if_idle()

    async def _open(self) -> Connection:
        if self._connection is None or self._connection.closed:
            self._connection = await self._connect()
            self._session = await _ask(self._connection, "SELECT pg_backend_pid()")
        return self._connection

    async def _close_if_idle(self) -> None:
        if not self._held and self._connection is not None:
            await self._connection.close()
            self._connection = None


async def _ask(connection: Connection, query: str, *values: Any) -> Any:
    """The one value of a query. Raises TimeoutError."""
    async with asyncio.timeout(ANSWER_S):
        row = await (await connection.execute(query, values)).fetchone()
    return None if row is None else row[0]


def lock_key(name: str) -> int:
    """The number of a name's lock in Postgres."""
    digest = hashlib.sha256(b"forethought thread " + name.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
