"""Putting tasks into the queue: all of them or none, and none twice."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forethought.batch import files, tables
from forethought.batch.given import digest_of
from forethought.batch.opening import Queue
from forethought.batch.tasks import MOST_PRIORITY, BatchTask, with_ids
from forethought.settings import Settings
from forethought.state.bounds import bounded
from forethought.state.context import Context
from forethought.text import sanitize_text

Json = dict[str, Any]
BATCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,17}")
_TAKEN = {"debug", "distill", "synthesize"}
"""How the ids of other graphs' threads begin."""
_OWN_ID = 10
_CHUNK = 500
_QUEUE_BYTES = 40
"""Longest name of a queue: Postgres tells of new jobs on a channel that is called after it."""
_INSERT = """
INSERT INTO forethought_jobs (thread_id, batch, task, digest, given, queue, priority)
SELECT * FROM unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::int[])
ON CONFLICT (thread_id) DO NOTHING
RETURNING thread_id
"""
_TAKEN_THREAD = "SELECT thread_id FROM checkpoints WHERE thread_id = ANY(%s) LIMIT 1"


@dataclass(frozen=True)
class Submitted:
    """What became of a submit."""

    id: str
    """The batch's."""
    tasks: int
    added: int
    known: int
    """Tasks that were in the queue, or done, already."""


@dataclass(frozen=True)
class _Job:
    thread_id: str
    task: str
    given: Json
    digest: str
    priority: int


async def submit(
    queue: Queue,
    tasks: Sequence[BatchTask],
    context: Context,
    settings: Settings,
    *,
    batch: str | None = None,
    name: str = tables.QUEUE,
    priority: int = 0,
) -> Submitted:
    """Put `tasks` into the queue `name`, to be run with `context`; what is there already stays as it is.

    Without `batch` the batch's id is made of the tasks and their settings, so that the same ones are the same
    batch. Raises ValueError (an id is not usable, is used twice, stands for another task or is a thread's
    that no job made; a queue's name or a priority cannot be had; a model is not allowed), FilesError,
    StorageError, psycopg.Error.
    """
    check_queue(name)
    if abs(priority) > MOST_PRIORITY:
        raise ValueError(f"a priority is a number from -{MOST_PRIORITY:,} to {MOST_PRIORITY:,}")
    key = settings.key
    named = with_ids(list(tasks), key)
    given = [(task, await asyncio.to_thread(_given, task, context, settings)) for task in named]
    batch = _checked(batch) if batch else _own_id([(task.id, item) for task, item in given], key)
    jobs = [
        _Job(
            f"{batch}:{task.id}",
            task.id,
            item,
            digest_of(item, key),
            priority if task.priority is None else task.priority,
        )
        for task, item in given
    ]
    await files.share(
        queue, [reference for job in jobs for reference in job.given["files"]], _store(settings)
    )
    added = await _insert(queue, batch, jobs, name)
    return Submitted(batch, len(jobs), added, len(jobs) - added)


def _given(task: BatchTask, context: Context, settings: Settings) -> Json:
    """What a job is given: the graph's input and its Context. Reads the disk."""
    from forethought.tools.files import from_path

    store, taken = _store(settings), dict[str, Json]()
    for path in task.files:
        reference = from_path(Path(path), store=store, settings=settings, taken_names=taken)
        taken[reference["name"]] = dict(reference)
    own = Context.model_validate({**context.model_dump(exclude_unset=True), **task.context})
    kept = bounded(own, settings).model_dump(mode="json", exclude_unset=True)
    return {"task": task.task, "files": list(taken.values()), "context": kept}


def _store(settings: Settings) -> Any:
    from forethought.tools.files import FileStore

    return FileStore.of(settings)


def _checked(batch: str) -> str:
    if not BATCH.fullmatch(batch) or batch in _TAKEN:
        raise ValueError(
            f"a batch cannot be called {batch[:40]!r}: use letters, digits and . _ -, at most 18, and "
            f"none of {', '.join(sorted(_TAKEN))}"
        )
    return batch


def check_queue(name: str) -> None:
    """Raises ValueError, one line, for a name that no queue can have."""
    shown = sanitize_text(name)
    if not name or shown != name or not name.isprintable() or len(name.encode()) > _QUEUE_BYTES:
        raise ValueError(
            f"a queue cannot be called {shown[:60]!r}: give it a name of 1 to {_QUEUE_BYTES} bytes that can "
            "be printed"
        )


def _own_id(given: list[tuple[str, Json]], key: bytes | None) -> str:
    return f"b{digest_of({'tasks': given}, key)[:_OWN_ID]}"


async def _insert(queue: Queue, batch: str, jobs: Sequence[_Job], name: str) -> int:
    """How many of the jobs were not there. Raises ValueError where one is there with another task, or has the
    id of a thread that no job has made."""
    from psycopg.rows import tuple_row

    from forethought.storage.advisory_locks import lock_key
    from forethought.storage.postgres import psycopg_query

    added = 0
    async with queue.threads.pool.connection() as connection, connection.transaction():
        # Two that add to a batch would wait for each other's rows, each in the order of its own file.
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (lock_key(f"submitting to {batch}"),))
        for at in range(0, len(jobs), _CHUNK):
            chunk = jobs[at : at + _CHUNK]
            columns = [
                [job.thread_id for job in chunk],
                [batch for _ in chunk],
                [job.task for job in chunk],
                [job.digest for job in chunk],
                [queue.seal(json.dumps(job.given)) for job in chunk],
                [name for _ in chunk],
                [job.priority for job in chunk],
            ]
            async with connection.cursor(row_factory=tuple_row) as cursor:
                await cursor.execute(psycopg_query(_INSERT), columns)
                new = {row[0] for row in await cursor.fetchall()}
                await cursor.execute(
                    "SELECT thread_id, digest FROM forethought_jobs WHERE thread_id = ANY(%s)", (columns[0],)
                )
                kept: dict[str, str] = dict(await cursor.fetchall())
                await cursor.execute(_TAKEN_THREAD, (sorted(new),))
                taken = await cursor.fetchone()
            if taken:
                raise ValueError(
                    f"a thread {taken[0]} exists already, and no job made it: give the task another id, or "
                    "name another batch; nothing was added"
                )
            for job in chunk:
                if kept[job.thread_id] != job.digest:
                    raise ValueError(
                        f"batch {batch} has another task {job.task} already (its text, files or settings "
                        "differ): give it another id, or name another batch; nothing was added"
                    )
            rows = [(job.thread_id, name, job.priority) for job in chunk if job.thread_id in new]
            await enqueue(queue, rows, connection)
            added += len(rows)
    return added


async def enqueue(queue: Queue, rows: Sequence[tuple[str, str, int]], connection: Any) -> None:
    """Have jobs (thread, queue, priority) that have a row carried out, within a transaction."""
    from procrastinate.jobs import Job

    if not rows:
        return
    jobs = [
        Job(
            queue=name,
            priority=priority,
            lock=thread_id,
            queueing_lock=thread_id,
            task_name=tables.TASK,
            task_kwargs={"thread_id": thread_id},
        )
        for thread_id, name, priority in rows
    ]
    deferred = await queue.manager.batch_defer_jobs_async(jobs, connection=connection)
    await connection.execute(
        "UPDATE forethought_jobs f SET job = n.job "
        "FROM unnest(%s::text[], %s::bigint[]) AS n (thread_id, job) WHERE f.thread_id = n.thread_id",
        ([job.lock for job in deferred], [job.id for job in deferred]),
    )
