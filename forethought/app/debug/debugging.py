"""debug: find the critical error of a thread or of a recorded trajectory and run it again from there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from forethought.app.debug import render
from forethought.app.debug.choices import (
    Asked,
    changed_context,
    check_asked,
    check_judged,
    debugger_context,
)
from forethought.app.debug.display import DebugDisplay, show_debug_ending
from forethought.app.debug.file import one_trajectory
from forethought.app.debug.opening import Debugging, Order, kept, open_debugging, read_debugging
from forethought.app.debug.report import debug_exit_code, debug_report
from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, CliError, explain
from forethought.app.options import Flags, check_repeated, must_be_repeated, resume_command, settings_from
from forethought.app.report import unfinished
from forethought.app.run import questions
from forethought.app.runner import Ending, Runner, open_runner
from forethought.app.text import to_json
from forethought.app.threads.thread import check_thread_id, is_debugging
from forethought.settings import Settings
from forethought.state.debugger import DebuggerContext

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

Json = dict[str, Any]


def debug(asked: Asked, flags: Flags, as_json: bool) -> int:
    """Debug a thread or a trajectory of a file, or measure on annotated ones. Returns the exit code."""
    check_asked(asked)
    if asked.score:
        from forethought.app.debug.score import score

        return score(asked, flags, as_json)
    if asked.thread is not None:
        return _debug_thread(asked.thread, asked, flags, as_json)
    return _debug_trajectory(asked, flags, as_json)


def _debug_thread(thread_id: str, asked: Asked, flags: Flags, as_json: bool) -> int:
    check_thread_id(thread_id)
    if is_debugging(thread_id):
        raise CliError(
            f"{thread_id} is a debugging itself; go on with it: {resume_command(thread_id, flags)}"
        )
    first = debugger_context(asked, flags, settings_from(flags))
    check_judged(asked, first)
    order = Order(first.model_dump(mode="json"), thread_id, allow_writes=asked.allow_writes)

    def choose(settings: Settings, model: str | None) -> DebuggerContext:
        return debugger_context(asked, flags, settings, model)

    opening = open_debugging(order, flags, choose, name=thread_id)
    given = {"thread_id": thread_id, **({"expect": asked.expect} if asked.expect else {})}
    return _drive(opening, given, flags, as_json)


def _debug_trajectory(asked: Asked, flags: Flags, as_json: bool) -> int:
    assert asked.trajectory is not None
    loaded = one_trajectory(asked.trajectory, asked)
    context = debugger_context(asked, flags, settings_from(flags), has_gold=bool(loaded.reference.gold))
    check_judged(asked, context, has_gold=bool(loaded.reference.gold))
    order = Order(
        context.model_dump(mode="json"), environment=asked.environment, allow_writes=asked.allow_writes
    )
    opening = open_debugging(
        order,
        flags,
        lambda settings, model: context,
        trajectory=loaded.trajectory,
        name=loaded.trajectory.id,
    )
    given = {
        "trajectory": loaded.model_dump(mode="json"),
        **({"expect": asked.expect} if asked.expect else {}),
    }
    return _drive(opening, given, flags, as_json)


def resume_debugging(thread_id: str, replies: Sequence[str], flags: Flags, as_json: bool) -> int:
    """Go on with a debugging: with a person's reply, or from where it was broken off.

    Raises CliError when there is none, it is finished, or something must be given again.
    """
    from forethought.trajectories.read import from_json

    order, values = asyncio.run(kept(thread_id, flags))
    settings = settings_from(flags)
    check_repeated(thread_id, flags, settings, base_url=order.base_url)
    if order.environment and not flags.environment:
        raise must_be_repeated(thread_id, "--environment", order.environment)
    if order.allow_writes and not flags.allow_writes:
        raise CliError(
            f"{thread_id} was begun with --allow-writes, which holds only where it is given: give it again"
        )
    if order.thread is not None and flags.environment is not None:
        raise CliError("--environment: a thread is run again in its own checkpoints; leave it out")
    order = replace(order, environment=flags.environment, allow_writes=flags.allow_writes)
    if order.base_url:
        # The debugging's own, now that a person has named it: the thread that is debugged may have another.
        flags = replace(flags, base_url=settings.base_url)
    context = changed_context(order.context, flags)
    trajectory = None
    if order.thread is None:
        trajectory = from_json(values.get("subject") or values.get("trajectory")).trajectory
    opening = open_debugging(
        order, flags, lambda settings, model: context, trajectory=trajectory, id=thread_id
    )

    async def begin(debugging: Debugging) -> Any:
        snapshot = await debugging.snapshot()
        if replies:
            return questions.answer_questions(replies, snapshot, thread_id, resume_command(thread_id, flags))
        if not unfinished(snapshot):
            status = snapshot.values.get("status")
            raise CliError(f"{thread_id} is finished ({status}); see it with: forethought show {thread_id}")
        return None

    return _drive(opening, begin, flags, as_json)


def _drive(opening: Any, given: Any, flags: Flags, as_json: bool) -> int:
    """Run the debugger's graph until it ends or waits, and report."""
    with open_runner(as_json) as runner:
        debugging = runner.open(opening)
        resume = resume_command(debugging.id, flags)
        runner.go_on = f"continue with: {resume}"
        begun = runner.run(given(debugging)) if callable(given) else given
        runner.console.print(f"debugging {debugging.id}")
        ending = runner.drive(debugging, begun, DebugDisplay(runner.console), questions.ask)
        return _finish(debugging, ending, runner, resume)


def _finish(debugging: Debugging, last: Ending, runner: Runner, resume: str) -> int:
    """Print what was found and what the re-runs came to, and how to go on where it is not over."""
    failure = explain(last.error) if last.error else None
    if last.snapshot is None:
        result: Json = {"thread_id": debugging.id, "status": "failed", "error": failure and failure.line}
    else:
        result = _result(debugging, last.snapshot, failure.line if failure else None)
        subject = last.snapshot.values.get("subject") or {}
        show_debug_ending(result, subject, runner.console, told=bool(last.error))
    runner.print_json(result)
    if result.get("interrupts"):
        questions.tell_how_to_reply(resume, result["interrupts"])
    return runner.exit_code(last, debug_exit_code(result["status"]))


def _result(debugging: Debugging, snapshot: StateSnapshot, error: str | None = None) -> Json:
    method = debugging.context.method
    return debug_report(debugging.id, snapshot, method, debugging.seconds(snapshot), error)


def show_debugging(thread_id: str, flags: Flags, as_json: bool) -> int:
    """Show a debugging again, without running anything."""

    async def read() -> tuple[Json, Json, bool]:
        async with read_debugging(thread_id, flags) as debugging:
            snapshot = await debugging.snapshot()
            held = bool(await debugging.saver.locked_threads([thread_id]))
            return _result(debugging, snapshot), snapshot.values.get("subject") or {}, held

    result, subject, held = asyncio.run(read())
    if result["status"] == "running" and not held:
        result["status"] = "stopped"
    if as_json:
        print(to_json(result))
        return ANSWERED
    console = make_console()
    for part in (render.subject(subject), render.verdict(result["verdict"] or {})):
        if part is not None:
            console.print(part)
    show_debug_ending(result, subject, console)
    return ANSWERED
