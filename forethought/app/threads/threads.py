"""threads: the list, and --prune, which deletes old threads and unused files."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from forethought.app.command_flags import CommandOptions, flag
from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, WAITS, CliError, echo
from forethought.app.options import settings_from
from forethought.app.runner import open_runner
from forethought.app.text import clean, one_line, to_json
from forethought.app.threads.entries import add_seconds, list_threads
from forethought.app.threads.thread import is_debugging
from forethought.settings import Settings
from forethought.storage import address_of, open_threads
from forethought.storage.errors import NoThreads

if TYPE_CHECKING:
    from forethought.storage.saver import ThreadSaver

Json = dict[str, Any]
_FINISHED = "answered,best_effort,budget_exhausted,fixed,not_fixed,found,not_found,successful"
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class ThreadsOptions(CommandOptions):
    """The flags of `threads`."""

    offers = "db"

    limit: int = flag(help="Maximum number of threads.", metavar="N", default=50, min=1)
    every: bool = flag("--all", help="Include debugging threads.", default=False)
    prune: bool = flag(help="Delete old threads and unused files.", default=False)
    older_than: str = flag(help="Minimum age to prune (m, h, d, w).", metavar="30d", default="30d")
    status: str = flag(
        help="Statuses to prune.",
        metavar="S,...",
        default=_FINISHED,
    )
    yes: bool = flag("--yes", "-y", help="Do not ask for confirmation.", default=False)


def threads(options: ThreadsOptions) -> int:
    """List threads, or delete old ones."""
    settings = settings_from(options)
    if options.prune:
        return _prune(options, settings)
    address = address_of(settings)

    async def read() -> list[Json]:
        try:
            async with open_threads(address, settings.key, create=False) as saver:
                found = await list_threads(saver, options.limit, options.every)
                if options.as_json:
                    await add_seconds(found, _states(saver, settings))
                return found
        except NoThreads:
            return []

    entries = asyncio.run(read()) if address.exists else []
    if options.as_json:
        print(to_json(entries))
    else:
        make_console().print(
            _table(entries) if entries else Text(f"no threads yet in {clean(address.shown)}")
        )
    return ANSWERED


def _states(saver: ThreadSaver, settings: Settings) -> Callable[[str], Awaitable[Mapping[str, Any]]]:
    """A function that reads a thread's whole state."""
    from forethought.graph.agent import build_agent

    graph = build_agent(settings=settings.model_copy(update={"tools": None}), checkpointer=saver)

    async def state_of(thread_id: str) -> Mapping[str, Any]:
        values: Mapping[str, Any] = (
            await graph.aget_state({"configurable": {"thread_id": thread_id}})
        ).values
        return values

    return state_of


def _table(entries: list[Json]) -> Table:
    table = Table(box=None, padding=(0, 1), header_style="dim")
    for name in ("thread", "time", "status", "task", "answer"):
        table.add_column(name, no_wrap=name in {"time", "status"}, overflow="fold")
    # An id that is cut or folded cannot be copied: where the terminal is narrow, the rest gives way.
    table.columns[0].min_width = min(24, max(len(entry["thread_id"]) for entry in entries))
    for entry in entries:
        when = datetime.fromisoformat(entry["time"]).astimezone() if entry["time"] else None
        time = f"{when:%Y-%m-%d %H:%M}" if when else ""
        cells = (one_line(entry["thread_id"]), time, entry["status"], entry["task"], entry["answer"])
        table.add_row(*(Text(str(cell)) for cell in cells))
    return table


def _prune(options: ThreadsOptions, settings: Settings) -> int:
    """Delete old threads once a person has agreed. Returns the exit code."""
    age = _age(options.older_than)
    last = datetime.now(UTC) - age
    address = address_of(settings)
    with open_runner(options.as_json) as runner:
        thread_ids = runner.run(_choose(settings, options, last)) if address.exists else []
        debuggings = [name for name in thread_ids if is_debugging(name)]
        own = [name for name in thread_ids if name not in debuggings]
        result: Json = {"status": "pruned", "threads": own, "debuggings": debuggings}
        where = clean(address.shown)
        what = f"{len(own)} threads and {len(debuggings)} debugging threads in {where}"
        if not thread_ids:
            runner.console.print(Text(f"nothing to prune in {where}"))
        elif options.yes or runner.confirm(f"delete {what} permanently?", default=False):
            result |= runner.run(_delete(settings, thread_ids, age, last))
            gone = len(thread_ids) - len(result["skipped"])
            size = f"{result['bytes_before']:,} bytes before, {result['bytes_after']:,} after"
            line = f"deleted {gone} of {len(thread_ids)}, with {len(result['files'])} stored files; {size}"
            runner.console.print(Text(line))
            for problem in result["problems"]:
                echo(problem)
        else:
            result["status"] = "waits"
            runner.console.print(
                Text(f"would be deleted permanently: {what}: {one_line(', '.join(thread_ids), 600)}")
            )
            echo("nothing was deleted; to delete, repeat the command with --yes")
        runner.print_json(result)
        return WAITS if result["status"] == "waits" else ANSWERED


def _age(text: str) -> timedelta:
    """A duration such as 30d. Raises CliError."""
    match = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip().lower())
    if not match:
        raise CliError(f"--older-than {one_line(text, 40)}: write a number and m, h, d or w, such as 30d")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


async def _choose(settings: Settings, options: ThreadsOptions, last: datetime) -> list[str]:
    """Ids of the threads that go: those unchanged since `last`."""
    try:
        async with open_threads(address_of(settings), settings.key, create=False) as saver:
            entries = await list_threads(saver, 1_000_000_000, debuggings=True)
    except NoThreads:
        return []
    statuses = [status.strip() for status in options.status.split(",")]
    old = [entry for entry in entries if entry["time"] <= last.isoformat()]
    return [entry["thread_id"] for entry in old if entry["status"] in statuses]


async def _delete(settings: Settings, thread_ids: list[str], age: timedelta, last: datetime) -> Json:
    """Delete, and shrink the database: {bytes_before, bytes_after, files, jobs, skipped, problems}."""
    import sqlite3

    from forethought.batch.retention import delete_jobs
    from forethought.storage.retention import delete_files, delete_threads, oldest_thread

    async with open_threads(address_of(settings), settings.key) as saver:
        before = await saver.size()
        skipped = await delete_threads(saver, thread_ids, last)
        files = delete_files(settings.blobs_dir, age, await oldest_thread(saver))
        jobs = await delete_jobs(saver, [name for name in thread_ids if name not in skipped], age)
        problems = list(skipped.values())
        try:
            await saver.shrink()
        except sqlite3.OperationalError as error:
            problems.append(f"the file did not shrink ({error}); new threads reuse its free space")
        sizes = {"bytes_before": before, "bytes_after": await saver.size()}
    return {**sizes, "files": files, "jobs": jobs, "skipped": list(skipped), "problems": problems}
