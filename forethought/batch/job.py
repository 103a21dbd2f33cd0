"""Carrying out one job: its thread is claimed, begun or resumed, and how it ended is kept in its row."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import uuid
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forethought.batch.outcomes import (
    JobResult,
    TryAgain,
    error_line,
    failure_of,
    is_internal,
    may_pass,
    of_state,
    usage_of,
)
from forethought.batch.payload import fetch_files, read_payload
from forethought.batch.queue import Queue
from forethought.graph.resume import restart_failed_task, run_metadata
from forethought.journal import is_waiting
from forethought.models.types import Transport
from forethought.redaction import redact_error, redactor
from forethought.settings import Settings
from forethought.shutdown import Halt, Shutdown
from forethought.state.bounds import bounded
from forethought.storage import StorageError, open_lessons
from forethought.storage.errors import is_outage
from forethought.telemetry import operation
from forethought.telemetry.where import entered
from forethought.tools.files import FileStore

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from forethought.graph.agent import AgentGraph
    from forethought.state.context import Context

_LOG = logging.getLogger(__name__)
_HELD_S = 5.0
"""When a job is tried again whose thread is held: by a person's `resume`, or for a dead process's sake."""
_BEGIN = """
UPDATE forethought_jobs SET tries = tries + 1, started_at = coalesce(started_at, now())
WHERE thread_id = ? AND outcome IS NULL RETURNING payload, tries
"""
_END = """
UPDATE forethought_jobs
SET outcome = ?, status = ?, error = ?, usage = coalesce(nullif(?::jsonb, '{}'), usage), ended_at = now()
WHERE thread_id = ? AND outcome IS NULL
"""
_PUT_BACK = """
UPDATE forethought_jobs SET tries = greatest(tries - ?, 0), usage = coalesce(nullif(?::jsonb, '{}'), usage)
WHERE thread_id = ?
"""


@dataclass(frozen=True)
class Retries:
    """How often a job is begun, and the wait before the next time, in seconds."""

    most: int = 5
    first_s: float = 5
    longest_s: float = 300

    def wait_s(self, tries: int) -> float:
        """After so many tries: doubled each time, and shaken, so that jobs do not return all at once."""
        wait: float = min(self.first_s * 2.0 ** (tries - 1), self.longest_s)
        return wait * random.uniform(0.75, 1.25)


@dataclass
class JobRunner:
    """Carries jobs out, on graphs that all jobs of a worker share."""

    queue: Queue
    settings: Settings
    transport: Transport
    stack: AsyncExitStack
    """Closes what is opened on the way."""
    retries: Retries = field(default_factory=Retries)
    _graphs: dict[bool, AgentGraph] = field(default_factory=dict)
    _building: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, thread_id: str, shutdown: Shutdown) -> JobResult | None:
        """How a job ended, which is kept; None where it had ended before.

        Raises Halt and TryAgain, with the job to be put back into the queue; psycopg.Error.
        """
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(self.queue.threads.claim(thread_id))
            except StorageError as error:
                raise TryAgain(str(error), _HELD_S, counted=False) from error
            rows = await self.queue.rows(_BEGIN, (thread_id,))
            if not rows:
                return None
            text, tries = rows[0]
            usage: dict[str, Any] = {}
            try:
                if tries > self.retries.most:
                    line = f"given up: begun {tries - 1} times, and never ended"
                    ended = JobResult("failed", "failed", line)
                else:
                    ended = await self._attempt(thread_id, text, tries, shutdown, usage)
            except (Halt, TryAgain) as stopped:
                # Nothing was wrong with a try that is not counted. What it has cost counts all the same.
                uncounted = int(not getattr(stopped, "counted", False))
                await self.queue.rows(_PUT_BACK, (uncounted, json.dumps(usage), thread_id))
                raise
            error_text = self.queue.encrypt(ended.error) if ended.error else ""
            values = (ended.outcome, ended.status, error_text, json.dumps(ended.usage), thread_id)
            await self.queue.rows(_END, values)
            return ended

    async def _attempt(
        self, thread_id: str, text: str, tries: int, shutdown: Shutdown, usage: dict[str, Any]
    ) -> JobResult:
        """How a try ended; `usage` is filled with what it has cost where it did not."""
        redact = redactor(self.settings)
        graph: AgentGraph | None = None
        config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
        try:
            payload, own = read_payload(self.queue, text)
            context = bounded(own, self.settings)
            await fetch_files(self.queue, payload.files, FileStore.of(self.settings))
            graph = await self._graph(context.lessons)
            config["metadata"] = run_metadata(context, self.settings)
            task = {"task": payload.task, "files": payload.files}
            return await self._go(graph, config, task, context, shutdown)
        except Exception as error:
            if graph is not None and not is_outage(error):
                usage.update(usage_of((await graph.aget_state(config)).values))
            if isinstance(error, Halt):
                raise
            if is_outage(error):
                raise TryAgain(error_line(error, redact), self.retries.wait_s(1), counted=False) from error
            if may_pass(error) and tries < self.retries.most:
                raise TryAgain(error_line(error, redact), self.retries.wait_s(tries)) from error
            if is_internal(error):
                redact_error(error, redact)
                _LOG.error("job %s: %s", thread_id, error_line(error, redact), exc_info=error)
            return failure_of(error, usage, redact)

    async def _go(
        self, graph: AgentGraph, config: RunnableConfig, task: Any, context: Context, shutdown: Shutdown
    ) -> JobResult:
        """How the job ended, once its task has come to its end in the thread or waits for a person.

        Idempotent: what is finished stays as it is, but a failed run is gone on with. Raises Halt, and what
        the graph raises.
        """
        snapshot = await graph.aget_state(config)
        if snapshot.interrupts and is_waiting(await self.queue.threads.aget_tuple(config)):
            return of_state(snapshot)
        if not snapshot.values and not snapshot.tasks:
            await self._invoke(graph, config, task, context, shutdown)
        elif snapshot.tasks:
            await self._invoke(graph, config, None, context, shutdown)
        elif snapshot.values.get("status") == "failed":
            await restart_failed_task(graph, config, snapshot.values)
            await self._invoke(graph, config, None, context, shutdown)
        return of_state(await graph.aget_state(config))

    async def _invoke(
        self, graph: AgentGraph, config: RunnableConfig, task: Any, context: Context, shutdown: Shutdown
    ) -> None:
        run_id = uuid.uuid4()
        entered(thread_id=config["configurable"]["thread_id"], run_id=run_id)
        with operation("invoke_agent", "forethought", gen_ai__agent__name="forethought"):
            run = graph.ainvoke(
                task,
                {**config, "run_id": run_id},
                context=context,
                durability="sync",
                control=shutdown.control,
            )
            await shutdown.finish(run, self.settings.drain_s)

    async def _graph(self, with_lessons: bool) -> AgentGraph:
        """The graph, built when the first job needs it."""
        from forethought.graph.agent import build_agent

        async with self._building:
            if with_lessons not in self._graphs:
                store = None
                if with_lessons:
                    store = await self.stack.enter_async_context(open_lessons(self.queue.address))
                self._graphs[with_lessons] = build_agent(
                    settings=self.settings,
                    checkpointer=self.queue.threads,
                    store=store,
                    transport=self.transport,
                )
            return self._graphs[with_lessons]
