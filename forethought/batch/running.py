"""Carrying out jobs: what each is given is read from its row, and how it ended is kept there."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forethought.batch import files, tables
from forethought.batch.given import Given, read_given
from forethought.batch.opening import Queue
from forethought.batch.outcomes import (
    THREAD_GONE,
    Ended,
    Retries,
    TryAgain,
    failed,
    line_of,
    may_pass,
)
from forethought.batch.patience import patiently
from forethought.batch.room import Room
from forethought.batch.thread_run import ThreadRun
from forethought.models.types import Transport
from forethought.redaction import redact_error, redactor
from forethought.settings import Settings
from forethought.shutdown import Halt, Shutdown
from forethought.state.bounds import bounded
from forethought.storage import StorageError, open_lessons
from forethought.storage.errors import is_outage

if TYPE_CHECKING:
    from forethought.graph.agent import AgentGraph

_LOG = logging.getLogger(__name__)
_HELD_S = 5.0
"""When a job is taken up again whose thread is held: by a person's `resume`, or for a dead process's sake."""
_NEWEST = """
coalesce((SELECT max(c.checkpoint_id) FROM checkpoints c WHERE c.thread_id = f.thread_id
    AND c.checkpoint_ns = ''), '')
"""
_THREAD = "SELECT thread_id FROM forethought_jobs WHERE job = ?"
_BEFORE = f"""
SELECT f.run IS NOT NULL AND f.begun_from = {_NEWEST}, {tables.THREAD_GONE}, f.usage FROM forethought_jobs f
WHERE f.job = ? AND f.outcome IS NULL
"""
"""Whether the worker that last began it died before the thread had come any further; whether the thread is
gone since."""
_BEGIN = f"""
UPDATE forethought_jobs f SET run = ?, begun_from = {_NEWEST}, started_at = coalesce(f.started_at, now()),
    tries = f.tries + CASE WHEN f.run = ? OR f.begun_from <> {_NEWEST} AND f.run IS NOT NULL THEN 0 ELSE 1 END
WHERE f.job = ? AND f.outcome IS NULL RETURNING f.given, f.tries, f.again
"""
_END = """
UPDATE forethought_jobs
SET outcome = ?, status = ?, error = ?, usage = coalesce(nullif(?::jsonb, '{}'), usage), again = false,
    ended_at = now()
WHERE job = ? AND run = ? RETURNING job
"""
_PUT_BACK = """
UPDATE forethought_jobs SET tries = greatest(tries - ?, 0), run = NULL, usage = coalesce(?::jsonb, usage)
WHERE job = ? AND run = ?
"""


@dataclass(frozen=True)
class Job:
    """A job that was begun."""

    number: int
    """procrastinate's."""
    run: str
    """This try's own id."""
    thread_id: str
    kept: str
    """What it is given, as it is kept."""
    tries: int
    """Which time it is begun, from 1."""
    again: bool
    """Whether a run that failed is to be gone on with."""


@dataclass
class Runner:
    """Carries jobs out, on graphs that all jobs of a worker share."""

    queue: Queue
    settings: Settings
    transport: Transport
    stack: AsyncExitStack
    """Closes what is opened on the way."""
    retries: Retries = field(default_factory=Retries)
    _room: Room = field(default_factory=Room)
    _graphs: dict[bool, AgentGraph] = field(default_factory=dict)
    _building: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, number: int, drain: Shutdown) -> Ended | None:
        """How a job ended, which is kept; None where it had ended before, or another worker has it.

        All that is said of a job is said while its thread is held. Raises Halt and TryAgain, with the job
        to be put back into the queue; psycopg.Error.
        """
        try:
            found = await patiently(lambda: self.queue.threads.rows(_THREAD, (number,)))
            return await self._run(number, found[0][0], drain) if found else None
        except Exception as error:
            if not is_outage(error):
                raise
            line = line_of(error, redactor(self.settings))
            raise TryAgain(line, self.retries.wait_s(1), counted=False) from error

    async def _run(self, number: int, thread_id: str, drain: Shutdown) -> Ended | None:
        async with AsyncExitStack() as held:
            try:
                await held.enter_async_context(self.queue.threads.claim(thread_id))
            except StorageError as error:
                raise TryAgain(str(error), _HELD_S, counted=False) from error
            found = await patiently(lambda: self.queue.threads.rows(_BEFORE, (number,)))
            if not found:
                return None
            suspect, gone, usage = found[0]
            await held.enter_async_context(self._room.enter(suspect, drain))
            job = await self._begin(number, thread_id)
            if job is None:
                return None
            if gone:
                ended = Ended("failed", "failed", THREAD_GONE, usage)
            else:
                ended = await self._attempt(job, drain)
            said = (ended.outcome, ended.status, self.queue.seal(ended.error), json.dumps(ended.usage))
            kept = await patiently(lambda: self.queue.threads.rows(_END, (*said, number, job.run)))
            return ended if kept else None

    async def _begin(self, number: int, thread_id: str) -> Job | None:
        run = uuid.uuid4().hex
        rows = await patiently(lambda: self.queue.threads.rows(_BEGIN, (run, run, number)))
        return Job(number, run, thread_id, *rows[0]) if rows else None

    async def _attempt(self, job: Job, drain: Shutdown) -> Ended:
        if job.tries > self.retries.most:
            return Ended("failed", "failed", f"given up: begun {job.tries - 1} times, and never ended")
        thread: ThreadRun | None = None
        try:
            given = read_given(job.kept, self.queue.threads.cipher)
            thread = await self._thread(job, given)
            return await thread.go(job.again, drain)
        except Exception as error:
            usage = await thread.spent() if thread else {}
            try:
                if isinstance(error, Halt):
                    raise
                return self._failed(job, error, usage)
            except (Halt, TryAgain) as stopped:
                await self._put_back(job, stopped, usage)
                raise

    async def _put_back(self, job: Job, stopped: Halt | TryAgain, usage: dict[str, float]) -> None:
        """Nothing was wrong with a try that is not counted. What it has cost counts all the same."""
        uncounted = int(isinstance(stopped, Halt) or not stopped.counted)
        said = (uncounted, json.dumps(usage) if usage else None, job.number, job.run)
        await patiently(lambda: self.queue.threads.rows(_PUT_BACK, said))

    async def _thread(self, job: Job, given: Given) -> ThreadRun:
        """The job's thread, ready to run: its files are here, its Context is allowed."""
        from forethought.tools.files import FileStore

        context = bounded(given.context, self.settings)
        await files.fetch(self.queue, given.references, FileStore.of(self.settings))
        graph = await self._graph(context.lessons)
        return ThreadRun(job.thread_id, given, graph, self.queue.threads, self.settings, context)

    async def _graph(self, with_lessons: bool) -> AgentGraph:
        """The graph, built when the first job needs it."""
        from forethought.graph.agent import build_agent

        async with self._building:
            if with_lessons not in self._graphs:
                store = None
                if with_lessons:
                    opening = open_lessons(self.queue.address)
                    store = await self.stack.enter_async_context(opening)
                self._graphs[with_lessons] = build_agent(
                    settings=self.settings,
                    checkpointer=self.queue.threads,
                    store=store,
                    transport=self.transport,
                )
            return self._graphs[with_lessons]

    def _failed(self, job: Job, error: Exception, usage: dict[str, float]) -> Ended:
        """How the job ended. Raises TryAgain where it is worth another try."""
        scrub = redactor(self.settings)
        if is_outage(error):
            raise TryAgain(line_of(error, scrub), self.retries.wait_s(1), counted=False) from error
        if may_pass(error) and job.tries < self.retries.most:
            raise TryAgain(line_of(error, scrub), self.retries.wait_s(job.tries)) from error
        ended = failed(error, usage, scrub)
        if ended.internal:
            redact_error(error, scrub)
            _LOG.error("job %s: %s", job.thread_id, ended.error, exc_info=error)
        return ended
