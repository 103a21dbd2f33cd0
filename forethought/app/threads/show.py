"""show: what a thread did, its branches, or how two of them differ, without running anything."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from forethought.app import render
from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, CliError
from forethought.app.report import report
from forethought.app.run import show_result
from forethought.app.text import clean, one_line, to_json
from forethought.app.threads.branches import compare_with_head, list_branches, render_branches
from forethought.app.threads.diff import render_difference
from forethought.app.threads.thread import Thread, is_debugging, read_thread

if TYPE_CHECKING:
    from forethought.app.commands import ShowOptions

Json = dict[str, Any]
_CHECKPOINTS = 500
"""Most checkpoints that `show --steps` lists."""
_ALL_LINES = 10_000


def show(options: ShowOptions) -> int:
    """Show one thread; --steps, --branches or --diff choose what. Raises CliError when two are chosen."""
    thread_id, parts = options.thread, options.steps + options.branches + (options.diff is not None)
    if parts > 1:
        raise CliError("--steps, --branches and --diff each show something else: give one of them")
    if is_debugging(thread_id):
        from forethought.app.debug.command import show_debugging

        if parts:
            raise CliError(f"{thread_id} is a debugging: `forethought show {thread_id}` shows all of it")
        return show_debugging(thread_id, options, options.as_json)
    return asyncio.run(_show(options))


async def _show(options: ShowOptions) -> int:
    async with read_thread(options.thread, options) as thread:
        if options.branches:
            found = await list_branches(thread)
            result, view = {"thread_id": thread.id, "branches": found}, render_branches(found)
        elif options.diff is not None:
            compared = await compare_with_head(thread, options.diff)
            result, view = {"thread_id": thread.id, **compared}, render_difference(compared)
        else:
            return await _show_task(thread, options.as_json, options.steps)
    if options.as_json:
        print(to_json(result))
    else:
        make_console().print(view)
    return ANSWERED


async def _show_task(thread: Thread, as_json: bool, steps: bool) -> int:
    """The thread's present task; with `steps` whole observations and the checkpoints."""
    snapshot = await thread.snapshot()
    result = report(thread.id, snapshot)
    if not await thread.saver.locked_threads([thread.id]):
        if result["status"] == "running":
            result["status"] = "stopped"
        if calls := await _broken_off_calls(thread):
            result["broken_off"] = calls
    if steps:
        result["checkpoints"] = await _checkpoints(thread)
    if as_json:
        print(to_json(result))
    else:
        _print_task(make_console(), result, snapshot.values)
    return ANSWERED


def _print_task(console: Console, result: Json, values: Json) -> None:
    progress: Json = values.get("progress") or {}
    console.print(Text(f"thread {one_line(result['thread_id'])}", style="bold"))
    for earlier in progress.get("earlier") or []:
        line = f"earlier task: {one_line(earlier.get('task'))} → {one_line(earlier.get('answer'))}"
        console.print(Text(line, "dim"))
    console.print(Text(f"task: {clean(progress.get('asked') or values.get('task') or '').strip()}"))
    for item in values.get("files") or []:
        console.print(Text(f"file: {one_line(item.get('name'))} ({item.get('size', 0):,} bytes)", "dim"))
    for review in result["plan_reviews"]:
        console.print(render.review(review))
    if result["plan"]:
        console.print(render.plan(result["plan"]))
    _print_steps(console, result)
    for record in (values.get("long_term") or {}).values():
        if (round_line := render.round_record(record)) is not None:
            console.print(round_line)
    for item in result.get("broken_off") or []:
        call = f"{one_line(item['tool'])}({one_line(item['call'], 300)})"
        doubt = "nobody knows whether it took effect; you are asked when it goes on"
        console.print(Text(f"broken off: {call}: {doubt}", "yellow"))
    show_result(result, console)
    for entry in result.get("checkpoints") or []:
        line = f"{entry['checkpoint_id']}  step {entry['n']}  next: {', '.join(entry['next']) or '-'}"
        console.print(Text(line, "dim"))


def _print_steps(console: Console, result: Json) -> None:
    """The steps, with the re-plans between them."""
    replans = list(result["replans"])
    for step in result["steps"]:
        while replans and replans[0]["n"] < step["n"]:
            console.print(render.replan(replans.pop(0)))
        console.print(render.step(step, _ALL_LINES if "checkpoints" in result else 3))
    for record in replans:
        console.print(render.replan(record))


async def _broken_off_calls(thread: Thread) -> list[Json]:
    """The calls about whose outcome a person is asked once the thread goes on: {tool, call: arguments}."""
    from forethought.journal import unfinished_entries
    from forethought.nodes.support.calls import broken_off_calls
    from forethought.nodes.support.prompt_text import compact

    saved = await thread.saver.aget_tuple({"configurable": {"thread_id": thread.id}})
    calls = [call for entries in unfinished_entries(saved) for call in broken_off_calls(entries)]
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
