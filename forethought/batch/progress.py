"""How far the jobs are: counts, cost, rate, and which of them wait the longest."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from typing import Any

from forethought.batch import tables
from forethought.batch.opening import Queue
from forethought.storage import StorageError

Json = dict[str, Any]
STATES = ("todo", "doing", "done", "waiting", "failed", "cancelled")
_OF_BATCH = "(?::text IS NULL OR f.batch = ?)"
_COUNTS = f"SELECT {tables.STATE} AS state, count(*) FROM {tables.JOINED} WHERE {_OF_BATCH} GROUP BY state"
_SPENT_ON = ("calls", "input_tokens", "output_tokens", "cached_tokens", "usd", "unpriced")
_MOST = "1e15"
"""What is beyond that nobody has spent."""
_SOUND = f"""
jsonb_typeof(f.usage) = 'object' AND NOT EXISTS (
    SELECT 1 FROM jsonb_each(CASE jsonb_typeof(f.usage) WHEN 'object' THEN f.usage ELSE '{{}}' END) AS spent
    WHERE CASE jsonb_typeof(spent.value) WHEN 'number'
        THEN spent.value::numeric NOT BETWEEN 0 AND {_MOST} ELSE true END
)
"""
"""Whether a job's usage is one that a worker has written."""
_TIMED = "coalesce(isfinite(f.ended_at), false)"
"""Whether it is told when a job ended."""
_SPENT = f"""
SELECT {", ".join(f"coalesce(sum((usage->>'{key}')::float8) FILTER (WHERE sound), 0)" for key in _SPENT_ON)},
    count(*) FILTER (WHERE NOT sound OR NOT known)
FROM (
    SELECT CASE WHEN {_SOUND} THEN f.usage ELSE '{{}}' END AS usage, {_SOUND} AS sound,
        f.outcome IS NULL
            OR f.outcome IN ('done', 'waiting', 'failed', 'cancelled') AND {_TIMED} AS known
    FROM forethought_jobs f WHERE {_OF_BATCH}
) AS spent
"""
_RATE = f"""
SELECT count(*)::float8,
    extract(epoch FROM now() - greatest(min(f.started_at) FILTER (WHERE isfinite(f.started_at)),
        now() - interval '10 minutes'))::float8
FROM forethought_jobs f WHERE f.ended_at > now() - interval '10 minutes' AND isfinite(f.ended_at)
AND f.outcome IN ('done', 'failed') AND {_OF_BATCH}
"""
_OLDEST = f"""
SELECT DISTINCT ON (state) state, thread_id, extract(epoch FROM now() - since)::float8 FROM (
    SELECT {tables.STATE} AS state, f.thread_id,
        CASE WHEN f.outcome IS NULL THEN f.submitted_at ELSE f.ended_at END AS since
    FROM {tables.JOINED} WHERE {_OF_BATCH}
) open WHERE state IN ('todo', 'waiting') AND isfinite(since) ORDER BY state, since
"""
_PUT_BACK = f"""
SELECT f.thread_id FROM {tables.JOINED}
WHERE {_OF_BATCH} AND f.outcome IS NULL AND p.status = 'todo' AND p.attempts > 0 ORDER BY f.position
"""
_LISTED = f"""
SELECT f.batch, f.task, f.thread_id, {tables.STATE}, f.status, f.error, f.tries, f.usage, f.given, f.outcome
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
    held: list[Json]
    """Jobs that wait in the queue while another process holds their thread: {thread_id}."""
    damaged: int = 0
    """Jobs whose row no worker has written like this: their cost is not counted, or how they ended is not
    known."""

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
    held = await _held(queue, given)
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
        held=held,
        damaged=int(spent[6]),
    )


async def _held(queue: Queue, given: tuple[str | None, str | None]) -> list[Json]:
    waiting = [str(row[0]) for row in await queue.threads.rows(_PUT_BACK, given)]
    locked = await queue.threads.locked_threads(waiting) if waiting else set()
    return [{"thread_id": thread_id} for thread_id in waiting if thread_id in locked]


async def listed(queue: Queue, batch: str | None = None) -> AsyncIterator[Json]:
    """The jobs in the order of their submitting: {batch, id, thread_id, state, status, error, tries, usage,
    given}, the last as `read_given` takes it.

    Raises psycopg.Error.
    """
    async for row in queue.threads.stream(_LISTED, (batch, batch)):
        keys = ("batch", "id", "thread_id", "state", "status", "error", "tries", "usage", "given")
        *kept, outcome = row
        job = dict(zip(keys, kept, strict=True))
        yield {**job, "error": _error(queue, job, outcome)}


def _error(queue: Queue, job: Json, outcome: str | None) -> str:
    """Why a job failed, in one line."""
    if job["error"]:
        try:
            return " ".join(queue.open(job["error"]).split())
        except StorageError as error:
            return f"what is kept of its error cannot be read: {error}"
    if job["state"] == "failed" and outcome != "failed":
        return "its row was changed by hand, or is lost; take it up again with: forethought jobs --retry"
    return ""
