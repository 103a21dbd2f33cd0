"""Opening an SQLite file: made or only read, patient with other writers, checked and stamped."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiosqlite

from forethought.storage import byte_locks
from forethought.storage.errors import StorageError
from forethought.storage.sealing import Sealer
from forethought.storage.stamp import TABLE, check_stamp, write_stamp

_BUSY_MS = 15_000


@contextmanager
def noted(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        error.add_note(str(path))
        raise


@asynccontextmanager
async def connected(
    path: Path,
    create: bool,
    read_only: bool = False,
    missing: str = "no threads yet",
    isolation_level: str | None = "",
) -> AsyncIterator[aiosqlite.Connection]:
    target = _readable(path, missing) if read_only else _writable(path, create, missing)
    # The default of sqlite3 itself is "", which aiosqlite's signature does not know.
    options: Any = {"isolation_level": isolation_level}
    async with aiosqlite.connect(target, timeout=_BUSY_MS / 1000, uri=True, **options) as connection:
        await connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
        yield connection


def _writable(path: Path, create: bool, missing: str) -> str:
    """The file as SQLite's address. Raises StorageError, sqlite3.Error."""
    if not create and not path.exists():
        raise _no_database(path, missing)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"the database of threads {path}: its folder cannot be made ({error.strerror}); "
            "choose another place with --db or FORETHOUGHT_DB"
        ) from error
    target = _address(path, "rwc")
    _try(target)
    return target


def _readable(path: Path, missing: str) -> str:
    """The file as SQLite's address, to be read only. Raises StorageError, sqlite3.Error.

    WAL mode wants to write beside the file even to read it. Where that is not allowed and nobody has left
    anything there, nobody writes either.
    """
    if not path.exists():
        raise _no_database(path, missing)
    target = _address(path, "ro")
    try:
        _try(target)
    except sqlite3.OperationalError:
        if path.with_name(path.name + "-wal").exists():
            raise
        target = _address(path, "ro", "&immutable=1")
        _try(target)
    return target


def _address(path: Path, mode: str, more: str = "") -> str:
    return f"file:{quote(str(path.absolute()))}?mode={mode}{more}"


def _try(target: str) -> None:
    """Read the file. Where it cannot be opened, aiosqlite's thread would complain of a closed event loop."""
    connection = sqlite3.connect(target, uri=True, timeout=_BUSY_MS / 1000)
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    finally:
        connection.close()


def _no_database(path: Path, missing: str) -> StorageError:
    return StorageError(f"{missing}: there is no database at {path}", wrong_use=True)


async def rows_of(
    connection: aiosqlite.Connection, query: str, given: Sequence[Any] = ()
) -> list[tuple[Any, ...]]:
    async with connection.execute(query, given) as cursor:
        found = [tuple(row) for row in await cursor.fetchall()]
    if connection.in_transaction:
        await connection.commit()
    return found


@asynccontextmanager
async def alone(path: Path) -> AsyncIterator[None]:
    """While no other process sets the file up: two that do so at once fail, whatever they wait for otherwise.

    Raises StorageError when another one does so for long.
    """
    async with byte_locks.hold(path, "setting up", _BUSY_MS / 1000) as held:
        if not held:
            raise StorageError(f"the database of threads {path}: another process is setting it up; try again")
        yield


@dataclass(frozen=True)
class Stamped:
    """A file and its stamp."""

    connection: aiosqlite.Connection
    path: Path
    sealer: Sealer | None
    content: tuple[str, str]
    """A table that holds something once the file is in use, and a column of it."""

    async def lacking(self) -> bool:
        """Whether it lacks its stamp. Raises StorageError when the file is not to be used."""
        table, column = self.content
        tables = {row[0] for row in await self._rows("SELECT name FROM sqlite_master")}
        empty = table not in tables or not await self._rows(f"SELECT {column} FROM {table} LIMIT 1")
        try:
            return await check_stamp(self._rows, self.sealer, "forethought_storage" in tables, empty)
        except StorageError as error:
            raise StorageError(f"the database of threads {self.path}: {error}") from error

    async def write(self) -> None:
        """Give it one. Raises StorageError when another process was first, with another key."""
        await self._rows(TABLE)
        await write_stamp(self._rows, self.sealer)
        await self.lacking()

    async def _rows(self, query: str, given: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return await rows_of(self.connection, query, given)
