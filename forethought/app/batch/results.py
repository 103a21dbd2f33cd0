"""The results of jobs, as JSON Lines."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.app.errors import CliError
from forethought.app.report import report
from forethought.app.text import one_line, to_json
from forethought.app.threads.threads import DAMAGED

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from forethought.batch.opening import Queue
    from forethought.graph.agent import AgentGraph
    from forethought.settings import Settings

Json = dict[str, Any]
_RESULT = ("status", "answer", "sources", "score", "rounds", "usage", "seconds", "interrupts", "error")


async def write_results(queue: Queue, settings: Settings, batch: str | None, path: Path) -> str:
    """Write the results to a file, whole or not at all; `-` is stdout. Returns what to tell.

    Raises CliError, OSError, psycopg.Error.
    """
    count = damaged = 0
    if str(path) == "-":
        async for result in _results(queue, settings, batch):
            print(to_json(result, indent=None), flush=True)
            count, damaged = count + 1, damaged + (result["status"] == DAMAGED)
        return f"{count} results{_of_which(damaged)}"
    if not path.parent.is_dir():
        raise CliError(f"--results {path}: its folder does not exist")
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            async for result in _results(queue, settings, batch):
                file.write(to_json(result, indent=None) + "\n")
                count, damaged = count + 1, damaged + (result["status"] == DAMAGED)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    return f"{count} results{_of_which(damaged)} written to {path}"


def _of_which(damaged: int) -> str:
    return f" ({damaged} of them of threads that are damaged)" if damaged else ""


async def _results(queue: Queue, settings: Settings, batch: str | None) -> AsyncIterator[Json]:
    """A result a job that has ended for now: its state, and what its thread says."""
    from forethought.batch.progress import listed
    from forethought.graph.agent import build_agent

    # Threads are only read: their tools are not needed.
    plain = settings.model_copy(update={"tools": None, "mcp_file": None})
    graph = build_agent(settings=plain, checkpointer=queue.threads)
    async for job in listed(queue, batch):
        if job["state"] not in ("todo", "doing"):
            named = {key: job[key] for key in ("batch", "id", "thread_id", "state")}
            yield {**named, **await _result(queue, graph, job)}


async def _result(queue: Queue, graph: AgentGraph, job: Json) -> Json:
    """What the thread says of the job. One that cannot be read is told, and no other job's matter."""
    from forethought.storage import StorageError

    try:
        snapshot = await _state(queue, graph, job)
    except StorageError as error:
        return {"status": DAMAGED, "error": one_line(error, 300)}
    told = report(job["thread_id"], snapshot, job["error"] or None)
    return {key: told[key] for key in _RESULT if key in told}


async def _state(queue: Queue, graph: AgentGraph, job: Json) -> StateSnapshot:
    """The thread's newest state in which the job's task was the present one. Raises StorageError."""
    from forethought.batch.given import read_given
    from forethought.batch.own_task import is_asked, is_given, is_present

    config: Any = {"configurable": {"thread_id": job["thread_id"]}}
    snapshot = await graph.aget_state(config)
    try:
        task = read_given(job["given"], queue.threads.cipher).task
    except ValueError:  # a worker says so, and carries nothing out
        return snapshot
    if not snapshot.values or await is_asked(queue.threads, snapshot, task):
        return snapshot
    async for older in graph.aget_state_history(config):
        if is_present(older.values, task) and not is_given(older):
            return older
    return snapshot._replace(values={}, tasks=(), interrupts=())
