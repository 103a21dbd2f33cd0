"""Thousands of tasks over many machines that share one Postgres: a queue of jobs, each of them a thread.

`submit` puts tasks into the queue, `work` carries them out on each machine, `progress_of` counts. A job's id
is its thread's id, so a job that is taken over from a dead worker goes on with its thread instead of
beginning again. The queue itself (fetching, heartbeats, retries) is procrastinate's, from the
extra `scale`; how a job ended is kept beside it, in the table that `forethought.batch.tables` describes.

    async with open_queue(settings) as queue:
        batch = await submit(queue, [BatchTask(id="t1", task="How many rooms?")], Context(), settings)
        await work(queue, settings, WorkerOptions(concurrency=4, until_empty=True))
        print(await progress_of(queue, batch.id))
"""

from forethought.batch.progress import Progress, progress_of
from forethought.batch.queue import Queue, cancel, open_queue, retry
from forethought.batch.submit import Submission, submit
from forethought.batch.tasks import BatchTask, read_batch
from forethought.batch.worker import WorkerOptions, work

__all__ = [
    "BatchTask",
    "Progress",
    "Queue",
    "Submission",
    "WorkerOptions",
    "cancel",
    "open_queue",
    "progress_of",
    "read_batch",
    "retry",
    "submit",
    "work",
]
