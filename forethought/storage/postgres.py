"""Threads and lessons in a Postgres database, on a pool of connections."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from forethought.storage.address import MISSING_EXTRA, Address
from forethought.storage.errors import StorageError, is_postgres
from forethought.storage.saver import ThreadSaver
from forethought.storage.sealing import Sealer
from forethought.storage.serializer import OutOfLine, ThreadSerializer

try:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg import AsyncConnection
    from psycopg.rows import tuple_row
    from psycopg_pool import AsyncConnectionPool
except ImportError as error:
    raise StorageError(MISSING_EXTRA, wrong_use=True) from error

from forethought.storage.advisory_locks import KEEPALIVES, AdvisoryLocks, holders, lock_key
from forethought.storage.postgres_setup import OPTIONS, alone, connect, prepare, query_of, rows_of, tables

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
    from langgraph.store.base import BaseStore

# What troubles the pool is told by the error that it ends in, once.
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
Pool = AsyncConnectionPool[AsyncConnection[Any]]
_POOL = 4
"""Connections: the checkpointer uses one at a time, the Store another."""


class PostgresThreads(ThreadSaver, AsyncPostgresSaver):
    """Threads in a Postgres database."""

    tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
    contents = (("checkpoint_blobs", "blob"), ("checkpoint_writes", "blob"))

    def __init__(self, pool: Pool, address: Address, sealer: Sealer | None) -> None:
        super().__init__(pool, serde=ThreadSerializer(sealer))
        self.pool, self.shown, self.sealer = pool, address.shown, sealer
        self._locks = AdvisoryLocks(lambda: connect(address))

    async def rows(self, query: str, given: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """See ThreadSaver."""
        async with self.pool.connection() as connection:
            return await rows_of(connection, query, given)

    async def has_table(self, name: str) -> bool:
        """See ThreadSaver."""
        return (await self.rows("SELECT to_regclass(?) IS NOT NULL", (name,)))[0][0] is True

    async def stream(self, query: str, given: Sequence[Any] = ()) -> AsyncIterator[tuple[Any, ...]]:
        """See ThreadSaver."""
        async with (
            self.pool.connection() as connection,
            connection.transaction(),
            connection.cursor("threads", row_factory=tuple_row) as cursor,
        ):
            await cursor.execute(query_of(query), given)
            async for row in cursor:
                yield row

    async def transact(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """See ThreadSaver."""
        async with self.pool.connection() as connection, connection.transaction():
            for statement, given in statements:
                await connection.execute(query_of(statement), given)

    async def size(self) -> int:
        """See ThreadSaver."""
        query = "SELECT SUM(pg_total_relation_size(name::regclass))::bigint FROM unnest(?::text[]) AS name"
        return int((await self.rows(query, (list(self.tables),)))[0][0])

    async def shrink(self) -> None:
        """See ThreadSaver. Postgres keeps the space of what was deleted for what comes next."""
        async with self.pool.connection() as connection:
            await connection.execute(f"VACUUM {', '.join(self.tables)}")

    @asynccontextmanager
    async def claim(self, thread_id: str) -> AsyncIterator[None]:
        """See ThreadSaver."""
        if not await self._locks.take(thread_id):
            raise StorageError(
                f"thread {thread_id[:100]} is being run by another process; wait for it, or stop it"
            )
        try:
            yield
        finally:
            await self._locks.give_back(thread_id)

    async def claimed(self, thread_ids: Iterable[str]) -> set[str]:
        """See ThreadSaver."""
        held = await holders(self.rows)
        return {thread_id for thread_id in thread_ids if lock_key(thread_id) in held}

    async def check_held(self, thread_id: str) -> None:
        """See ThreadSaver."""
        await self._locks.check(thread_id)

    async def beat(self) -> None:
        """Tell the server that the process that holds threads lives: see `AdvisoryLocks.beat`."""
        await self._locks.beat()

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """See ThreadSaver. Texts go where all else goes.

        LangGraph would write them into the checkpoint's own row as JSON: in plain, and without NUL.
        """
        values = {
            name: OutOfLine(value) if isinstance(value, str) else value
            for name, value in checkpoint["channel_values"].items()
        }
        checkpoint = {**checkpoint, "channel_values": values}
        return await super().aput(config, checkpoint, metadata, new_versions)


@asynccontextmanager
async def open_postgres_threads(
    address: Address, sealer: Sealer | None, *, create: bool, read_only: bool
) -> AsyncIterator[PostgresThreads]:
    """The checkpointer on a server.

    Raises StorageError when it cannot be used or is not to be; psycopg.Error, with the address as a note,
    when it fails later.
    """
    async with _pool(address, sealer, create=create and not read_only, read_only=read_only) as pool:
        yield PostgresThreads(pool, address, sealer)


@asynccontextmanager
async def open_postgres_lessons(
    address: Address, sealer: Sealer | None, *, create: bool
) -> AsyncIterator[BaseStore]:
    """The Store on a server. Raises as `open_postgres_threads` does."""
    from langgraph.store.postgres.aio import AsyncPostgresStore

    async with _pool(address, sealer, create=create) as pool:
        async with pool.connection() as connection:
            found = await tables(connection, ("store", "store_migrations"))
        store = AsyncPostgresStore(pool)
        if len(found) < 2 and not create:
            raise StorageError(f"no lessons yet in {address.shown}", wrong_use=True)
        if len(found) < 2 or await _behind(pool, "store_migrations", len(store.MIGRATIONS)):
            async with alone(address):
                await store.setup()
        async with store:
            yield store


@asynccontextmanager
async def _pool(
    address: Address, sealer: Sealer | None, *, create: bool, read_only: bool = False
) -> AsyncIterator[Pool]:
    """Connections to a database that is of this release and set up."""
    try:
        await prepare(address, sealer, create, read_only)
        settings = (*KEEPALIVES, "SET default_transaction_read_only = on") if read_only else KEEPALIVES

        async def configure(connection: AsyncConnection[Any]) -> None:
            await connection.execute("; ".join(settings), prepare=False)

        async with AsyncConnectionPool(
            address.conninfo or "",
            min_size=1,
            max_size=_POOL,
            open=False,
            timeout=30,
            kwargs=OPTIONS,
            configure=configure,
            check=AsyncConnectionPool.check_connection,
        ) as pool:
            yield pool
    except Exception as error:
        if is_postgres(error):
            error.add_note(address.shown)
        raise


async def _behind(pool: Pool, table: str, known: int) -> bool:
    async with pool.connection() as connection:
        newest = (await rows_of(connection, f"SELECT MAX(v) FROM {table}"))[0][0]
    return newest is None or newest < known - 1
