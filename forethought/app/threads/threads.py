"""threads: the list of what is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, CliError
from forethought.app.options import settings_from
from forethought.app.report import error_text
from forethought.app.text import clean, one_line, to_json
from forethought.app.threads.thread import DEBUGGING
from forethought.storage import address_of, open_threads
from forethought.storage.errors import NoThreads, StorageError

if TYPE_CHECKING:
    from langgraph.checkpoint.base import CheckpointTuple

    from forethought.app.commands import ThreadsOptions
    from forethought.storage.saver import ThreadSaver

Json = dict[str, Any]
_WIDTH = 80
DAMAGED = "damaged"
"""Status of a thread that cannot be read."""
LEARNING = ("distill:", "synthesize:")
"""Prefixes of the ids of distillations and syntheses, where all share one database."""


def threads(options: ThreadsOptions) -> int:
    """List the threads, newest first. No database is an empty list, not an error."""
    if options.older_than or options.status or options.keep or options.keep_files or options.yes:
        raise CliError("--older-than, --status, --keep, --keep-files and --yes go with --prune")
    settings = settings_from(options)
    address = address_of(settings)

    async def read() -> list[Json]:
        try:
            async with open_threads(address, settings.key, read_only=True) as saver:
                return await list_threads(saver, options.limit, options.every)
        except NoThreads:
            return []

    found = asyncio.run(read()) if address.exists else []
    if options.as_json:
        print(to_json(found))
    else:
        make_console().print(_table(found) if found else Text(f"no threads yet in {clean(address.shown)}"))
    return ANSWERED


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


async def list_threads(saver: ThreadSaver, limit: int, debuggings: bool = False) -> list[Json]:
    """The newest `limit` threads: {thread_id, time, status, task, answer}, from its last checkpoint.

    Debuggings, which are threads of the debugger's graph, only where they are asked for.
    """
    ids = await saver.newest(limit, LEARNING if debuggings else (DEBUGGING, *LEARNING))
    locked = await saver.locked_threads(ids)
    entries = [await _entry(saver, thread_id, thread_id in locked) for thread_id in ids]
    return [entry for entry in entries if entry is not None]


async def _entry(saver: ThreadSaver, thread_id: str, is_locked: bool) -> Json | None:
    """A thread as it is listed; None where it was deleted a moment ago."""
    try:
        saved = await saver.aget_tuple({"configurable": {"thread_id": thread_id}})
    except StorageError as error:
        cause = one_line(error, 300)
        return {"thread_id": thread_id, "time": "", "status": DAMAGED, "task": cause, "answer": ""}
    if saved is None:
        return None
    values: Json = saved.checkpoint["channel_values"]
    progress, start, subject = (values.get(name) or {} for name in ("progress", "__start__", "subject"))
    task = progress.get("asked") or start.get("task") or values.get("task") or subject.get("task")
    answer = values.get("answer") or _critical_step(values.get("critical") or {})
    return {
        "thread_id": thread_id,
        "time": saved.checkpoint["ts"],
        "status": "running" if is_locked else _status(values, saved),
        "task": one_line(task or "", _WIDTH),
        "answer": one_line(answer, _WIDTH),
    }


def _critical_step(critical: Mapping[str, Any]) -> str:
    """What a debugging found, in the place of an answer."""
    if not critical:
        return ""
    where = f"step {critical.get('critical_step')}, {critical.get('critical_module')}"
    return f"{where}: {critical.get('error_type')}"


def _status(values: Mapping[str, Any], saved: CheckpointTuple) -> str:
    """The status of a thread that no process runs: an unfinished one is interrupted, failed or stopped."""
    from forethought.journal import is_waiting

    if is_waiting(saved):
        return "interrupted"
    writes = saved.pending_writes or []
    if any(channel == "__error__" and error_text(value) for _, channel, value in writes):
        return "failed"
    status = str(values.get("status") or "running")
    return "stopped" if status == "running" or "__start__" in values else status
