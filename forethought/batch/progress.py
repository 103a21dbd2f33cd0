"""How far the jobs are: counts, cost, rate, and which of them wait the longest."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from typing import Any

from forethought.batch import tables
from forethought.batch.opening import Queue

Json = dict[str, Any]
STATES = ("todo", "doing", "done", "waiting", "failed", "cancelled")
_OF_BATCH = "(?::text IS NULL OR f.batch = ?)"
_COUNTS = f"SELECT {tables.STATE} AS state, count(*) FROM {tables.JOINED} WHERE {_OF_BATCH} GROUP BY state"
_SPENT = f"""
SELECT {
    ", ".join(
        f"coalesce(sum((f.usage->>'{key}')::float8), 0)"
        for key in ("calls", "input_tokens", "output_tokens", "cached_tokens", "usd", "unpriced")
    )
}
FROM forethought_jobs f WHERE {_OF_BATCH}
"""
_RATE = f"""
SELECT count(*)::float8,
    extract(epoch FROM now() - greatest(min(f.started_at), now() - interval '10 minutes'))::float8
FROM forethought_jobs f WHERE f.ended_at > now() - interval '10 minutes' AND f.outcome IN ('done', 'failed')
AND {_OF_BATCH}
"""
_OLDEST = f"""
SELECT DISTINCT ON (state) state, thread_id, since FROM (
    SELECT {tables.STATE} AS state, f.thread_id, extract(epoch FROM now() - CASE WHEN f.outcome IS NULL
        THEN f.submitted_at ELSE f.ended_at END)::float8 AS since
    FROM {tables.JOINED} WHERE {_OF_BATCH}
) open WHERE state IN ('todo', 'waiting') ORDER BY state, since DESC
"""
_LISTED = f"""
SELECT f.batch, f.task, f.thread_id, {tables.STATE}, f.status, f.error, f.tries, f.usage
FROM {tables.JOINED} WHERE {_OF_BATCH} ORDER BY f.position
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

    @property
    def total(self) -> int:
        """All jobs."""
        return sum(self.states.values())

    @property
    def open(self) -> int:
        """Those that workers have still to end."""
        return self.states["todo"] + self.states["doing"]

    @property
    def seconds_left(self) -> float | None:
        """At the present rate; None where nothing has ended lately."""
        return self.open / self.per_minute * 60 if self.per_minute and self.open else None

    def to_json(self) -> Json:
        """For a program."""
        left = self.seconds_left
        return {**asdict(self), "total": self.total, "seconds_left": None if left is None else round(left)}


async def progress_of(queue: Queue, batch: str | None = None) -> Progress:
    """How far the jobs are. Raises psycopg.Error."""
    given, rows = (batch, batch), queue.threads.rows
    states = dict(await rows(_COUNTS, given))
    spent = (await rows(_SPENT, given))[0]
    ended, seconds = (await rows(_RATE, given))[0]
    oldest = await rows(_OLDEST, given)
    return Progress(
        states={state: int(states.get(state, 0)) for state in STATES},
        calls=int(spent[0]),
        input_tokens=int(spent[1]),
        output_tokens=int(spent[2]),
        cached_tokens=int(spent[3]),
        usd=round(spent[4], 6),
        unpriced=int(spent[5]),
        per_minute=round(ended / max(seconds or 0, 1) * 60, 2),
        oldest={state: {"thread_id": thread_id, "seconds": round(s)} for state, thread_id, s in oldest},
    )


async def listed(queue: Queue, batch: str | None = None) -> AsyncIterator[Json]:
    """The jobs in the order of their submitting: {batch, id, thread_id, state, status, error, tries, usage}.

    Raises StorageError where they are encrypted with another key, psycopg.Error.
    """
    async for row in queue.threads.stream(_LISTED, (batch, batch)):
        keys = ("batch", "id", "thread_id", "state", "status", "error", "tries", "usage")
        job = dict(zip(keys, row, strict=True))
        yield {**job, "error": queue.open(job["error"]) if job["error"] else ""}
