"""How far the jobs are: counts, cost, rate, and which of them wait the longest."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from typing import Any

from forethought.batch import tables
from forethought.batch.queue import Queue

Json = dict[str, Any]
STATES = ("todo", "doing", "done", "waiting", "failed", "cancelled")
_OF = "(?::text IS NULL OR f.batch = ?)"
_COUNTS = f"SELECT {tables.STATE} AS state, count(*) FROM {tables.JOINED} WHERE {_OF} GROUP BY state"
_FIGURES = ("calls", "input_tokens", "output_tokens", "cached_tokens", "usd", "unpriced")
_SPENT = f"""
SELECT {", ".join(f"coalesce(sum((f.usage->>'{key}')::float8), 0)" for key in _FIGURES)}
FROM forethought_jobs f WHERE {_OF}
"""
_RATE = f"""
SELECT count(*)::float8,
    extract(epoch FROM now() - greatest(min(f.started_at), now() - interval '10 minutes'))::float8
FROM forethought_jobs f
WHERE f.ended_at > now() - interval '10 minutes' AND f.outcome IN ('done', 'failed') AND {_OF}
"""
_OLDEST = f"""
SELECT DISTINCT ON (state) state, thread_id, extract(epoch FROM now() - since)::float8 FROM (
    SELECT {tables.STATE} AS state, f.thread_id,
        CASE WHEN f.outcome IS NULL THEN f.submitted_at ELSE f.ended_at END AS since
    FROM {tables.JOINED} WHERE {_OF}
) open WHERE state IN ('todo', 'waiting') ORDER BY state, since
"""
_PUT_BACK = f"""
SELECT f.thread_id FROM {tables.JOINED}
WHERE {_OF} AND f.outcome IS NULL AND p.status = 'todo' AND p.attempts > 0 ORDER BY f.position
"""
_LISTED = f"""
SELECT f.batch, f.task, f.thread_id, {tables.STATE}, f.status, f.error, f.tries, f.usage
FROM {tables.JOINED} WHERE {_OF} ORDER BY f.position
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
    usd: float
    """Of the calls whose price is known, of jobs that have ended or were put back."""
    unpriced: int
    """Calls whose price is not known."""
    per_minute: float
    """Jobs that ended in the last ten minutes, a minute."""
    oldest: dict[str, Json]
    """Of todo and waiting: {thread_id, seconds} of the job that has been so the longest."""
    held: list[Json]
    """Jobs that wait in the queue while another process holds their thread: {thread_id}."""

    @property
    def total(self) -> int:
        """All jobs."""
        return sum(self.states.values())

    @property
    def seconds_left(self) -> float | None:
        """For the open jobs at the present rate; None where nothing has ended lately."""
        open_jobs = self.states["todo"] + self.states["doing"]
        return open_jobs / self.per_minute * 60 if self.per_minute and open_jobs else None

    def to_json(self) -> Json:
        """For a program."""
        left = self.seconds_left
        return {**asdict(self), "total": self.total, "seconds_left": None if left is None else round(left)}


async def progress_of(queue: Queue, batch: str | None = None) -> Progress:
    """How far a batch is, or all jobs. Raises psycopg.Error."""
    values = (batch, batch)
    states = dict(await queue.rows(_COUNTS, values))
    spent = dict(zip(_FIGURES, (await queue.rows(_SPENT, values))[0], strict=True))
    ended, seconds = (await queue.rows(_RATE, values))[0]
    waiting = [str(row[0]) for row in await queue.rows(_PUT_BACK, values)]
    locked = await queue.threads.locked_threads(waiting) if waiting else set()
    return Progress(
        states={state: int(states.get(state, 0)) for state in STATES},
        calls=int(spent["calls"]),
        input_tokens=int(spent["input_tokens"]),
        output_tokens=int(spent["output_tokens"]),
        cached_tokens=int(spent["cached_tokens"]),
        usd=round(spent["usd"], 6),
        unpriced=int(spent["unpriced"]),
        per_minute=round(ended / max(seconds or 0, 1) * 60, 2),
        oldest={
            state: {"thread_id": thread_id, "seconds": round(s)}
            for state, thread_id, s in await queue.rows(_OLDEST, values)
        },
        held=[{"thread_id": thread_id} for thread_id in waiting if thread_id in locked],
    )


async def list_jobs(queue: Queue, batch: str | None = None) -> AsyncIterator[Json]:
    """The jobs in the order of their submitting: {batch, id, thread_id, state, status, error, tries, usage}.

    Raises psycopg.Error, StorageError.
    """
    keys = ("batch", "id", "thread_id", "state", "status", "error", "tries", "usage")
    for row in await queue.rows(_LISTED, (batch, batch)):
        job = dict(zip(keys, row, strict=True))
        yield {**job, "error": queue.decrypt(job["error"]) if job["error"] else ""}
