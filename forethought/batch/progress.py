"""How far the jobs are: counts, cost and rate."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from typing import Any

from forethought.batch import tables
from forethought.batch.queue import Queue

Json = dict[str, Any]
STATES = ("todo", "doing", "done", "waiting", "failed", "cancelled")
_COUNTS = f"""
SELECT {tables.STATE} AS state, count(*) FROM {tables.JOINED} WHERE {tables.OF_BATCH} GROUP BY state
"""
_COUNTED = ("calls", "input_tokens", "output_tokens", "cached_tokens", "unpriced")
_SPENT = f"""
SELECT {", ".join(f"coalesce(sum((f.usage->>'{key}')::float8), 0)" for key in (*_COUNTED, "usd"))}
FROM forethought_jobs f WHERE {tables.OF_BATCH}
"""
_RATE = f"""
SELECT count(*)::float8,
    extract(epoch FROM now() - greatest(min(f.started_at), now() - interval '10 minutes'))::float8
FROM forethought_jobs f
WHERE f.ended_at > now() - interval '10 minutes' AND f.outcome IN ('done', 'failed') AND {tables.OF_BATCH}
"""
_LISTED = f"""
SELECT f.batch, f.task, f.thread_id, {tables.STATE}, f.status, f.error
FROM {tables.JOINED} WHERE {tables.OF_BATCH} ORDER BY f.position
"""


@dataclass(frozen=True)
class Progress:
    """Where the jobs of a batch, or all of them, are."""

    states: dict[str, int]
    """How many are todo, doing, done, waiting (for a person), failed, cancelled."""
    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    unpriced: int
    """Calls with an unknown price."""
    usd: float
    """Dollars of the calls with a known price, in jobs that have ended."""
    per_minute: float
    """Jobs per minute that ended in the last ten minutes."""

    @property
    def total(self) -> int:
        """All jobs."""
        return sum(self.states.values())

    @property
    def seconds_left(self) -> int | None:
        """For the open jobs at the present rate; None where nothing has ended lately."""
        open_jobs = self.states["todo"] + self.states["doing"]
        return round(open_jobs / self.per_minute * 60) if self.per_minute and open_jobs else None

    def to_json(self) -> Json:
        """For a program."""
        return {**asdict(self), "total": self.total, "seconds_left": self.seconds_left}


async def progress_of(queue: Queue, batch: str | None = None) -> Progress:
    """How far a batch is, or all jobs. Raises psycopg.Error."""
    rows, values = queue.threads.rows, (batch, batch)
    states = dict(await rows(_COUNTS, values))
    *counts, usd = (await rows(_SPENT, values))[0]
    ended, seconds = (await rows(_RATE, values))[0]
    return Progress(
        states={state: int(states.get(state, 0)) for state in STATES},
        **dict(zip(_COUNTED, map(int, counts), strict=True)),
        usd=round(usd, 6),
        per_minute=round(ended / max(seconds or 0, 1) * 60, 2),
    )


async def list_jobs(queue: Queue, batch: str | None = None) -> AsyncIterator[Json]:
    """The jobs in the order of their submitting: {batch, id, thread_id, state, status, error}.

    Raises psycopg.Error, StorageError.
    """
    keys = ("batch", "id", "thread_id", "state", "status", "error")
    for row in await queue.threads.rows(_LISTED, (batch, batch)):
        job = dict(zip(keys, row, strict=True))
        yield {**job, "error": queue.decrypt(job["error"]) if job["error"] else ""}
