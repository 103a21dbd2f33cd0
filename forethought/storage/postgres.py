"""Threads and experience in a Postgres database, on a pool of connections."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from forethought.storage.address import MISSING_EXTRA, Address
from forethought.storage.encryption import Cipher
from forethought.storage.errors import StorageError, is_postgres, postgres_line
from forethought.storage.layout import set_up
from forethought.storage.locks import hold
from forethought.storage.saver import ThreadSaver
from forethought.storage.serializer import thread_serializer

try:
    import psycopg
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg import AsyncConnection
    from psycopg.rows import dict_row, tuple_row
    from psycopg_pool import AsyncConnectionPool
except ImportError as error:
    raise StorageError(MISSING_EXTRA, wrong_use=True) from error

from forethought.storage.advisory_locks import AdvisoryLocks

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

# What troubles the pool is told by the error that it ends in, once.
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
Pool = AsyncConnectionPool[AsyncConnection[Any]]
_POOL = 4
"""Connections: the checkpointer uses one at a time, the Store another."""
_SETUP_S = 60.0
KEEPALIVES = (
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; "
    "SET tcp_user_timeout = 25000"
)
_OPTIONS: dict[str, Any] = {
    "autocommit": True,
    "prepare_threshold": 0,
    "row_factory": dict_row,
    "connect_timeout": 10,
    "fallback_application_name": "forethought",
}


class PostgresThreads(ThreadSaver, AsyncPostgresSaver):
    """Threads in a Postgres database."""

    contents = (("checkpoint_blobs", "blob"), ("checkpoint_writes", "blob"))
    inlines_texts = True

    def __init__(self, pool: Pool, address: Address, cipher: Cipher | None) -> None:
        super().__init__(pool, serde=thread_serializer(cipher))
        self.pool, self.shown, self.cipher = pool, address.shown, cipher
        self.locks = AdvisoryLocks(lambda: connect(address))

    async def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """See ThreadSaver."""
        async with self.pool.connection() as connection, connection.cursor(row_factory=tuple_row) as cursor:
            await cursor.execute(query.replace("?", "%s"), values)
            return await cursor.fetchall() if cursor.description else []

    async def has_table(self, name: str) -> bool:
        """See ThreadSaver."""
        return (await self.rows("SELECT to_regclass(?) IS NOT NULL", (name,)))[0][0] is True

    async def size(self) -> int:
        """See ThreadSaver."""
        names = ["checkpoints", "checkpoint_blobs", "checkpoint_writes"]
        query = "SELECT SUM(pg_total_relation_size(name::regclass))::bigint FROM unnest(?::text[]) AS name"
        return int((await self.rows(query, (names,)))[0][0])


async def connect(address: Address) -> AsyncConnection[Any]:
    """A connection of its own, whose lost network is noticed. Raises StorageError."""
    try:
        connection = await AsyncConnection.connect(
            address.conninfo or "", **{**_OPTIONS, "row_factory": tuple_row}
        )
        await connection.execute(KEEPALIVES, prepare=False)
        return connection
    except (psycopg.Error, OSError) as error:
        raise StorageError(postgres_line(error, address.shown)) from error


@asynccontextmanager
async def open_postgres_threads(
    address: Address, cipher: Cipher | None, *, create: bool
) -> AsyncIterator[PostgresThreads]:
    """The checkpointer on a server.

    Raises StorageError when it cannot be used or is not one of ours; psycopg.Error, which knows the
    address (`database_of`), when it fails later.
    """
    async with _open_pool(address) as pool:
        saver = PostgresThreads(pool, address, cipher)
        await set_up(saver, saver.setup, create=create)
        yield saver


@asynccontextmanager
async def open_postgres_experience(address: Address, *, create: bool) -> AsyncIterator[BaseStore]:
    """The Store on a server. Raises as `open_postgres_threads` does."""
    from langgraph.store.postgres.aio import AsyncPostgresStore

    async with _open_pool(address) as pool:
        saver, store = PostgresThreads(pool, address, None), AsyncPostgresStore(pool)
        if not create and not await saver.has_table("store"):
            raise StorageError(
                f"no experience yet in {address.shown}; teach the agent with /remember in chat",
                wrong_use=True,
            )
        async with hold(saver.locks, "setting up", _SETUP_S):
            await store.setup()
        async with store:
            yield store


@asynccontextmanager
async def _open_pool(address: Address) -> AsyncIterator[Pool]:
    """Connections to a database that can be reached."""
    await (await connect(address)).close()  # the pool would try again for its whole timeout
    try:
        async with AsyncConnectionPool(
            address.conninfo or "",
            min_size=1,
            max_size=_POOL,
            open=False,
            timeout=30,
            kwargs=_OPTIONS,
            check=AsyncConnectionPool.check_connection,
        ) as pool:
            yield pool
    except Exception as error:
        if is_postgres(error):
            vars(error)["database"] = address.shown
        raise
