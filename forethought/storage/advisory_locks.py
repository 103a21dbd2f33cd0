"""A lock a thread in Postgres: an advisory lock of the session that holds it, on whatever machine that is.

The server lets go of it when the session ends. A machine that has lost its network is a session that has not
ended: so the server asks every few seconds (TCP keepalives) and lets go after 25 s of silence, while the
holder asks before every write and stops at the first question that is not answered within 10.

A process that hangs (it is stopped, its machine is frozen) is a session that has not ended either, whose
machine may still answer. Who holds threads with nobody before it beats: `beat` says something on the session
every few seconds, under a name of its own, so that the server knows which of these have fallen silent
(`silent`), and `end` can end them. Woken up, such a holder has lost its threads and writes nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import psycopg
from psycopg import AsyncConnection

from forethought.storage.errors import StorageError, ThreadLost

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
_BEATS = "forethought, beating"
"""Name of a session that beats."""
_GRANTED = """
SELECT classid::bigint, objid::bigint, pid FROM pg_locks WHERE locktype = 'advisory' AND granted
AND objsubid = 1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_SILENT = f"""
SELECT a.pid, extract(epoch FROM clock_timestamp() - a.query_start)::float8 FROM pg_stat_activity a
WHERE a.application_name = '{_BEATS}' AND a.datname = current_database()
AND a.query_start < clock_timestamp() - ? * interval '1 s'
AND EXISTS (SELECT 1 FROM pg_locks l WHERE l.pid = a.pid AND l.locktype = 'advisory' AND l.granted)
"""
Connection = AsyncConnection[Any]
Rows = Callable[[str, Sequence[Any]], Awaitable[list[tuple[Any, ...]]]]


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
        self._waiting = 0
        """Calls of `take` under way, for which the connection stays."""

    async def take(self, thread_id: str, patience_s: float = PATIENCE_S, poll_s: float = _POLL_S) -> bool:
        """Hold a thread. False when another process, or this one, holds it for longer than `patience_s`; it
        is asked for every `poll_s`.

        Raises StorageError, psycopg.Error.
        """
        deadline = asyncio.get_running_loop().time() + patience_s
        self._waiting += 1
        got = False
        try:
            while not (got := await self._take(thread_id)):
                if asyncio.get_running_loop().time() >= deadline:
                    return False
                await asyncio.sleep(poll_s)
            return True
        finally:
            self._waiting -= 1
            if not got:
                await asyncio.shield(self._tidy())

    async def _take(self, thread_id: str) -> bool:
        async with self._opening:
            if thread_id in self._held:
                return False
            opened = self._connection
            try:
                return await self._locked(thread_id)
            except psycopg.OperationalError:
                if opened is None or self._connection is not opened or not opened.closed:
                    raise
                # It was lost, which nobody had noticed so far. What is held on it is lost too.
                await opened.close()
                return await self._locked(thread_id)

    async def _locked(self, thread_id: str) -> bool:
        connection = await self._opened()
        try:
            async with asyncio.timeout(ANSWER_S):
                got = await _one(connection, "SELECT pg_try_advisory_lock(%s)", (lock_key(thread_id),))
        except (asyncio.CancelledError, TimeoutError) as error:
            # It may have been given meanwhile.
            await asyncio.shield(self._unlock(connection, thread_id))
            if isinstance(error, TimeoutError):
                raise _unanswered() from error
            raise
        if got:
            self._held[thread_id] = connection
        return bool(got)

    async def give_back(self, thread_id: str) -> None:
        """Let go of a thread that `take` gave, also when cancelled. That of a lost connection is gone
        already."""
        await asyncio.shield(self._give_back(thread_id))

    async def _give_back(self, thread_id: str) -> None:
        async with self._opening:
            await self._unlock(self._held.pop(thread_id), thread_id)

    async def _unlock(self, connection: Connection, thread_id: str) -> None:
        try:
            if not connection.closed:
                async with asyncio.timeout(ANSWER_S):
                    await connection.execute("SELECT pg_advisory_unlock(%s)", (lock_key(thread_id),))
        except (psycopg.Error, TimeoutError):
            # With the connection goes the lock.
            await connection.close()
        await self._close_if_idle()

    async def beat(self) -> None:
        """Tell the server that this process lives, as far as it holds threads. Raises psycopg.Error."""
        connection = self._connection
        if not self._held or connection is None or connection.closed:
            return
        try:
            async with asyncio.timeout(ANSWER_S):
                await connection.execute(f"SET application_name = '{_BEATS}'")
        except TimeoutError as error:
            raise _unanswered() from error

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

    def _lost(self, thread_id: str) -> ThreadLost:
        shown = thread_id[:100]
        return ThreadLost(
            f"thread {shown}: the connection that held it for this process was lost, and another one may "
            f"have taken it up; what was done is kept: {self._go_on.format(thread=shown)}"
        )

    async def _opened(self) -> Connection:
        if self._connection is None or self._connection.closed:
            connection = await self._connect()
            try:
                self._session = await _one(connection, "SELECT pg_backend_pid()")
            except BaseException:
                await connection.close()
                raise
            self._connection = connection
        return self._connection

    async def _tidy(self) -> None:
        async with self._opening:
            await self._close_if_idle()

    async def _close_if_idle(self) -> None:
        if not self._held and not self._waiting and self._connection is not None:
            await self._connection.close()
            self._connection = None


async def silent(rows: Rows, for_s: float) -> dict[int, float]:
    """Seconds since the last word of each session that holds threads, beats, and has been silent that long.

    A session of another user is told of to who may read all of the server's statistics.
    """
    return {row[0]: row[1] for row in await rows(_SILENT, (for_s,))}


async def end(rows: Rows, session: int) -> bool:
    """End a session, and with it its locks; False where this user may not."""
    try:
        return bool((await rows("SELECT pg_terminate_backend(?)", (session,)))[0][0])
    except psycopg.errors.InsufficientPrivilege:
        return False


def _unanswered() -> psycopg.OperationalError:
    return psycopg.OperationalError("the server does not answer: timeout expired")


async def _one(connection: Connection, query: str, given: tuple[Any, ...] = ()) -> Any:
    row = await (await connection.execute(query, given)).fetchone()
    return None if row is None else row[0]


def lock_key(name: str) -> int:
    """The number that Postgres knows the lock of a name by."""
    digest = hashlib.sha256(b"forethought thread " + name.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


async def holders(rows: Rows) -> dict[int, int]:
    """By key: the session that holds the lock, of all that are held in this database."""
    return {key_of(high, low): session for high, low, session in await rows(_GRANTED, ())}


def key_of(high: int, low: int) -> int:
    """The key of a lock that pg_locks tells of in halves (classid, objid)."""
    return int.from_bytes(high.to_bytes(4, "big") + low.to_bytes(4, "big"), "big", signed=True)
