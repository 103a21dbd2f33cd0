"""Carrying out one job: its thread is claimed, begun or resumed, and how it ended is kept in its row."""

from __future__ import annotations

import json
import logging
import sys
import uuid
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from forethought.batch.payload import Payload, fetch_files
from forethought.batch.queue import Queue
from forethought.graph.resume import restart_failed_task, run_metadata
from forethought.journal import JournalError, is_waiting
from forethought.models.allowance import total
from forethought.models.types import ConfigurationError, ModelError, TransportError
from forethought.redaction import redact_error, redactor
from forethought.settings import Settings
from forethought.shutdown import Halt, Shutdown
from forethought.state.context import Context, bounded
from forethought.storage import StorageError
from forethought.storage.errors import is_postgres, is_storage_failure, postgres_line
from forethought.telemetry import operation, set_log_context
from forethought.text import one_line, sanitize_text
from forethought.tools.files import FilesError, FileStore

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.types import StateSnapshot

    from forethought.graph.agent import AgentGraph

_LOG = logging.getLogger(__name__)
_HELD_S = 5.0
"""Wait before the next try of a job whose thread is locked, for example by `resume`."""
_LONGEST_WAIT_S = 300.0
_SHOWN = 500
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


@dataclass(frozen=True)
class JobResult:
    """How a job ended, for now: one that waits for a person, or failed, can be retried."""

    outcome: Literal["done", "waiting", "failed"]
    status: str
    """The run's own: answered, best_effort, budget_exhausted; interrupted; failed."""
    error: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    refused: bool = False
    """Whether this worker cannot reach any model."""


class TryAgain(Exception):
    """What failed may be better in a while: the job goes back into the queue."""

    def __init__(self, line: str, wait_s: float) -> None:
        super().__init__(line)
        self.wait_s = wait_s


@dataclass
class JobRunner:
    """Carries jobs out on one graph."""

    queue: Queue
    settings: Settings
    graph: AgentGraph
    shutdown: Shutdown
    attempts: int = 5
    """Maximum attempts at a job."""
    first_wait_s: float = 5
    """Wait before the second attempt; doubled for each further one."""

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
                line = (
                    f"gave up after {tries - 1} attempts that did not end; try again with: forethought jobs "
                    "--retry"
                )
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
        redact = redactor(self.settings)
        try:
            payload = Payload.model_validate_json(self.queue.decrypt(text))
            context = bounded(Context.model_validate(payload.context), self.settings)
            await fetch_files(self.queue, payload.files, FileStore.of(self.settings))
            config["metadata"] = run_metadata(context, self.settings)
            return await self._until_done(config, {"task": payload.task, "files": payload.files}, context)
        except Halt:
            raise
        except Exception as error:
            line = sanitize_text(redact(_error_line(error)))[:_SHOWN]
            may_pass = isinstance(error, TransportError | JournalError) or is_lost(error)
            if may_pass and tries < self.attempts:
                wait_s = min(self.first_wait_s * 2.0 ** (tries - 1), _LONGEST_WAIT_S)
                raise TryAgain(line, wait_s) from error
            if _is_internal(error):
                redact_error(error, redact)
                _LOG.error("job %s: %s", thread_id, line, exc_info=error)
            usage = {} if is_lost(error) else _usage_of((await self.graph.aget_state(config)).values)
            return JobResult("failed", "failed", line, usage, refused=isinstance(error, ConfigurationError))

    async def _until_done(self, config: RunnableConfig, task: Any, context: Context) -> JobResult:
        """How the job ended, once its task has come to its end in the thread or waits for a person.

        Idempotent: what is finished stays as it is, but a failed run is gone on with. Raises Halt, and what
        the graph raises.
        """
        snapshot = await self.graph.aget_state(config)
        if snapshot.interrupts and is_waiting(await self.queue.threads.aget_tuple(config)):
            return _result_of(snapshot)
        if not snapshot.values and not snapshot.tasks:
            await self._invoke(config, task, context)
        elif snapshot.tasks:
            await self._invoke(config, None, context)
        elif snapshot.values.get("status") == "failed":
            await restart_failed_task(self.graph, config, snapshot.values)
            await self._invoke(config, None, context)
        return _result_of(await self.graph.aget_state(config))

    async def _invoke(self, config: RunnableConfig, task: Any, context: Context) -> None:
        run_id = uuid.uuid4()
        set_log_context(thread_id=config["configurable"]["thread_id"], run_id=run_id)
        with operation("invoke_agent", "forethought", gen_ai__agent__name="forethought"):
            run = self.graph.ainvoke(
                task,
                {**config, "run_id": run_id},
                context=context,
                durability="sync",
                control=self.shutdown.control,
            )
            await self.shutdown.finish(run, self.settings.drain_s)


def is_lost(error: BaseException) -> bool:
    """Whether it is the database that failed, as psycopg or the queue says it, not who named it."""
    connector = getattr(sys.modules.get("procrastinate.exceptions"), "ConnectorException", ())
    failed = is_storage_failure(error) or isinstance(error, connector)
    return failed and not getattr(error, "wrong_use", False)


def _is_internal(error: BaseException) -> bool:
    """Whether the mistake is ours."""
    known = ModelError | FilesError | ValueError | JournalError | StorageError
    return not isinstance(error, known) and not is_lost(error)


def _error_line(error: BaseException) -> str:
    line = one_line(postgres_line(error) if is_postgres(error) else error)
    kind = type(error).__name__
    return f"internal error: {kind}: {line}" if _is_internal(error) else line or kind


def _result_of(snapshot: StateSnapshot) -> JobResult:
    """How a job ended whose run left its thread like this."""
    values, usage = snapshot.values, _usage_of(snapshot.values)
    if snapshot.interrupts:
        return JobResult("waiting", "interrupted", usage=usage)
    status = str(values.get("status") or "failed")
    if status == "failed" or snapshot.tasks:
        messages = values.get("messages") or []
        text = str(messages[-1].text) if messages else "the run did not end"
        return JobResult("failed", "failed", one_line(text, _SHOWN), usage)
    return JobResult("done", status, usage=usage)


def _usage_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a thread has cost so far, summed over its roles."""
    return dict(total(*(values.get("usage") or {}).values()))
