"""Carrying out jobs: what each is given is read from its row, and how it ended is kept there."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forethought.batch import files
from forethought.batch.opening import Queue
from forethought.batch.outcomes import (
    THREAD_GONE,
    Ended,
    Retries,
    TryAgain,
    failed,
    line_of,
    may_pass,
    of_state,
)
from forethought.batch.thread_run import ThreadRun
from forethought.draining import Drain, Drained
from forethought.models.types import Transport
from forethought.secrecy import scrub_error, scrubber
from forethought.settings import Settings
from forethought.storage import StorageError, open_lessons
from graph.bounds import bounded
from graph.context import Context

if TYPE_CHECKING:
    from graph.agent import AgentGraph

Json = dict[str, Any]
_LOG = logging.getLogger(__name__)
_HELD_S = 5.0
"""When a job is taken up again whose thread is held: by a person's `resume`, or for a dead process's sake."""
_BEGIN = """
UPDATE forethought_jobs SET tries = tries + 1, started_at = coalesce(started_at, now())
WHERE thread_id = ? AND outcome IS NULL RETURNING given, tries, again, usage
"""
_END = """
UPDATE forethought_jobs
SET outcome = ?, status = ?, error = ?, usage = ?::jsonb, again = false, ended_at = now() WHERE thread_id = ?
"""
_SPENT = "UPDATE forethought_jobs SET usage = ?::jsonb WHERE thread_id = ?"


@dataclass(frozen=True)
class Job:
    """A job that was begun."""

    thread_id: str
    given: Json
    tries: int
    """Which time it is begun, from 1."""
    again: bool
    """Whether a run that failed is to be gone on with."""
    usage: Json
    """What it has cost so far, of what is known."""


@dataclass
class Runner:
    """Carries jobs out, on graphs that all jobs of a worker share."""

    queue: Queue
    settings: Settings
    transport: Transport
    stack: AsyncExitStack
    """Closes what is opened on the way."""
    retries: Retries = field(default_factory=Retries)
    _graphs: dict[bool, AgentGraph] = field(default_factory=dict)
    _building: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, thread_id: str, drain: Drain) -> Ended | None:
        """How a job ended, which is kept; None where it had ended before.

        Raises Drained and TryAgain, with the job to be put back into the queue; psycopg.Error.
        """
        job = await self._begin(thread_id)
        if job is None:
            return None
        try:
            ended = await self._attempt(job, drain)
        except (Drained, TryAgain) as stopped:
            if isinstance(stopped, Drained) or not stopped.counted:
                await self._not_counted(thread_id)
            raise
        row = (ended.outcome, ended.status, self.queue.seal(ended.error), json.dumps(ended.usage), thread_id)
        await self.queue.threads.rows(_END, row)
        return ended

    async def _begin(self, thread_id: str) -> Job | None:
        rows = await self.queue.threads.rows(_BEGIN, (thread_id,))
        if not rows:
            return None
        given, tries, again, usage = rows[0]
        return Job(thread_id, json.loads(self.queue.open(given)), tries, again, usage)

    async def _not_counted(self, thread_id: str) -> None:
        """A try that nothing was wrong with: the job was put back in order."""
        query = "UPDATE forethought_jobs SET tries = greatest(tries - 1, 0) WHERE thread_id = ?"
        await self.queue.threads.rows(query, (thread_id,))

    async def _attempt(self, job: Job, drain: Drain) -> Ended:
        if job.tries > self.retries.most:
            return Ended("failed", "failed", f"given up: begun {job.tries - 1} times, and never ended")
        async with AsyncExitStack() as held:
            try:
                await held.enter_async_context(self.queue.threads.claim(job.thread_id))
            except StorageError as error:
                raise TryAgain(str(error), _HELD_S, counted=False) from error
            if job.usage and await self.queue.threads.begun(job.thread_id) is None:
                return Ended("failed", "failed", THREAD_GONE, job.usage)
            thread: ThreadRun | None = None
            try:
                thread = await self._thread(job)
                return of_state(await thread.go(job.given, job.again, drain))
            except Exception as error:
                usage = await thread.spent() if thread else {}
                if usage:
                    # Should it go back into the queue, or be cancelled, its cost counts all the same.
                    await self.queue.threads.rows(_SPENT, (json.dumps(usage), job.thread_id))
                if isinstance(error, Drained):
                    raise
                return self._failed(job, error, usage)

    async def _thread(self, job: Job) -> ThreadRun:
        """The job's thread, ready to run: its files are here, its Context is allowed."""
        from tools.files import FileStore

        context = bounded(Context.model_validate(job.given["context"]), self.settings)
        await files.fetch(self.queue, job.given["files"], FileStore.of(self.settings))
        graph = await self._graph(context.lessons)
        return ThreadRun(job.thread_id, graph, self.settings, context)

    async def _graph(self, with_lessons: bool) -> AgentGraph:
        """The graph, built when the first job needs it."""
        from graph.agent import build_agent

        async with self._building:
            if with_lessons not in self._graphs:
                store = None
                if with_lessons:
                    opening = open_lessons(self.queue.address, self.settings.key)
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
        scrub = scrubber(self.settings)
        if may_pass(error) and job.tries < self.retries.most:
            raise TryAgain(line_of(error, scrub), self.retries.wait_s(job.tries)) from error
        ended = failed(error, usage, scrub)
        if ended.internal:
            scrub_error(error, scrub)
            _LOG.error("job %s: %s", job.thread_id, ended.error, exc_info=error)
        return ended
