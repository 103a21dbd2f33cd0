"""What a person's `resume` makes of a job: one that waited, or failed, is done once its thread is.

Needs neither the extra `scale` nor a queue, since any thread can be resumed by anybody.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from forethought.batch.given import read_given
from forethought.batch.outcomes import of_state
from forethought.batch.own_task import ended_of
from forethought.storage.saver import ThreadSaver

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

_OPEN = "SELECT given FROM forethought_jobs WHERE thread_id = ? AND outcome IN ('waiting', 'failed')"
_DONE = """
UPDATE forethought_jobs SET outcome = ?, status = ?, error = '',
usage = coalesce(nullif(?::jsonb, '{}'), usage), again = false, ended_at = now()
WHERE thread_id = ? AND outcome IN ('waiting', 'failed') RETURNING thread_id
"""


async def settle(saver: ThreadSaver, thread_id: str, snapshot: StateSnapshot) -> bool:
    """Count the job of a thread as done, if its task is and no worker is to take the job; whether it was.

    For the process that holds the thread. Raises psycopg.Error.
    """
    if of_state(snapshot).outcome != "done" or not await saver.has_table("forethought_jobs"):
        return False
    found = await saver.rows(_OPEN, (thread_id,))
    if not found:
        return False
    try:
        task = read_given(found[0][0], saver.cipher).task
    except ValueError:
        # Whose row cannot be read is no worker's to carry out either.
        return False
    ended = ended_of(snapshot, task)
    if ended is None or ended.outcome != "done":
        return False
    row = (ended.outcome, ended.status, json.dumps(ended.usage), thread_id)
    return bool(await saver.rows(_DONE, row))
