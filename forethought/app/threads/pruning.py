"""threads --prune: old threads are let go of, with their debuggings, jobs, and files that only they named."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from rich.text import Text

from forethought.app.agreeing import agreed
from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, WAITS, CliError
from forethought.app.options import Flags, settings_from
from forethought.app.tell import tell
from forethought.app.text import clean, one_line, to_json
from forethought.app.threads.threads import DAMAGED, LEARNING, is_debugging, listed
from forethought.storage import StorageError, address_of, open_threads
from forethought.storage.errors import NoThreads

if TYPE_CHECKING:
    from forethought.settings import Settings
    from forethought.storage.saver import ThreadSaver

Json = dict[str, Any]
FINISHED = ("answered", "best_effort", "budget_exhausted")
"""Statuses of a task that is over and can be gone on with in no other way than by a new one."""
UNFINISHED = ("failed", "stopped", "interrupted")
_DEBUGGED = ("fixed", "not_fixed", "found", "not_found", "successful")
OLDER_THAN = "30d"
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_ALL = 1_000_000_000
_DEBUG_ORDER = "forethought_debug"


@dataclass(frozen=True)
class Choice:
    """Which threads may go."""

    older_than: timedelta
    """Since they were last written to."""
    statuses: frozenset[str]
    keep: int = 0
    """The newest so many stay, whatever they are."""
    files: bool = True
    """Stored files that only they named go too."""


@dataclass(frozen=True)
class _Found:
    """What there is to prune."""

    chosen: list[str]
    """Ids of the threads that go, the newest first, each followed by its debuggings."""
    open_jobs: dict[str, str]
    """Threads that would go, were their jobs over, and the states of those."""
    ended_jobs: int
    """Jobs that have ended and have no thread."""


def choice_of(older_than: str | None, statuses: str | None, keep: int, keep_files: bool) -> Choice:
    """The flags as a choice. Raises CliError."""
    text = (older_than or OLDER_THAN).strip().lower()
    match = re.fullmatch(r"(\d{1,6})([mhdw])", text)
    if not match:
        raise CliError(
            f"--older-than {one_line(text, 40)}: write a number and m, h, d or w, such as {OLDER_THAN}"
        )
    known = (*FINISHED, *UNFINISHED, DAMAGED)
    wanted = [name.strip() for name in statuses.split(",")] if statuses is not None else FINISHED
    unknown = next((name for name in wanted if name not in known), None)
    if unknown is not None:
        raise CliError(f"--status {one_line(unknown, 40)!r}: choose of {', '.join(known)}")
    return Choice(timedelta(**{_UNITS[match[2]]: int(match[1])}), frozenset(wanted), keep, not keep_files)


def prune(flags: Flags, choice: Choice, yes: bool, as_json: bool) -> int:
    """Let go of the threads of `choice`, once a person has agreed. Returns the exit code."""
    settings = settings_from(flags)
    address = address_of(settings)
    console = make_console(sys.stderr if as_json else sys.stdout)
    if not address.exists:
        console.print(Text(f"nothing to prune: there is no database at {clean(address.shown)}"))
        return _end({"status": "pruned", "threads": [], "debuggings": []}, as_json)
    try:
        found = asyncio.run(_choose(settings, choice))
    except NoThreads:
        found = _Found([], {}, 0)
    chosen = found.chosen
    threads = [name for name in chosen if not is_debugging(name)]
    debuggings = [name for name in chosen if is_debugging(name)]
    result: Json = {"status": "waits", "threads": threads, "debuggings": debuggings}
    if found.open_jobs:
        result["open_jobs"] = found.open_jobs
        tell(_kept_for_jobs(found.open_jobs))
    if not chosen and not found.ended_jobs:
        console.print(Text(f"nothing to prune in {clean(address.shown)}"))
        return _end({**result, "status": "pruned"}, as_json)
    what = f"{len(threads)} threads and {len(debuggings)} debuggings in {clean(address.shown)}"
    if found.ended_jobs:
        what = f"{found.ended_jobs} jobs without a thread, {what}"
    if (chosen or found.ended_jobs) and not yes and not _agreed(what, as_json):
        named = f": {', '.join(chosen[:20])}{' …' * (len(chosen) > 20)}" if chosen else ""
        console.print(Text(f"would go for good: {what}{named}"))
        tell("nothing was deleted; go on with the same command and --yes")
        _end(result, as_json)
        return WAITS
    result |= asyncio.run(_carry_out(settings, choice, chosen))
    gone = [name for name in chosen if name not in result["skipped"]]
    console.print(
        Text(
            f"deleted {_counted(gone, chosen)}{len(result['files'])} stored files"
            + (f" and {result['jobs']} jobs" if result["jobs"] else "")
            + "; the database: "
            f"{result['bytes_before']:,} bytes before, {result['bytes_after']:,} after"
        )
    )
    for line in result["problems"]:
        tell(line)
    return _end({**result, "status": "pruned"}, as_json)


def _counted(gone: Sequence[str], chosen: Sequence[str]) -> str:
    """How many threads and debuggings; '' where it is files or jobs alone that are left from before."""
    return f"{len(gone)} of {len(chosen)}, with " if chosen else ""


def _kept_for_jobs(jobs: dict[str, str]) -> str:
    named = ", ".join(f"{thread_id} ({state})" for thread_id, state in list(jobs.items())[:5])
    return f"{len(jobs)} threads stay, since their jobs are not over: {named}{' …' * (len(jobs) > 5)}"


def _end(result: Json, as_json: bool) -> int:
    if as_json:
        print(to_json(result), flush=True)
    return ANSWERED


def _agreed(what: str, as_json: bool) -> bool:
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return agreed(f"delete {what} for good? [y/N]")


async def _choose(settings: Settings, choice: Choice) -> _Found:
    """What there is to prune. Raises StorageError, psycopg.Error."""
    from forethought.batch.forgetting import forgettable, open_jobs

    async with open_threads(address_of(settings), settings.key, read_only=True) as saver:
        ended = await forgettable(saver, choice.older_than)
        ids = await saver.newest(_ALL, LEARNING)
        held = await saver.locked_threads(ids)
        jobs = await open_jobs(saver)
        kept: dict[str, str] = {}
        subjects: dict[str, list[str]] = {}
        wanted: list[str] = []
        place = 0
        for thread_id in ids:
            subject = await _subject(saver, thread_id)
            if subject in ids:
                subjects.setdefault(subject, []).append(thread_id)
                continue
            place += not is_debugging(thread_id)
            found = await listed(saver, thread_id, thread_id in held)
            if found and place > choice.keep and _may_go(found, choice):
                if thread_id in jobs:
                    kept[thread_id] = jobs[thread_id]
                else:
                    wanted.append(thread_id)
    chosen = [name for thread_id in wanted for name in (thread_id, *subjects.get(thread_id, ()))]
    return _Found(chosen, kept, ended)


def _may_go(found: Json, choice: Choice) -> bool:
    """Whether a listed thread is of the choice. When a damaged one was written to cannot be told."""
    debugged = _DEBUGGED if is_debugging(found["thread_id"]) else ()
    if found["status"] not in choice.statuses.union(debugged):
        return False
    age = datetime.now(UTC) - datetime.fromisoformat(found["time"]) if found["time"] else None
    return age is None or age >= choice.older_than


async def _subject(saver: ThreadSaver, thread_id: str) -> str:
    """The thread that a debugging is of; '' where it is of none, or none."""
    if not is_debugging(thread_id):
        return ""
    try:
        saved = await saver.aget_tuple({"configurable": {"thread_id": thread_id}})
        text: Any = saved.metadata.get(_DEBUG_ORDER) if saved else None
        order = json.loads(text) if isinstance(text, str) else {}
    except (StorageError, ValueError, RecursionError):
        return ""
    return str(order.get("thread") or "") if isinstance(order, dict) else ""


async def _carry_out(settings: Settings, choice: Choice, chosen: Sequence[str]) -> Json:
    """Delete, and shrink the database: {bytes_before, bytes_after, files, jobs, skipped, problems}."""
    import sqlite3

    from forethought.batch.forgetting import forget, forget_files, open_jobs
    from forethought.storage.retention import delete_threads

    async with AsyncExitStack() as stack:
        saver = await stack.enter_async_context(open_threads(address_of(settings), settings.key))
        before = await saver.size()
        begun_again = await open_jobs(saver)
        files = settings.blobs_dir if choice.files else None
        free = [thread_id for thread_id in chosen if thread_id not in begun_again]
        done = await delete_threads(saver, free, files, await _beside(stack, settings))
        problems = done.problems
        jobs = await forget(saver, choice.older_than)
        try:
            await forget_files(saver)
        except StorageError as error:
            problems.append(f"{error}; the jobs' files stay")
        try:
            await saver.shrink()
        except sqlite3.OperationalError as error:
            problems.append(f"the file was not made smaller ({error}): its space is used again")
        after = await saver.size()
    return {
        "bytes_before": before,
        "bytes_after": after,
        "files": done.files,
        "jobs": jobs,
        "skipped": [*done.skipped, *(begun_again.keys() & set(chosen))],
        "problems": problems,
    }


async def _beside(stack: AsyncExitStack, settings: Settings) -> list[ThreadSaver]:
    """The databases beside SQLite's that may name stored files."""
    from forethought.app import distill, synthesize

    address = address_of(settings)
    names = (distill.DATABASE, synthesize.DATABASE) if address.path is not None else ()
    found = [address.beside(name) for name in names]
    return [
        await stack.enter_async_context(open_threads(each, settings.key, read_only=True))
        for each in found
        if each.exists
    ]
