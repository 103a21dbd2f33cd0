"""Threads and lessons in SQLite files, opened so that several processes can use them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiosqlite
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from forethought.storage import byte_locks
from forethought.storage.errors import NothingKept, StorageError
from forethought.storage.saver import ThreadSaver
from forethought.storage.sealing import Sealer
from forethought.storage.serializer import ThreadSerializer
from forethought.storage.sqlite_file import Stamped, alone, connected, noted, rows_of

if TYPE_CHECKING:
    from langgraph.store.sqlite.aio import AsyncSqliteStore


class SqliteThreads(ThreadSaver, AsyncSqliteSaver):
    """Threads in an SQLite file."""

    tables = ("checkpoints", "writes")
    contents = (("checkpoints", "checkpoint"), ("writes", "value"))

    def __init__(self, connection: aiosqlite.Connection, path: Path, sealer: Sealer | None) -> None:
        super().__init__(connection, serde=ThreadSerializer(sealer))
        self.path, self.shown, self.sealer = path, str(path), sealer

    async def rows(self, query: str, given: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """See ThreadSaver."""
        async with self.lock:
            return await rows_of(self.conn, query, given)

    async def has_table(self, name: str) -> bool:
        """See ThreadSaver."""
        return bool(await self.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)))

    async def stream(self, query: str, given: Sequence[Any] = ()) -> AsyncIterator[tuple[Any, ...]]:
        """See ThreadSaver."""
        async with self.lock, self.conn.execute(query, given) as cursor:
            async for row in cursor:
                yield tuple(row)

    async def transact(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """See ThreadSaver."""
        async with self.lock:
            try:
                for statement, given in statements:
                    await self.conn.execute(statement, given)
                await self.conn.commit()
            except BaseException:
                await self.conn.rollback()
                raise

    async def size(self) -> int:
        """See ThreadSaver."""
        files = (self.path.with_name(self.path.name + part) for part in ("", "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    async def shrink(self) -> None:
        """See ThreadSaver. Raises sqlite3.OperationalError: another process writes, the disk is full."""
        async with self.lock:
            await self.conn.execute("VACUUM")
            async with self.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)") as cursor:
                await cursor.fetchall()

    async def setup(self) -> None:
        """See AsyncSqliteSaver; a database that is only read is left as it is."""
        if not self.is_setup:
            await super().setup()

    async def read_only(self) -> None:
        """Only read: make no table. Raises StorageError where there is none."""
        columns = {row[1] for row in await self.rows("PRAGMA table_info(writes)")}
        if not columns:
            raise NothingKept(self.shown)
        self._has_task_path = "task_path" in columns
        self.is_setup = True

    @asynccontextmanager
    async def claim(self, thread_id: str) -> AsyncIterator[None]:
        """See ThreadSaver."""
        async with byte_locks.hold(self.path, thread_id) as held:
            if not held:
                raise taken(thread_id)
            yield

    async def claimed(self, thread_ids: Iterable[str]) -> set[str]:
        """See ThreadSaver."""
        return {thread_id for thread_id in thread_ids if byte_locks.is_taken(self.path, thread_id)}


def taken(thread_id: str) -> StorageError:
    """Another process holds the thread."""
    return StorageError(f"thread {thread_id[:100]} is being run by another process; wait for it, or stop it")


@asynccontextmanager
async def open_sqlite_threads(
    path: Path, sealer: Sealer | None, *, create: bool, read_only: bool
) -> AsyncIterator[SqliteThreads]:
    """The checkpointer on `path`, in WAL mode and patient with other writers.

    Raises StorageError when it does not exist and is not to be made, or is not to be used; sqlite3.Error,
    with the path as a note, when it cannot be.
    """
    with noted(path):
        async with connected(path, create, read_only) as connection:
            saver = SqliteThreads(connection, path, sealer)
            wanted = Stamped(connection, path, sealer, ("checkpoints", "thread_id"))
            if read_only:
                await wanted.lacking()
                await saver.read_only()
            else:
                async with alone(path):
                    lacks = await wanted.lacking()
                    await saver.setup()
                    if lacks:
                        await wanted.write()
            yield saver


@asynccontextmanager
async def open_sqlite_lessons(
    path: Path, sealer: Sealer | None, *, create: bool
) -> AsyncIterator[AsyncSqliteStore]:
    """The Store on `path`, patient with other writers; it has no index, since that needs an SQLite that loads
    extensions.

    Raises StorageError when it does not exist and is not to be made, or is not to be used; sqlite3.Error
    when it cannot be.
    """
    from langgraph.store.sqlite.aio import AsyncSqliteStore

    with noted(path):
        async with connected(path, create, missing="no lessons yet", isolation_level=None) as connection:
            wanted = Stamped(connection, path, sealer, ("store", "key"))
            async with AsyncSqliteStore(connection) as store:
                async with alone(path):
                    lacks = await wanted.lacking()
                    await store.setup()
                    if lacks:
                        await wanted.write()
                yield store
