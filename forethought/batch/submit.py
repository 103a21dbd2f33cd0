"""Submitting tasks into the queue: all of them or none, and none twice."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forethought.batch import tables
from forethought.batch.payload import Payload, digest, share_files
from forethought.batch.queue import Queue
from forethought.batch.tasks import MOST_PRIORITY, BatchTask, with_ids
from forethought.settings import Settings
from forethought.state.bounds import bounded
from forethought.state.context import Context
from forethought.text import sanitize_text
from forethought.tools.files import FileStore, from_path

Json = dict[str, Any]
BATCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,17}")
_RESERVED = {"debug", "distill", "synthesize"}
"""How the ids of other graphs' threads begin."""
_OWN_ID = 10
_QUEUE_BYTES = 40
"""Longest name of a queue: Postgres tells of new jobs on a channel that is called after it."""
_INSERT = """
INSERT INTO forethought_jobs (thread_id, batch, task, digest, payload, files, queue, priority)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (thread_id) DO NOTHING RETURNING thread_id
"""


@dataclass(frozen=True)
class Submission:
    """What became of a submit."""

    id: str
    """The batch's."""
    tasks: int
    added: int
    known: int
    """Tasks that were in the queue, or done, already."""


async def submit(
    queue: Queue,
    tasks: Sequence[BatchTask],
    context: Context,
    settings: Settings,
    *,
    batch: str | None = None,
    name: str = tables.QUEUE,
    priority: int = 0,
) -> Submission:
    """Put `tasks` into the queue `name`, to be run with `context`; what is there already stays as it is.

    Without `batch` the batch's id is made of the tasks and their settings, so that the same ones are the same
    batch. Raises ValueError (an id is not usable, is used twice, stands for another task or is a thread's
    that no job made; a queue's name or a priority cannot be had; a model is not allowed), FilesError,
    StorageError, psycopg.Error.
    """
    check_queue(name)
    if abs(priority) > MOST_PRIORITY:
        raise ValueError(f"a priority is a number from -{MOST_PRIORITY:,} to {MOST_PRIORITY:,}")
    if batch is not None and (not BATCH.fullmatch(batch) or batch in _RESERVED):
        raise ValueError(
            f"a batch cannot be called {batch[:40]!r}: use letters, digits and . _ -, at most 18, and "
            f"none of {', '.join(sorted(_RESERVED))}"
        )
    jobs = [(task, await asyncio.to_thread(_payload, task, context, settings)) for task in with_ids(tasks)]
    batch = batch or f"b{digest(''.join(task.id + payload.digest for task, payload in jobs))[:_OWN_ID]}"
    references = [reference for _, payload in jobs for reference in payload.files]
    await share_files(queue, references, FileStore.of(settings))
    added: list[tuple[str, str, int]] = []
    async with queue.threads.pool.connection() as connection, connection.transaction():
        # Two that add to a batch would wait for each other's rows, each in the order of its own file.
        lock = f"submitting to {batch}"
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (lock,))
        for task, payload in jobs:
            order = priority if task.priority is None else task.priority
            if await _insert(queue, connection, batch, task.id, payload, name, order):
                added.append((f"{batch}:{task.id}", name, order))
        await enqueue(queue, connection, added)
    return Submission(batch, len(jobs), len(added), len(jobs) - len(added))


def _payload(task: BatchTask, context: Context, settings: Settings) -> Payload:
    """Reads the disk."""
    store, files = FileStore.of(settings), dict[str, Json]()
    for path in task.files:
        reference = from_path(Path(path), store=store, settings=settings, used_names=files)
        files[reference["name"]] = dict(reference)
    own = Context.model_validate({**context.model_dump(exclude_unset=True), **task.context})
    values = bounded(own, settings).model_dump(mode="json", exclude_unset=True)
    return Payload(task=task.task, files=list(files.values()), context=values)


def check_queue(name: str) -> None:
    """Raises ValueError, one line, for a name that no queue can have."""
    shown = sanitize_text(name)
    if not name or shown != name or not name.isprintable() or len(name.encode()) > _QUEUE_BYTES:
        raise ValueError(
            f"a queue cannot be called {shown[:60]!r}: give it a name of 1 to {_QUEUE_BYTES} bytes that can "
            "be printed"
        )


async def _insert(
    queue: Queue, connection: Any, batch: str, task_id: str, payload: Payload, name: str, priority: int
) -> bool:
    """Add a job's row; False where it is there already.

    Raises ValueError where another task, or a thread that no job has made, has its id.
    """
    thread_id = f"{batch}:{task_id}"
    hashes = [str(reference["hash"]) for reference in payload.files]
    text = queue.encrypt(payload.model_dump_json())
    values = (thread_id, batch, task_id, payload.digest, text, hashes, name, priority)
    if not await (await connection.execute(_INSERT, values)).fetchone():
        query = "SELECT digest FROM forethought_jobs WHERE thread_id = %s"
        known = await (await connection.execute(query, (thread_id,))).fetchone()
        if known["digest"] != payload.digest:
            raise ValueError(
                f"batch {batch} has another task {task_id} already (its text, files or settings "
                "differ): give it another id, or name another batch; nothing was added"
            )
        return False
    query = "SELECT 1 FROM checkpoints WHERE thread_id = %s LIMIT 1"
    if await (await connection.execute(query, (thread_id,))).fetchone():
        raise ValueError(
            f"a thread {thread_id} exists already, and no job made it: give the task another id, or "
            "name another batch; nothing was added"
        )
    return True


async def enqueue(queue: Queue, connection: Any, rows: Sequence[tuple[str, str, int]]) -> None:
    """Have jobs (thread, queue, priority) that have a row carried out, within a transaction."""
    from procrastinate.jobs import Job

    if not rows:
        return
    jobs = [
        Job(
            id=None,
            queue=name,
            priority=priority,
            lock=thread_id,
            queueing_lock=None,
            task_name=tables.TASK,
            task_kwargs={"thread_id": thread_id},
        )
        for thread_id, name, priority in rows
    ]
    deferred = await queue.app.job_manager.batch_defer_jobs_async(jobs, connection=connection)
    await connection.execute(
        "UPDATE forethought_jobs f SET job = n.job "
        "FROM unnest(%s::text[], %s::bigint[]) AS n (thread_id, job) WHERE f.thread_id = n.thread_id",
        ([job.lock for job in deferred], [job.id for job in deferred]),
    )
