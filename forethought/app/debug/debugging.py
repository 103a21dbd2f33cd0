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
from forethought.app.given_again import Permits, check_given
from forethought.app.options import Flags, settings_from
from forethought.app.report import unfinished, waiting
from forethought.app.run import driving, questions
from forethought.app.run.driving import WAIT, Last, Manner, Output
from forethought.app.tell import tell, tell_error
from forethought.app.text import to_json
from forethought.app.threads.thread import check_thread_id
from forethought.app.threads.threads import is_debugging
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
    output = Output(as_json, flags=flags, more=Permits(asked.environment, asked.allow_writes).again)
    if asked.thread is not None:
        return _debug_thread(asked.thread, asked, flags, output)
    return _debug_trajectory(asked, flags, output)


def _debug_thread(thread_id: str, asked: Asked, flags: Flags, output: Output) -> int:
    check_thread_id(thread_id)
    if is_debugging(thread_id):
        raise CliError(
            f"{thread_id} is a debugging itself; go on with it: {output.resume_command(thread_id)}"
        )
    first = debugger_context(asked, flags, settings_from(flags))
    check_judged(asked, first)
    order = Order(first.model_dump(mode="json"), thread_id, allow_writes=asked.allow_writes)

    def choose(settings: Settings, model: str | None) -> DebuggerContext:
        return debugger_context(asked, flags, settings, model)

    opening = open_debugging(order, flags, choose, name=thread_id)
    given = {"thread_id": thread_id, **({"expect": asked.expect} if asked.expect else {})}
    return _drive(opening, given, output)


def _debug_trajectory(asked: Asked, flags: Flags, output: Output) -> int:
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
    return _drive(opening, given, output)


def resume_debugging(
    thread_id: str, replies: Sequence[str], flags: Flags, permits: Permits, as_json: bool
) -> int:
    """Go on with a debugging: with a person's reply, or from where it was broken off.

    Raises CliError when there is none, it is finished, or something must be given again.
    """
    from forethought.trajectories.read import from_json

    order, values = asyncio.run(kept(thread_id, flags))
    settings, output = settings_from(flags), Output(as_json, flags=flags, more=permits.again)
    check_given(thread_id, flags, settings, base_url=order.base_url)
    permits.check(thread_id, order.environment, order.allow_writes)
    if order.thread is not None and permits.environment is not None:
        raise CliError("--environment: a thread is run again in its own checkpoints; leave it out")
    order = replace(order, environment=permits.environment, allow_writes=permits.allow_writes)
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
        from langgraph.types import Command

        from forethought.app.run.runs import waits_for_no_reply

        snapshot = await debugging.snapshot()
        asked = [waiting(item) for item in snapshot.interrupts]
        if replies and not asked:
            raise waits_for_no_reply(thread_id, snapshot, output.resume_command(thread_id))
        if replies:
            return Command(resume=questions.replies_from(replies, asked))
        if not asked and not unfinished(snapshot):
            status = snapshot.values.get("status")
            raise CliError(f"{thread_id} is finished ({status}); see it with: forethought show {thread_id}")
        return WAIT if asked else None

    return _drive(opening, begin, output)


def _drive(opening: Any, given: Any, output: Output) -> int:
    """Run the debugger's graph until it ends or waits, and report."""

    async def begin(debugging: Debugging) -> Any:
        return await given(debugging) if callable(given) else given

    def end(debugging: Debugging, last: Last) -> int:
        return _finish(debugging, last, output)

    return driving.drive(opening, begin, output, Manner("debugging", DebugDisplay, end))


def _finish(debugging: Debugging, last: Last, output: Output) -> int:
    """Print what was found and what the re-runs came to, and how to go on where it is not over."""
    failure = explain(last.error) if last.error else None
    if last.snapshot is None:
        result: Json = {"thread_id": debugging.id, "status": "failed", "error": failure and failure.line}
    else:
        result = _result(debugging, last.snapshot, failure.line if failure else None)
        subject = last.snapshot.values.get("subject") or {}
        show_debug_ending(result, subject, last.console, told=bool(last.error))
    if output.as_json:
        print(to_json(result), flush=True)
    if last.error:
        tell_error(last.error)
    resume = output.resume_command(debugging.id)
    if result.get("interrupts"):
        tell("it waits for a reply:")
        for line in questions.how_to_reply(resume, result["interrupts"]):
            tell(f"  {line}")
    elif last.error or result["status"] == "running":
        tell(driving.go_on_hint(last.snapshot, resume))
    return failure.code if failure else debug_exit_code(result["status"])


def _result(debugging: Debugging, snapshot: StateSnapshot, error: str | None = None) -> Json:
    method = debugging.context.method
    return debug_report(debugging.id, snapshot, method, debugging.seconds(snapshot), error)


def show_debugging(thread_id: str, flags: Flags, as_json: bool) -> int:
    """Show a debugging again, without running anything."""

    async def read() -> tuple[Json, Json, bool]:
        async with read_debugging(thread_id, flags) as debugging:
            snapshot = await debugging.snapshot()
            held = bool(await debugging.saver.claimed([thread_id]))
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
