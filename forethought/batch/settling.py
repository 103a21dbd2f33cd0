"""What a person's `resume` makes of a job: one that waited, or failed, is done once its thread is.

Needs neither the extra `scale` nor a queue, since any thread can be resumed by anybody.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from forethought.batch.outcomes import of_state
from forethought.storage.saver import ThreadSaver

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

_DONE = """
UPDATE forethought_jobs SET outcome = ?, status = ?, error = '', usage = ?::jsonb, again = false,
ended_at = now() WHERE thread_id = ? AND outcome IN ('waiting', 'failed') RETURNING thread_id
"""


async def settle(saver: ThreadSaver, thread_id: str, snapshot: StateSnapshot) -> bool:
    """Count the job of a thread as done, if the thread is and no worker is to take the job; whether it was.

    For the process that holds the thread. Raises psycopg.Error.
    """
    ended = of_state(snapshot)
    if ended.outcome != "done" or not await saver.has_table("forethought_jobs"):
        return False
    row = (ended.outcome, ended.status, json.dumps(ended.usage), thread_id)
    return bool(await saver.rows(_DONE, row))
