"""The queue in a Postgres database, opened: its threads, and procrastinate's part of it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tenacity import AsyncRetrying, retry_if_exception, stop_after_delay, wait_exponential

from forethought.batch import tables
from forethought.settings import Settings
from forethought.storage import Address, StorageError, address_of, open_threads
from forethought.storage.errors import is_outage
from forethought.storage.locks import hold

if TYPE_CHECKING:
    from procrastinate import App

    from forethought.storage.postgres import PostgresThreads

MISSING_EXTRA = "batches need an extra: pip install 'forethought[scale]'"
_POOL = 3
"""Connections for fetching, heartbeats and endings; a worker listens on one more."""
_RETRY_S = 20.0
"""How long a statement is tried again while the database cannot be reached."""
_SETUP_S = 60.0


@dataclass(frozen=True)
class Queue:
    """The jobs of a database."""

    address: Address
    threads: PostgresThreads
    app: App

    async def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query, which must be the same to do twice: it is tried again while the database is
        gone for a moment. Raises psycopg.Error."""
        retrying = AsyncRetrying(
            retry=retry_if_exception(is_outage),
            stop=stop_after_delay(_RETRY_S),
            wait=wait_exponential(0.1, max=2),
            reraise=True,
        )
        return await retrying(self.threads.rows, query, values)

    def encrypt(self, text: str) -> str:
        """The text as it is kept: encrypted where there is a key."""
        return self.threads.cipher.encrypt_text(text) if self.threads.cipher else text

    def decrypt(self, text: str) -> str:
        """What `encrypt` was given. Raises StorageError where the key is another one."""
        return self.threads.cipher.decrypt_text(text) if self.threads.cipher else text


@asynccontextmanager
async def open_queue(settings: Settings, *, create: bool = True) -> AsyncIterator[Queue]:
    """The queue at the settings' database, which is set up where it is not.

    Raises StorageError (no Postgres, no extra, or nothing there and nothing is to be made), psycopg.Error.
    """
    address = postgres_address(settings)
    app = _app(address)
    async with open_threads(address, settings.key, create=create) as threads, app.open_async():
        queue = Queue(address, threads, app)  # type: ignore[arg-type]  # a Postgres address gives these
        if not await threads.has_table("forethought_files"):
            if not create:
                raise StorageError(f"no jobs yet in {address.shown}", wrong_use=True)
            async with hold(threads.locks, "setting up", _SETUP_S):
                if not await threads.has_table("procrastinate_jobs"):
                    await app.schema_manager.apply_schema_async()
                for statement in tables.ALL:
                    await threads.rows(statement)
        yield queue


def postgres_address(settings: Settings) -> Address:
    """The settings' database. Raises StorageError unless it is a Postgres one."""
    if not settings.db or not settings.db.startswith(("postgresql://", "postgres://")):
        raise StorageError(
            "machines share a batch through Postgres: name it with --db postgresql://user@host/database, or "
            "with FORETHOUGHT_DB",
            wrong_use=True,
        )
    return address_of(settings)


def _app(address: Address) -> App:
    """procrastinate on this database. Raises StorageError where the extra is missing."""
    try:
        from procrastinate import App, PsycopgConnector
    except ImportError as error:
        raise StorageError(MISSING_EXTRA, wrong_use=True) from error
    from forethought.storage.postgres import KEEPALIVES

    for name in ("worker", "worker.worker"):
        logging.getLogger(f"procrastinate.{name}").addFilter(_is_not_of_a_job)

    async def configure(connection: Any) -> None:
        await connection.execute(KEEPALIVES, prepare=False)
        await connection.commit()

    return App(
        connector=PsycopgConnector(
            conninfo=address.conninfo,
            min_size=1,
            max_size=_POOL,
            timeout=30,
            configure=configure,
            kwargs={"connect_timeout": 10, "fallback_application_name": "forethought"},
        )
    )


def _is_not_of_a_job(record: logging.LogRecord) -> bool:
    """A job that fails is told by us, in one line."""
    return not str(getattr(record, "action", "")).startswith(("job_", "task_not_found"))
