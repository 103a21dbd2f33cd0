"""jobs: how far the queue is, its results, and changes to it."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.app.batch.results import write_results
from forethought.app.batch.working import cost_of
from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, CliError
from forethought.app.options import Flags, settings_from
from forethought.app.text import one_line, to_json
from forethought.text import sanitize_text

if TYPE_CHECKING:
    from forethought.batch.opening import Queue
    from forethought.batch.progress import Progress

Json = dict[str, Any]
_NAMED = 3
"""Most failed jobs that are told one by one."""


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
                done.append(await write_results(queue, settings, asked.batch, asked.results))
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
    found = _can_be_kept(batch) and await queue.threads.rows(
        "SELECT 1 FROM forethought_jobs WHERE batch = ? LIMIT 1", (batch,)
    )
    if not found:
        raise CliError(f"no batch {one_line(sanitize_text(batch), 40)} in {queue.address.shown}")


def _can_be_kept(name: str) -> bool:
    """Whether a database can have it: a command line need not be UTF-8."""
    return sanitize_text(name) == name


async def _changed(queue: Queue, asked: Asked) -> list[str]:
    """What was changed, as lines."""
    from forethought.batch.changing import being_cancelled, cancel, damaged, retry, thread_gone
    from forethought.batch.outcomes import THREAD_GONE

    if asked.cancel:
        for thread_id in asked.cancel:
            if not _can_be_kept(thread_id) or not await cancel(queue, thread_id=thread_id):
                raise CliError(
                    f"{one_line(sanitize_text(thread_id), 100)} is no open job; give the id of its thread"
                )
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
        broken = await damaged(queue, batch=asked.batch)
        refused += [
            f"not taken up: {one_line(f'{job}: {why}', 400)}" for job, why in list(broken.items())[:_NAMED]
        ]
        more = len(broken) - _NAMED
        refused += [f"{more} more whose threads are damaged"] * (more > 0)
        return [f"took up {took_up} jobs again", *refused]
    return []


def _ending(thread_ids: list[str]) -> list[str]:
    line = f"{len(thread_ids)} are being cancelled, and end after their calls under way: {_first(thread_ids)}"
    return [line] if thread_ids else []


def _first(thread_ids: list[str]) -> str:
    return ", ".join(thread_ids[:5]) + " …" * (len(thread_ids) > 5)


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
    return (
        f"{len(held)} in the queue whose thread another process holds, the first: {held[0]['thread_id']}; "
        "should that process hang, end it"
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
