"""What a person is shown of jobs, and their results as JSON Lines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from forethought.app.report import report
from forethought.app.text import one_line, to_json
from forethought.app.threads.entries import DAMAGED
from forethought.json_files import write_text
from forethought.storage import StorageError

if TYPE_CHECKING:
    from forethought.batch import Progress, Queue
    from forethought.batch.job import JobResult
    from forethought.settings import Settings

Json = dict[str, Any]
_RESULT = ("status", "answer", "sources", "score", "rounds", "usage", "seconds", "interrupts", "error")
_LISTED = 3
"""Most failed jobs that are listed one by one."""


@dataclass(frozen=True)
class WorkerLog:
    """A line a job."""

    console: Console

    def line(self, text: str) -> None:
        """Print a line."""
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def ended(self, thread_id: str, result: JobResult, seconds: float) -> None:
        """A job has ended."""
        what = result.status if result.outcome == "done" else result.outcome
        error = f": {one_line(result.error, 200)}" if result.error else ""
        usage = result.usage
        cost = _cost(usage.get("usd", 0), usage.get("calls", 0), usage.get("unpriced", 0))
        self.line(f"{thread_id}  {what}  {seconds:.1f} s  {cost}{error}")

    def put_back(self, thread_id: str, why: str) -> None:
        """A job is in the queue again."""
        self.line(f"{thread_id}  back in the queue: {one_line(why, 200)}")


def _cost(usd: float, calls: float, unpriced: float) -> str:
    """Dollars of the calls whose price is known, and how many others there are."""
    parts = [f"{usd:.4f} USD"] if calls > unpriced or not unpriced else []
    parts += [f"{unpriced:.0f} calls at an unknown price"] if unpriced else []
    return " and ".join(parts)


def progress_lines(progress: Progress) -> list[str]:
    """The progress, for a person."""
    states = ", ".join(f"{count} {state}" for state, count in progress.states.items() if count) or "none"
    lines = [
        f"{progress.total} jobs: {states}",
        f"{progress.calls} calls, {progress.input_tokens:,} tokens in, {progress.output_tokens:,} out, "
        f"{_cost(progress.usd, progress.calls, progress.unpriced)}",
    ]
    if progress.per_minute:
        left = progress.seconds_left
        rest = f", about {left / 60:.1f} min left" if left is not None else ""
        lines.append(f"{progress.per_minute:g} jobs per minute{rest}")
    return lines


async def failure_lines(queue: Queue, batch: str | None) -> list[str]:
    """The first jobs that failed, and why."""
    from forethought.batch.progress import list_jobs

    failed = [job async for job in list_jobs(queue, batch) if job["state"] == "failed"]
    lines = [
        f"failed: {job['thread_id']}: {one_line(job['error'], 200)}".rstrip(": ") for job in failed[:_LISTED]
    ]
    if len(failed) > _LISTED:
        lines.append(
            f"{len(failed) - _LISTED} more failed; to list them all: forethought jobs --results FILE"
        )
    return lines


async def write_results(queue: Queue, settings: Settings, batch: str | None, path: Path) -> str:
    """Write the results to a file, whole or not at all; `-` is stdout. Returns what to tell.

    Raises OSError, psycopg.Error.
    """
    results = [result async for result in _results(queue, settings, batch)]
    text = "".join(f"{to_json(result, indent=None)}\n" for result in results)
    if str(path) == "-":
        print(text, end="", flush=True)
        return f"{len(results)} results"
    write_text(path, text)
    return f"{len(results)} results written to {path}"


async def _results(queue: Queue, settings: Settings, batch: str | None) -> AsyncIterator[Json]:
    """A result a job that has ended for now: its state, and what its thread says.

    One that cannot be read is told, and no other job's matter.
    """
    from forethought.batch.progress import list_jobs
    from forethought.graph.agent import build_agent

    # Threads are only read: their tools are not needed.
    plain = settings.model_copy(update={"tools": None, "mcp_file": None})
    graph = build_agent(settings=plain, checkpointer=queue.threads)
    async for job in list_jobs(queue, batch):
        if job["state"] in ("todo", "doing"):
            continue
        names = {key: job[key] for key in ("batch", "id", "thread_id", "state")}
        try:
            snapshot = await graph.aget_state({"configurable": {"thread_id": job["thread_id"]}})
        except StorageError as error:
            yield {**names, "status": DAMAGED, "error": one_line(error, 300)}
            continue
        result = report(job["thread_id"], snapshot, job["error"] or None)
        yield {**names, **{key: result[key] for key in _RESULT if key in result}}
