"""Submitting tasks into the queue: all of them or none, and none twice."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forethought.batch.payload import Payload, digest, share_files
from forethought.batch.queue import Queue, enqueue
from forethought.batch.tasks import BatchTask, with_ids
from forethought.settings import Settings
from forethought.state.context import Context, bounded
from forethought.tools.files import FileStore, from_paths

Json = dict[str, Any]
BATCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,17}")
_RESERVED = {"debug", "distill", "synthesize"}
"""Prefixes of the ids of other graphs' threads."""
_OWN_ID = 10
_INSERT = """
INSERT INTO forethought_jobs (thread_id, batch, task, digest, payload, files) VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (thread_id) DO UPDATE SET digest = forethought_jobs.digest RETURNING digest, (xmax = 0) AS is_new
"""


@dataclass(frozen=True)
class Submission:
    """What became of a submit."""

    id: str
    """The batch's."""
    tasks: int
    added: int
    known: int
    """Tasks that were already in the queue or done."""


async def submit(
    queue: Queue,
    tasks: Sequence[BatchTask],
    context: Context,
    settings: Settings,
    *,
    batch: str | None = None,
) -> Submission:
    """Put `tasks` into the queue, to be run with `context`; what is there already stays as it is.

    Without `batch` the batch's id is made of the tasks and their settings, so that the same ones are the same
    batch. Raises ValueError (an id is not usable, is used twice or stands for another task; a model is not
    allowed), FilesError, StorageError, psycopg.Error.
    """
    if batch is not None and (not BATCH.fullmatch(batch) or batch in _RESERVED):
        raise ValueError(
            f"{batch[:40]!r} is not a valid batch name: use at most 18 letters, digits and . _ -, "
            f"but not {', '.join(sorted(_RESERVED))}"
        )
    jobs = [(task, await asyncio.to_thread(_payload, task, context, settings)) for task in with_ids(tasks)]
    batch = batch or f"b{digest(''.join(task.id + payload.digest for task, payload in jobs))[:_OWN_ID]}"
    references = [reference for _, payload in jobs for reference in payload.files]
    async with queue.threads.pool.connection() as connection, connection.transaction():
        # Two that add to a batch would wait for each other's rows, each in the order of its own file.
        lock = f"submitting to {batch}"
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (lock,))
        await share_files(queue, connection, references, FileStore.of(settings))
        added = []
        for task, payload in jobs:
            thread_id, text = f"{batch}:{task.id}", queue.encrypt(payload.model_dump_json())
            hashes = [str(reference["hash"]) for reference in payload.files]
            values = (thread_id, batch, task.id, payload.digest, text, hashes)
            (known,) = await (await connection.execute(_INSERT, values)).fetchall()
            if known["digest"] != payload.digest:
                raise ValueError(
                    f"batch {batch} already has a different task {task.id} (other text, files or settings): "
                    "change the id or the batch's name; nothing was added"
                )
            if known["is_new"]:
                added.append(thread_id)
        await enqueue(queue, connection, added)
    return Submission(batch, len(jobs), len(added), len(jobs) - len(added))


def _payload(task: BatchTask, context: Context, settings: Settings) -> Payload:
    """Reads the disk."""
    files = [dict(file) for file in from_paths(task.files, settings)]
    values = bounded(context, settings).model_dump(mode="json", exclude_unset=True)
    return Payload(task=task.task, files=files, context=values)
