"""The queue in a Postgres database, opened: its threads, and procrastinate's part of it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forethought.batch import tables
from forethought.settings import Settings
from forethought.storage import Address, StorageError, address_of, open_threads

if TYPE_CHECKING:
    from procrastinate import App
    from procrastinate.manager import JobManager

    from forethought.storage.postgres import PostgresThreads

MISSING_EXTRA = "batches need an extra: pip install 'forethought[scale]'"
_POOL = 3
"""Connections for fetching, heartbeats and endings; a worker listens on one more."""


@dataclass(frozen=True)
class Queue:
    """The jobs of a database."""

    address: Address
    threads: PostgresThreads
    app: App

    @property
    def manager(self) -> JobManager:
        """procrastinate's own view of the jobs."""
        return self.app.job_manager

    def seal(self, text: str) -> str:
        """The text as it is kept: encrypted where there is a key."""
        return self.threads.cipher.encrypt_text(text) if self.threads.cipher else text

    def open(self, text: str) -> str:
        """What `seal` was given. Raises StorageError where the key is another one."""
        return self.threads.cipher.decrypt_text(text) if self.threads.cipher else text


@asynccontextmanager
async def open_queue(settings: Settings, *, create: bool = True) -> AsyncIterator[Queue]:
    """The queue at the settings' database, which is set up where it is not.

    Raises StorageError (no Postgres, no extra, or nothing there and nothing is to be made), psycopg.Error.
    """
    address = postgres_of(settings)
    _load()
    async with open_threads(address, settings.key, create=create) as threads:
        app = _app(address)
        async with app.open_async():
            queue = Queue(address, threads, app)  # type: ignore[arg-type]  # a Postgres address gives these
            await _set_up(queue, create)
            yield queue


def postgres_of(settings: Settings) -> Address:
    """The settings' database. Raises StorageError unless it is a Postgres one."""
    if not settings.db or not settings.db.startswith(("postgresql://", "postgres://")):
        raise StorageError(
            "machines share a batch through Postgres: name it with --db postgresql://user@host/database, or "
            "with FORETHOUGHT_DB",
            wrong_use=True,
        )
    return address_of(settings)


def _load() -> None:
    """Raises StorageError where the extra is missing."""
    try:
        import procrastinate
    except ImportError as error:
        raise StorageError(MISSING_EXTRA, wrong_use=True) from error
    # A job that fails is told by us, in one line.
    for name in ("worker", "worker.worker"):
        logging.getLogger(f"{procrastinate.__name__}.{name}").addFilter(_not_of_a_job)


def _not_of_a_job(record: logging.LogRecord) -> bool:
    return not str(getattr(record, "action", "")).startswith(("job_", "task_not_found"))


def _app(address: Address) -> App:
    from procrastinate import App, PsycopgConnector

    from forethought.storage.postgres import KEEPALIVES

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


async def _set_up(queue: Queue, create: bool) -> None:
    from forethought.storage.locks import hold

    if await _is_set_up(queue):
        return
    if not create:
        raise StorageError(f"no jobs yet in {queue.address.shown}", wrong_use=True)
    async with hold(queue.threads.locks, "setting up", 60):
        if await _is_set_up(queue):
            return
        if not await queue.threads.has_table("procrastinate_jobs"):
            await queue.app.schema_manager.apply_schema_async()
        for statement in tables.ALL:
            await queue.threads.rows(statement)


async def _is_set_up(queue: Queue) -> bool:
    return all([await queue.threads.has_table(name) for name in tables.NAMES])
