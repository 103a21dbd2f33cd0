"""jobs: how far the queue is, its results, and changes to it."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.app.batch.working import cost_of
from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, CliError
from forethought.app.options import Flags, settings_from
from forethought.app.report import report
from forethought.app.text import one_line, to_json

if TYPE_CHECKING:
    from forethought.batch.opening import Queue
    from forethought.batch.progress import Progress
    from forethought.settings import Settings

Json = dict[str, Any]
_NAMED = 3
"""Most failed jobs that are told one by one."""
_RESULT = ("status", "answer", "sources", "score", "rounds", "usage", "seconds", "interrupts", "error")


@dataclass(frozen=True)
class Asked:
    """What the command line asks for."""

    batch: str | None
    results: Path | None
    cancel: tuple[str, ...]
    cancel_all: bool
    retry: bool
    cancelled: bool


def jobs(flags: Flags, asked: Asked, as_json: bool) -> int:
    """Do what is asked and show how far the jobs are: the exit code. Raises CliError, StorageError."""
    from forethought.batch.opening import open_queue

    if (bool(asked.cancel) + asked.cancel_all + asked.retry) > 1:
        raise CliError("choose one of --cancel, --cancel-all and --retry")
    if asked.cancelled and not asked.retry:
        raise CliError("--cancelled goes with --retry")
    settings = settings_from(flags)

    async def run() -> tuple[list[str], Progress]:
        from forethought.batch.progress import progress_of

        async with open_queue(settings, create=False) as queue:
            if asked.batch is not None:
                await _check_batch(queue, asked.batch)
            done = await _changed(queue, asked)
            if asked.results is not None:
                done.append(await _write(queue, settings, asked.batch, asked.results))
            found = await progress_of(queue, asked.batch)
            return [*done, *_lines(found), *await _failed(queue, asked.batch, found)], found

    told, found = asyncio.run(run())
    to_stdout = asked.results is not None and str(asked.results) == "-"
    console = make_console(sys.stderr if as_json or to_stdout else sys.stdout)
    for line in told:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if as_json:
        print(to_json(found.to_json()), flush=True)
    return ANSWERED


async def _check_batch(queue: Queue, batch: str) -> None:
    found = await queue.threads.rows("SELECT 1 FROM forethought_jobs WHERE batch = ? LIMIT 1", (batch,))
    if not found:
        raise CliError(f"no batch {one_line(batch, 40)} in {queue.address.shown}")


async def _changed(queue: Queue, asked: Asked) -> list[str]:
    """What was changed, as lines."""
    from forethought.batch.changing import being_cancelled, cancel, retry, thread_gone
    from forethought.batch.outcomes import THREAD_GONE

    if asked.cancel:
        for thread_id in asked.cancel:
            if not await cancel(queue, thread_id=thread_id):
                raise CliError(f"{one_line(thread_id, 100)} is no open job; give the id of its thread")
        ending = set(await being_cancelled(queue)).intersection(asked.cancel)
        ended = [thread_id for thread_id in asked.cancel if thread_id not in ending]
        return [*([f"cancelled {', '.join(ended)}"] if ended else []), *_ending(sorted(ending))]
    if asked.cancel_all:
        count = await cancel(queue, batch=asked.batch)
        ending = set(await being_cancelled(queue, asked.batch))
        return [f"cancelled {count - len(ending)} jobs", *_ending(sorted(ending))]
    if asked.retry:
        took_up = await retry(queue, batch=asked.batch, cancelled=asked.cancelled)
        gone = await thread_gone(queue, batch=asked.batch, cancelled=asked.cancelled)
        refused = [f"not taken up: {_first(gone)}: {THREAD_GONE}"] if gone else []
        return [f"took up {took_up} jobs again", *refused]
    return []


def _ending(thread_ids: list[str]) -> list[str]:
    line = f"{len(thread_ids)} are being cancelled, and end after their calls under way: {_first(thread_ids)}"
    return [line] if thread_ids else []


def _first(thread_ids: list[str]) -> str:
    return ", ".join(thread_ids[:5]) + " …" * (len(thread_ids) > 5)


async def _write(queue: Queue, settings: Settings, batch: str | None, path: Path) -> str:
    """Write the results to a file, whole or not at all; `-` is stdout. Returns what to tell."""
    count = 0
    if str(path) == "-":
        async for result in _results(queue, settings, batch):
            print(to_json(result, indent=None), flush=True)
            count += 1
        return f"{count} results"
    if not path.parent.is_dir():
        raise CliError(f"--results {path}: its folder does not exist")
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            async for result in _results(queue, settings, batch):
                file.write(to_json(result, indent=None) + "\n")
                count += 1
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    return f"{count} results written to {path}"


async def _results(queue: Queue, settings: Settings, batch: str | None) -> AsyncIterator[Json]:
    """A result a job that has ended for now: its state, and what its thread says."""
    from forethought.batch.progress import listed
    from graph.agent import build_agent

    # Threads are only read: their tools are not needed.
    plain = settings.model_copy(update={"tools": None, "mcp_file": None})
    graph = build_agent(settings=plain, checkpointer=queue.threads)
    async for job in listed(queue, batch):
        if job["state"] in ("todo", "doing"):
            continue
        snapshot = await graph.aget_state({"configurable": {"thread_id": job["thread_id"]}})
        told = report(job["thread_id"], snapshot, job["error"] or None)
        named = {key: job[key] for key in ("batch", "id", "thread_id", "state")}
        yield {**named, **{key: told[key] for key in _RESULT if key in told}}


def _lines(found: Progress) -> list[str]:
    """The progress, for a person."""
    states = ", ".join(f"{count} {state}" for state, count in found.states.items() if count) or "none"
    lines = [
        f"{found.total} jobs: {states}",
        f"{found.calls} calls, {found.input_tokens:,} tokens in, {found.output_tokens:,} out, "
        f"{cost_of(found.usd, found.calls, found.unpriced)}",
    ]
    if found.per_minute:
        left = found.seconds_left
        rest = f", about {_span(left)} left" if left is not None else ""
        lines.append(f"{found.per_minute:g} jobs a minute{rest}")
    for state, what in (("todo", "in the queue"), ("waiting", "waiting for a person")):
        if oldest := found.oldest.get(state):
            lines.append(f"longest {what}: {oldest['thread_id']}, {_span(oldest['seconds'])}")
    if found.held:
        lines.append(_held(found.held))
    if found.damaged:
        lines.append(f"{found.damaged} jobs whose row was changed by hand: their cost or end is not counted")
    return lines


def _held(held: list[Json]) -> str:
    first = held[0]
    silent = f", a worker's, silent for {_span(first['seconds'])}" if first["seconds"] is not None else ""
    return (
        f"{len(held)} in the queue whose thread another process holds, the first: {first['thread_id']} "
        f"(session {first['session']} of the database{silent}); should that process hang, end it, or the "
        f"session: SELECT pg_terminate_backend({first['session']})"
    )


async def _failed(queue: Queue, batch: str | None, found: Progress) -> list[str]:
    """The first jobs that failed, and why."""
    from forethought.batch.progress import listed

    count = found.states["failed"]
    lines: list[str] = []
    if not count:
        return lines
    async for job in listed(queue, batch):
        if job["state"] == "failed" and len(lines) < _NAMED:
            lines.append(f"failed: {job['thread_id']}: {one_line(job['error'], 200)}".rstrip(": "))
    more = [f"{count - len(lines)} more failed; all of them: forethought jobs --results FILE"]
    return lines + more * (count > len(lines))


def _span(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
