"""threads and show: what is kept, without running anything."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from forethought.app import render
from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, CliError
from forethought.app.options import Flags, settings_from
from forethought.app.report import Json, report
from forethought.app.run.run import show_result
from forethought.app.text import clean, one_line, to_json
from forethought.app.threads.comparing import show_branches, show_difference
from forethought.app.threads.thread import read_thread
from forethought.app.threads.threads import is_debugging, list_threads
from forethought.storage import address_of, open_threads
from forethought.storage.errors import NoThreads

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from forethought.app.threads.thread import Thread

_CHECKPOINTS = 500
"""Most checkpoints that `show --steps` lists."""
_ALL_LINES = 10_000


@dataclass(frozen=True)
class Wanted:
    """What of a thread is to be shown."""

    steps: bool = False
    """Whole observations, and the checkpoints."""
    branches: bool = False
    """The list of its branches instead."""
    diff: str | None = None
    """The difference from this branch instead."""


def threads(flags: Flags, limit: int, every: bool, as_json: bool) -> int:
    """List the threads, newest first. No database is an empty list, not an error."""
    settings = settings_from(flags)
    address = address_of(settings)

    async def read() -> list[Json]:
        try:
            async with open_threads(address, settings.key, read_only=True) as saver:
                return await list_threads(saver, limit, every)
        except NoThreads:
            return []

    found = asyncio.run(read()) if address.exists else []
    if as_json:
        print(to_json(found))
        return ANSWERED
    console = make_console()
    console.print(_table(found) if found else Text(f"no threads yet in {clean(address.shown)}"))
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


def show(thread_id: str, flags: Flags, wanted: Wanted, as_json: bool) -> int:
    """Show what is wanted of one thread. Raises CliError when two things are wanted at once."""
    if wanted.steps + wanted.branches + (wanted.diff is not None) > 1:
        raise CliError("--steps, --branches and --diff each show something else: give one of them")
    if is_debugging(thread_id):
        from forethought.app.debug.command import show_debugging

        if wanted != Wanted():
            raise CliError(f"{thread_id} is a debugging: `forethought show {thread_id}` shows all of it")
        return show_debugging(thread_id, flags, as_json)
    if wanted.branches:
        return show_branches(thread_id, flags, as_json)
    if wanted.diff is not None:
        return show_difference(thread_id, wanted.diff, flags, as_json)
    return _show_task(thread_id, flags, wanted.steps, as_json)


def _show_task(thread_id: str, flags: Flags, steps: bool, as_json: bool) -> int:
    """One thread's present task; with `steps` whole observations and the checkpoints."""
    found: dict[str, Any] = {}

    async def read() -> None:
        async with read_thread(thread_id, flags) as thread:
            snapshot = await thread.snapshot()
            found["result"] = report(thread_id, snapshot)
            found["values"] = dict(snapshot.values)
            found["history"] = await _history(thread) if steps else []
            held = await thread.saver.locked_threads([thread_id])
            if found["result"]["status"] == "running" and not held:
                found["result"]["status"] = "stopped"
            if not held and (calls := await _broken_off(thread)):
                found["result"]["broken_off"] = calls

    asyncio.run(read())
    result: Json = found["result"]
    if as_json:
        print(to_json({**result, **({"checkpoints": found["history"]} if steps else {})}))
    else:
        _print_thread(make_console(), result, found["values"], found["history"])
    return ANSWERED


def _print_thread(console: Console, result: Json, values: Json, history: list[Json]) -> None:
    progress: Json = values.get("progress") or {}
    console.print(Text(f"thread {one_line(result['thread_id'])}", style="bold"))
    for earlier in progress.get("earlier") or []:
        console.print(
            Text(f"earlier task: {one_line(earlier.get('task'))} → {one_line(earlier.get('answer'))}", "dim")
        )
    console.print(Text(f"task: {clean(progress.get('asked') or values.get('task') or '').strip()}"))
    for item in values.get("files") or []:
        if isinstance(item, dict):
            console.print(Text(f"file: {one_line(item.get('name'))} ({item.get('size', 0):,} bytes)", "dim"))
    for review in result["plan_reviews"]:
        console.print(render.review(review))
    if result["plan"]:
        console.print(render.plan(result["plan"]))
    replans = list(result["replans"])
    for step in result["steps"]:
        while replans and replans[0]["n"] < step["n"]:
            console.print(render.replan(replans.pop(0)))
        console.print(render.step(step, _ALL_LINES if history else 3))
    for record in replans:
        console.print(render.replan(record))
    for record in (values.get("long_term") or {}).values():
        if (line := render.round_record(record)) is not None:
            console.print(line)
    for item in result.get("broken_off") or []:
        call = f"{one_line(item['tool'])}({one_line(item['call'], 300)})"
        told = f"broken off: {call}: nobody knows whether it took effect; you are asked when it goes on"
        console.print(Text(told, "yellow"))
    show_result(result, console)
    for entry in history:
        console.print(
            Text(
                f"{entry['checkpoint_id']}  step {entry['n']}  next: {', '.join(entry['next']) or '-'}", "dim"
            )
        )


async def _broken_off(thread: Thread) -> list[Json]:
    """The calls of which a person is asked what came once the thread goes on: {tool, call: arguments}."""
    from forethought.journal import unfinished_entries
    from forethought.nodes.support.calls import broken_off_calls

    saved = await thread.saver.aget_tuple({"configurable": {"thread_id": thread.id}})
    calls = [call for entries in unfinished_entries(saved) for call in broken_off_calls(entries)]
    return [{"tool": call["tool"], "call": call["call"]} for call in calls]


async def _history(thread: Thread) -> list[Json]:
    """The newest checkpoints, oldest first: {checkpoint_id, time, n, next}."""
    config: RunnableConfig = {"configurable": {"thread_id": thread.id}}
    entries = [
        {
            "checkpoint_id": snapshot.config["configurable"]["checkpoint_id"],
            "time": snapshot.created_at,
            "n": (snapshot.values.get("progress") or {}).get("n", 0),
            "next": list(snapshot.next),
        }
        async for snapshot in thread.graph.aget_state_history(config, limit=_CHECKPOINTS)
    ]
    return entries[::-1]
