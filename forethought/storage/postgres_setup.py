"""Connecting to a Postgres server, and setting a database up: once, whichever process comes first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from forethought.storage.address import MISSING_EXTRA, Address
from forethought.storage.errors import NothingKept, StorageError, postgres_line
from forethought.storage.sealing import Sealer
from forethought.storage.stamp import TABLE, check_stamp, write_stamp

try:
    import psycopg
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg import AsyncConnection
    from psycopg.rows import dict_row, tuple_row
except ImportError as error:
    raise StorageError(MISSING_EXTRA, wrong_use=True) from error

from forethought.storage.advisory_locks import KEEPALIVES, lock_key

_CONNECT_S = 10
_SETTING_UP = lock_key("setting up")
_SETUP_TRIES = 1200
"""Twenty a second."""
_TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes", "checkpoint_migrations")
OPTIONS: dict[str, Any] = {
    "autocommit": True,
    "prepare_threshold": 0,
    "row_factory": dict_row,
    "connect_timeout": _CONNECT_S,
    "fallback_application_name": "forethought",
}


async def connect(address: Address) -> AsyncConnection[Any]:
    """A connection of its own. Raises StorageError."""
    try:
        return await connected(address.conninfo or "")
    except (psycopg.Error, OSError) as error:
        raise StorageError(postgres_line(error, address.shown)) from error


async def connected(conninfo: str) -> AsyncConnection[Any]:
    """A connection whose lost network is noticed. Raises psycopg.Error, OSError."""
    connection = await AsyncConnection.connect(conninfo, **{**OPTIONS, "row_factory": tuple_row})
    try:
        await connection.execute("; ".join(KEEPALIVES), prepare=False)
    except BaseException:
        await connection.close()
        raise
    return connection


async def prepare(address: Address, sealer: Sealer | None, create: bool, read_only: bool) -> None:
    """Check the database, and set it up where it is not. Raises StorageError, psycopg.Error."""
    connection = await connect(address)
    try:
        if await _lacking(connection, address, sealer):
            if read_only or not create:
                if not await tables(connection, ("checkpoints",)):
                    raise NothingKept(address.shown)
                if read_only:
                    return
            async with alone(address):
                await _set_up(connection, address, sealer)
    finally:
        await connection.close()


async def _lacking(connection: AsyncConnection[Any], address: Address, sealer: Sealer | None) -> bool:
    """Whether something is to be set up. Raises StorageError when the database is not to be used."""
    found = await tables(connection, (*_TABLES, "forethought_storage"))

    async def rows(query: str, given: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return await rows_of(connection, query, given)

    try:
        empty = "checkpoints" not in found or not await rows("SELECT thread_id FROM checkpoints LIMIT 1")
        unstamped = await check_stamp(rows, sealer, "forethought_storage" in found, empty)
        if not found.issuperset(_TABLES):
            return True
        newest = (await rows("SELECT MAX(v) FROM checkpoint_migrations"))[0][0]
    except StorageError as error:
        raise StorageError(f"the database {address.shown}: {error}") from error
    known = len(AsyncPostgresSaver.MIGRATIONS) - 1
    if newest is not None and newest > known:
        raise StorageError(
            f"the database {address.shown}: its tables are of a newer langgraph-checkpoint-postgres "
            f"(version {newest}, this one knows {known}): upgrade it, or name another database"
        )
    return unstamped or newest is None or newest < known


async def _set_up(connection: AsyncConnection[Any], address: Address, sealer: Sealer | None) -> None:
    """Make the tables, and stamp the database. Raises StorageError, psycopg.Error."""
    if not await _lacking(connection, address, sealer):
        return  # another process was first

    async def rows(query: str, given: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return await rows_of(connection, query, given)

    await AsyncPostgresSaver(connection).setup()
    await rows(TABLE)
    await write_stamp(rows, sealer)
    await _lacking(connection, address, sealer)


@asynccontextmanager
async def alone(address: Address) -> AsyncIterator[None]:
    """While no other process sets the database up: two that make a table at once fail.

    Asked for again and again: one that waits inside the server would keep an index from being made.
    """
    connection = await connect(address)
    try:
        for _ in range(_SETUP_TRIES):
            if (await rows_of(connection, "SELECT pg_try_advisory_lock(?)", (_SETTING_UP,)))[0][0]:
                break
            await asyncio.sleep(0.05)
        else:
            raise StorageError(f"the database {address.shown}: another process is setting it up; try again")
        yield
    finally:
        await connection.close()


async def tables(connection: AsyncConnection[Any], names: Sequence[str]) -> set[str]:
    """Those of the tables that are there."""
    query = "SELECT name FROM unnest(?::text[]) AS name WHERE to_regclass(name) IS NOT NULL"
    return {row[0] for row in await rows_of(connection, query, (list(names),))}


async def rows_of(
    connection: AsyncConnection[Any], query: str, given: Sequence[Any] = ()
) -> list[tuple[Any, ...]]:
    async with connection.cursor(row_factory=tuple_row) as cursor:
        await cursor.execute(query_of(query), given)
        return await cursor.fetchall() if cursor.description else []


def query_of(text: str) -> Any:
    """A query of ours as psycopg writes it: with %s for a parameter."""
    return text.replace("?", "%s")
