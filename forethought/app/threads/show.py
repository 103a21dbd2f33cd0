"""show: what a thread did, or its branches, without running anything."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from forethought.app import view
from forethought.app.command_flags import CommandOptions, argument, flag
from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, CliError, echo
from forethought.app.report import report
from forethought.app.run import show_result
from forethought.app.text import clean, one_line, to_json
from forethought.app.threads.branches import (
    OfThread,
    compare_with_head,
    list_branches,
    render_branches,
    render_difference,
)
from forethought.app.threads.cost import render_costs
from forethought.app.threads.thread import Thread, is_debugging, read_thread

Json = dict[str, Any]
_CHECKPOINTS = 500
"""Most checkpoints that `show --steps` lists."""
_ALL_LINES = 10_000


class ShowOptions(CommandOptions):
    """The flags of `show`."""

    offers = "db"

    thread: str = argument("Thread id, from `forethought threads`.", "THREAD")
    steps: bool = flag(help="Show whole observations and checkpoints.", default=False)
    cost: bool = flag(help="Show each mechanism's cost and changes.", default=False)
    branches: bool = flag(help="List forks and re-runs.", default=False)
    diff: str | None = flag(
        help="Compare this branch with the current one.",
        metavar="BRANCH",
    )
    html: Path | None = flag(help="Write one self-contained page.", metavar="FILE")
    markdown: Path | None = flag(help="Write Markdown; - is stdout.", metavar="FILE")


def show(options: ShowOptions) -> int:
    """Show a thread's plans, steps, answer and cost."""
    named = (options.diff, options.html, options.markdown)
    wanted = options.steps + options.cost + options.branches + sum(one is not None for one in named)
    if wanted > 1:
        raise CliError("use only one of --steps, --cost, --branches, --diff, --html and --markdown")
    for kind, path in (("html", options.html), ("md", options.markdown)):
        if path is not None:
            return _export(options, kind, path)
    if is_debugging(options.thread):
        from forethought.app.debug.command import show_debugging

        return show_debugging(options.thread, options, options.as_json)
    return asyncio.run(_show(options))


def _export(options: ShowOptions, kind: str, path: Path) -> int:
    """Write the thread's export, whole or not at all."""
    from forethought.app.viewer.export import export
    from forethought.app.viewer.local_threads import LocalThreads
    from forethought.json_files import write_text

    if options.as_json:
        raise CliError("use either --json, or --html or --markdown")
    if path.is_dir():
        raise CliError(f"{path} is a folder; name a file in it")

    async def read() -> str:
        async with read_thread(options.thread, options) as thread:
            threads = LocalThreads(thread.saver, thread.settings)
            return await export(threads, thread.id, kind, thread.settings)

    text = asyncio.run(read())
    if str(path) == "-":
        sys.stdout.write(text)
        return ANSWERED
    try:
        write_text(path, text)
    except OSError as error:
        raise CliError(f"{path} cannot be written: {error.strerror or error}") from error
    echo(f"wrote {path}")
    return ANSWERED


async def _show(options: ShowOptions) -> int:
    console = make_console()
    async with read_thread(options.thread, options) as thread:
        result: Json = {"thread_id": thread.id}
        if options.branches:
            result |= {"branches": await list_branches(OfThread(thread), thread.id)}
            parts: list[RenderableType] = [render_branches(result["branches"])]
        elif options.diff is not None:
            result |= await compare_with_head(thread, options.diff)
            parts = [render_difference(result)]
        else:
            values = (await thread.snapshot()).values
            result = await read_task(thread, options.steps)
            parts = [render_costs(result)] if options.cost else list(task_parts(result, values))
    if options.as_json:
        print(to_json(result))
        return ANSWERED
    for part in parts:
        console.print(part)
    if "status" in result and not options.cost:
        show_result(result, console)
    for entry in result.get("checkpoints") or []:
        line = f"{entry['checkpoint_id']}  step {entry['n']}  next: {', '.join(entry['next']) or '-'}"
        console.print(Text(line, "dim"))
    return ANSWERED


async def read_task(thread: Thread, steps: bool) -> Json:
    """The report on the thread's present task; with `steps` its checkpoints too."""
    running = bool(await thread.saver.locked_threads([thread.id]))
    result = report(thread.id, await thread.snapshot(), running=running)
    if not running and (calls := await _broken_off_calls(thread)):
        result["broken_off"] = calls
    if steps:
        result["checkpoints"] = await _checkpoints(thread)
    return result


def task_parts(result: Json, values: Json) -> Iterator[RenderableType]:
    """What the task was and what was done, but for the answer."""
    progress: Json = values.get("progress") or {}
    yield Text(f"thread {one_line(result['thread_id'])}", style="bold")
    for earlier in progress.get("earlier") or []:
        yield Text(
            f"earlier task: {one_line(earlier.get('task'))} → {one_line(earlier.get('answer'))}", "dim"
        )
    yield Text(f"task: {clean(progress.get('task_text') or values.get('task') or '').strip()}")
    for item in values.get("files") or []:
        yield Text(f"file: {one_line(item.get('name'))} ({item.get('size', 0):,} bytes)", "dim")
    for ref in values.get("folders") or []:
        yield Text(f"folder: {one_line(ref.get('name'))} ({ref.get('count', 0):,} files)", "dim")
    yield from work_parts(result, values)


def work_parts(result: Json, values: Json) -> Iterator[RenderableType]:
    """What the task's answer rests on: plans, steps, and what the answer was checked against."""
    records = {name: result[name] for name in ("plan_reviews", "replans", "plan", "skipped")}
    records |= {
        "trajectory": result["steps"],
        "long_term": values.get("long_term"),
        "checks": result["checks"],
    }
    yield from view.parts(records, _ALL_LINES if "checkpoints" in result else 3)
    for item in result.get("broken_off") or []:
        call = f"{one_line(item['tool'])}({one_line(item['call'], 300)})"
        doubt = "it may have taken effect; you decide when you resume"
        yield Text(f"interrupted: {call}: {doubt}", "yellow")


async def _broken_off_calls(thread: Thread) -> list[Json]:
    """Calls about whose outcome a person will be asked: {tool, call: arguments}."""
    from forethought.journal import unfinished_entries
    from forethought.nodes.support.calls import broken_off_calls
    from forethought.nodes.support.prompt_text import compact

    checkpoint = await thread.saver.aget_tuple({"configurable": {"thread_id": thread.id}})
    calls = [call for entries in unfinished_entries(checkpoint) for call in broken_off_calls(entries)]
    return [{"tool": call["tool"], "call": one_line(compact(call["arguments"]), 300)} for call in calls]


async def _checkpoints(thread: Thread) -> list[Json]:
    """The newest checkpoints, oldest first: {checkpoint_id, time, n, next}."""
    config = {"configurable": {"thread_id": thread.id}}
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
