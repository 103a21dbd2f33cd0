"""Threads and experience in SQLite files, opened so that several processes can use them."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiosqlite

from forethought.storage.encryption import Cipher
from forethought.storage.errors import StorageError
from forethought.storage.group_commit import GroupCommitSaver
from forethought.storage.layout import set_up
from forethought.storage.locks import FileLocks, hold
from forethought.storage.saver import ThreadSaver
from forethought.storage.serializer import thread_serializer

if TYPE_CHECKING:
    from langgraph.store.sqlite.aio import AsyncSqliteStore

_BUSY_S = 15.0
_COPIED = (
    ("checkpoints", "checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata", "<="),
    ("writes", "checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value", "<"),
)
"""Each table, its columns, and the checkpoints that are copied: what was done at the last is done again."""


class SqliteThreads(ThreadSaver, GroupCommitSaver):
    """Threads in an SQLite file."""

    contents = (("checkpoints", "checkpoint"), ("writes", "value"))

    def __init__(self, connection: aiosqlite.Connection, path: Path, cipher: Cipher | None) -> None:
        super().__init__(connection, serde=thread_serializer(cipher))
        self.path, self.shown, self.cipher, self.locks = path, str(path), cipher, FileLocks(path)

    @asynccontextmanager
    async def claim(self, thread_id: str) -> AsyncIterator[None]:
        """See ThreadSaver: all is on disk when it ends. Raises sqlite3.Error for a write that was lost."""
        async with super().claim(thread_id), self.deferring(thread_id):
            yield

    async def attach(self, path: Path) -> None:
        """Let `take_over` read the database at `path`, which must have the same key."""
        await self.rows("ATTACH DATABASE ? AS attached", (str(path),))

    async def take_over(self, thread_id: str, checkpoint_id: str, name: str) -> None:
        """Copy a thread of the attached database, as it was at a checkpoint, as the thread `name`."""
        for table, columns, compared in _COPIED:
            query = (
                f"INSERT INTO {table} (thread_id, {columns}) SELECT ?, {columns} FROM attached.{table} "
                f"WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id {compared} ?"
            )
            await self.rows(query, (name, thread_id, checkpoint_id))

    async def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """See ThreadSaver."""
        async with self.lock:
            async with self.conn.execute(query, values) as cursor:
                rows = [tuple(row) for row in await cursor.fetchall()]
            await self.conn.commit()
            return rows

    async def has_table(self, name: str) -> bool:
        """See ThreadSaver."""
        return bool(await self.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)))

    async def size(self) -> int:
        """See ThreadSaver."""
        files = (self.path.with_name(self.path.name + part) for part in ("", "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    async def shrink(self) -> None:
        """See ThreadSaver. Raises sqlite3.OperationalError: another process writes, the disk is full."""
        await self.rows("VACUUM")
        await self.rows("PRAGMA wal_checkpoint(TRUNCATE)")


@asynccontextmanager
async def open_sqlite_threads(
    path: Path, cipher: Cipher | None, *, create: bool
) -> AsyncIterator[SqliteThreads]:
    """The checkpointer on `path`, in WAL mode.

    Raises StorageError when it does not exist and is not to be made, or is not one of ours; sqlite3.Error,
    which knows the path (`database_of`), when it fails.
    """
    async with _connect(path, create=create, missing="no threads yet") as connection:
        saver = SqliteThreads(connection, path, cipher)
        await set_up(saver, saver.setup, create=create)
        saver.is_setup = True
        yield saver


@asynccontextmanager
async def open_sqlite_experience(path: Path, *, create: bool) -> AsyncIterator[AsyncSqliteStore]:
    """The Store on `path`; it has no index, since that needs an SQLite that loads extensions.

    Raises StorageError when it does not exist and is not to be made; sqlite3.Error when it fails.
    """
    from langgraph.store.sqlite.aio import AsyncSqliteStore

    opening = _connect(path, create=create, missing="no experience yet", isolation_level=None)
    async with opening as connection, AsyncSqliteStore(connection) as store:
        async with hold(FileLocks(path), "setting up", _BUSY_S):
            await store.setup()
        yield store


@asynccontextmanager
async def _connect(
    path: Path, *, create: bool, missing: str, isolation_level: str | None = ""
) -> AsyncIterator[aiosqlite.Connection]:
    _check_folder(path, create, missing)
    # sqlite3's own default of the level is "", which aiosqlite's signature does not know.
    options: Any = {"timeout": _BUSY_S, "isolation_level": isolation_level}
    try:
        async with aiosqlite.connect(path, **options) as connection:
            yield connection
    except sqlite3.Error as error:
        vars(error)["database"] = str(path)
        raise


def _check_folder(path: Path, create: bool, missing: str) -> None:
    """Make the file's folder. Raises StorageError where that fails, or the file is to be there."""
    if not path.exists() and not create:
        raise StorageError(
            f"{missing}: there is no database at {path}; check --db or FORETHOUGHT_DB", wrong_use=True
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"the database {path}: its folder cannot be created ({error.strerror}); "
            "choose another place with --db or FORETHOUGHT_DB"
        ) from error
