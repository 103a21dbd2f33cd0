"""The queue in a Postgres database: opening it, putting jobs into it, taking them out, retrying them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forethought.batch import tables
from forethought.extras import install_command
from forethought.settings import Settings
from forethought.storage import Address, StorageError, address_of, open_threads
from forethought.storage.locks import hold

if TYPE_CHECKING:
    from procrastinate import App

    from forethought.storage.postgres import PostgresThreads

_POOL = 3
"""Connections for fetching, heartbeats and endings; a worker listens on one more."""
_SETUP_S = 60.0
_QUEUED = f"""
SELECT f.thread_id, f.job FROM {tables.JOINED} WHERE {tables.STATE} = 'todo' AND {tables.OF_BATCH}
"""
_CANCEL = "UPDATE forethought_jobs SET outcome = 'cancelled', ended_at = now() WHERE thread_id = ANY(?)"
_REOPEN = f"""
UPDATE forethought_jobs SET outcome = NULL, error = '', tries = 0, ended_at = NULL WHERE thread_id IN (
    SELECT f.thread_id FROM {tables.JOINED}
    WHERE {tables.STATE} IN ('failed', 'waiting') AND {tables.OF_BATCH}
) RETURNING thread_id
"""


@dataclass(frozen=True)
class Queue:
    """The jobs of a database."""

    address: Address
    threads: PostgresThreads
    app: App

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
                raise StorageError(
                    f"no jobs yet in {address.shown}; add some with: forethought submit TASKS.jsonl",
                    wrong_use=True,
                )
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
            "a batch needs Postgres: name a database with --db postgresql://user@host/database or "
            "FORETHOUGHT_DB",
            wrong_use=True,
        )
    return address_of(settings)


async def enqueue(queue: Queue, connection: Any, thread_ids: Sequence[str]) -> None:
    """Have jobs that have a row carried out, within a transaction."""
    from procrastinate.jobs import Job

    if not thread_ids:
        return
    job = Job(id=None, queue="default", lock=None, queueing_lock=None, task_name=tables.TASK)
    jobs = [job.evolve(lock=name, task_kwargs={"thread_id": name}) for name in thread_ids]
    deferred = await queue.app.job_manager.batch_defer_jobs_async(jobs, connection=connection)
    await connection.execute(
        "UPDATE forethought_jobs f SET job = n.job "
        "FROM unnest(%s::text[], %s::bigint[]) AS n (thread_id, job) WHERE f.thread_id = n.thread_id",
        ([job.lock for job in deferred], [job.id for job in deferred]),
    )


async def cancel(queue: Queue, batch: str | None = None) -> int:
    """Take the jobs of a batch, or all, out of the queue; those under way come to their end.

    Returns how many. Raises psycopg.Error, procrastinate's ConnectorException.
    """
    cancelled = [
        thread_id
        for thread_id, job in await queue.threads.rows(_QUEUED, (batch, batch))
        if await queue.app.job_manager.cancel_job_by_id_async(job, delete_job=True)
    ]
    await queue.threads.rows(_CANCEL, (cancelled,))
    return len(cancelled)


async def retry(queue: Queue, batch: str | None = None) -> int:
    """Put the jobs of a batch, or all, back into the queue that failed or that wait for a person.

    Their threads are gone on with; one that nobody has replied to waits again. Returns how many. Raises
    psycopg.Error.
    """
    async with queue.threads.pool.connection() as connection, connection.transaction():
        cursor = await connection.execute(_REOPEN.replace("?", "%s"), (batch, batch))
        thread_ids = [row["thread_id"] for row in await cursor.fetchall()]
        await enqueue(queue, connection, thread_ids)
    return len(thread_ids)


def _app(address: Address) -> App:
    """procrastinate on this database. Raises StorageError where the extra is missing."""
    try:
        from procrastinate import App, PsycopgConnector
    except ImportError as error:
        raise StorageError(
            f"batches need procrastinate: {install_command('scale')}", wrong_use=True
        ) from error

    # A job that fails, and a database that is lost, are told by us, in one line.
    logging.getLogger("procrastinate").setLevel(logging.CRITICAL)

    return App(
        connector=PsycopgConnector(
            conninfo=address.conninfo,
            min_size=1,
            max_size=_POOL,
            timeout=10,
            kwargs={"connect_timeout": 10, "fallback_application_name": "forethought"},
        )
    )
