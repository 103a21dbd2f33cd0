"""Thousands of tasks over many machines that share one Postgres: a queue of jobs, each of them a thread.

`submit` puts tasks into the queue, `work` carries them out on each machine, `progress_of` counts. A job's id
is its thread's id, so a job that is taken over from a dead worker goes on with its thread instead of
beginning again. The queue itself (fetching, heartbeats, priorities, aborting) is procrastinate's, from the
extra `scale`; how a job ended is kept beside it, in the table that `forethought.batch.tables` describes.

    async with open_queue(settings) as queue:
        batch = await submit(queue, [BatchTask(id="t1", task="How many rooms?")], Context(), settings)
        await work(queue, settings, Choices(concurrency=4, until_empty=True))
        print(await progress_of(queue, batch.id))
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forethought.batch.changing import cancel, retry
    from forethought.batch.opening import Queue, open_queue
    from forethought.batch.progress import Progress, progress_of
    from forethought.batch.submitting import Submitted, submit
    from forethought.batch.tasks import BatchTask, read_batch
    from forethought.batch.worker import Choices, work

__all__ = [
    "BatchTask",
    "Choices",
    "Progress",
    "Queue",
    "Submitted",
    "cancel",
    "open_queue",
    "progress_of",
    "read_batch",
    "retry",
    "submit",
    "work",
]

_HOMES = {
    "BatchTask": "tasks",
    "Choices": "worker",
    "Progress": "progress",
    "Queue": "opening",
    "Submitted": "submitting",
    "cancel": "changing",
    "open_queue": "opening",
    "progress_of": "progress",
    "read_batch": "tasks",
    "retry": "changing",
    "submit": "submitting",
    "work": "worker",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
