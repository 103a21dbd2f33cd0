"""Carrying out one job: its thread is claimed, begun or resumed, and how it ended is kept in its row."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forethought.batch.outcomes import (
    JobResult,
    TryAgain,
    error_line,
    is_internal,
    may_pass,
    of_state,
    usage_of,
)
from forethought.batch.payload import Payload, fetch_files
from forethought.batch.queue import Queue
from forethought.graph.resume import restart_failed_task, run_metadata
from forethought.journal import is_waiting
from forethought.models.types import ConfigurationError, Transport
from forethought.redaction import redact_error, redactor
from forethought.settings import Settings
from forethought.shutdown import Halt, Shutdown
from forethought.state.context import Context, bounded
from forethought.storage import StorageError, open_lessons
from forethought.telemetry import entered, operation
from forethought.tools.files import FileStore

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from forethought.graph.agent import AgentGraph

_LOG = logging.getLogger(__name__)
_HELD_S = 5.0
"""When a job is tried again whose thread is held: by a person's `resume`, or for a dead process's sake."""
_LONGEST_WAIT_S = 300.0
_BEGIN = """
UPDATE forethought_jobs SET tries = tries + 1, started_at = coalesce(started_at, now())
WHERE thread_id = ? AND outcome IS NULL RETURNING payload, tries
"""
_END = """
UPDATE forethought_jobs
SET outcome = ?, status = ?, error = ?, usage = coalesce(nullif(?::jsonb, '{}'), usage), ended_at = now()
WHERE thread_id = ? AND outcome IS NULL
"""
_UNCOUNT = "UPDATE forethought_jobs SET tries = tries - 1 WHERE thread_id = ?"


@dataclass
class JobRunner:
    """Carries jobs out, on graphs that all jobs of a worker share."""

    queue: Queue
    settings: Settings
    transport: Transport
    shutdown: Shutdown
    stack: AsyncExitStack
    """Closes what is opened on the way."""
    attempts: int = 5
    """How often a job is begun at most."""
    first_wait_s: float = 5
    """Before the second attempt; doubled for each one after it."""
    _graphs: dict[bool, AgentGraph] = field(default_factory=dict)
    _building: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, thread_id: str) -> JobResult | None:
        """How a job ended, which is kept; None where it had ended before.

        Raises Halt and TryAgain, with the job to be put back into the queue; psycopg.Error.
        """
        rows = self.queue.threads.rows
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(self.queue.threads.claim(thread_id))
            except StorageError as error:
                raise TryAgain(str(error), _HELD_S) from error
            begun = await rows(_BEGIN, (thread_id,))
            if not begun:
                return None
            text, tries = begun[0]
            if tries > self.attempts:
                line = f"given up: begun {tries - 1} times, and never ended"
                result = JobResult("failed", "failed", line)
            else:
                try:
                    result = await self._attempt(thread_id, text, tries)
                except Halt:  # nothing was wrong with it
                    await rows(_UNCOUNT, (thread_id,))
                    raise
            error_text = self.queue.encrypt(result.error) if result.error else ""
            values = (result.outcome, result.status, error_text, json.dumps(result.usage), thread_id)
            await rows(_END, values)
            return result

    async def _attempt(self, thread_id: str, text: str, tries: int) -> JobResult:
        """How the job ended. Raises Halt, TryAgain."""
        config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
        redact, graph = redactor(self.settings), None
        try:
            payload = Payload.model_validate_json(self.queue.decrypt(text))
            context = bounded(Context.model_validate(payload.context), self.settings)
            await fetch_files(self.queue, payload.files, FileStore.of(self.settings))
            graph = await self._graph(context.lessons)
            config["metadata"] = run_metadata(context, self.settings)
            task = {"task": payload.task, "files": payload.files}
            return await self._until_done(graph, config, task, context)
        except Halt:
            raise
        except Exception as error:
            line = error_line(error, redact)
            if may_pass(error) and tries < self.attempts:
                wait_s = min(self.first_wait_s * 2.0 ** (tries - 1), _LONGEST_WAIT_S)
                raise TryAgain(line, wait_s) from error
            if is_internal(error):
                redact_error(error, redact)
                _LOG.error("job %s: %s", thread_id, line, exc_info=error)
            usage = usage_of((await graph.aget_state(config)).values) if graph else {}
            return JobResult("failed", "failed", line, usage, refused=isinstance(error, ConfigurationError))

    async def _until_done(
        self, graph: AgentGraph, config: RunnableConfig, task: Any, context: Context
    ) -> JobResult:
        """How the job ended, once its task has come to its end in the thread or waits for a person.

        Idempotent: what is finished stays as it is, but a failed run is gone on with. Raises Halt, and what
        the graph raises.
        """
        snapshot = await graph.aget_state(config)
        if snapshot.interrupts and is_waiting(await self.queue.threads.aget_tuple(config)):
            return of_state(snapshot)
        if not snapshot.values and not snapshot.tasks:
            await self._invoke(graph, config, task, context)
        elif snapshot.tasks:
            await self._invoke(graph, config, None, context)
        elif snapshot.values.get("status") == "failed":
            await restart_failed_task(graph, config, snapshot.values)
            await self._invoke(graph, config, None, context)
        return of_state(await graph.aget_state(config))

    async def _invoke(self, graph: AgentGraph, config: RunnableConfig, task: Any, context: Context) -> None:
        run_id = uuid.uuid4()
        entered(thread_id=config["configurable"]["thread_id"], run_id=run_id)
        with operation("invoke_agent", "forethought", gen_ai__agent__name="forethought"):
            run = graph.ainvoke(
                task,
                {**config, "run_id": run_id},
                context=context,
                durability="sync",
                control=self.shutdown.control,
            )
            await self.shutdown.finish(run, self.settings.drain_s)

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
