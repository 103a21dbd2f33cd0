"""debug: find the critical error of a thread or of a recorded trajectory, and run it again from there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from forethought.app.command_flags import Flags, ModelOptions, argument, flag
from forethought.app.errors import ANSWERED, CliError, explain
from forethought.app.options import must_be_repeated, resume_command
from forethought.app.text import one_line, to_json
from forethought.state.debugger import JudgeName, RerunMethod, SearchMethod

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from forethought.app.debug.session import DebugSession
    from forethought.trajectories.types import Loaded

Json = dict[str, Any]
_LISTED = 10
"""Most ids that are listed to choose from."""


class DebugOptions(ModelOptions):
    """The flags of `debug`."""

    offers = "environment allow_writes tools"

    thread: str | None = argument(help="A thread, as `threads` lists it.", metavar="THREAD", default=None)
    trajectory: Path | None = flag(help="A recorded trajectory instead.", metavar="FILE")
    pick: str | None = flag(help="Id of the trajectory in the file.", metavar="ID")
    expect: str | None = flag(help="The correct answer.", metavar="TEXT")
    rerun: RerunMethod | None = flag(help="Re-run from the critical step; agentdebug if no value follows.")
    method: SearchMethod | None = flag(help="How the critical error is found (triage).")
    judge: JudgeName | None = flag(help="Who decides whether a run succeeded.")
    trials: int | None = flag(
        help="Continuations per step of --method counterfactual (4).", metavar="N", min=1, max=50
    )
    max_reruns: int | None = flag(help="Maximum number of re-runs (5).", metavar="N", min=1, max=20)


def with_rerun_method(arguments: Sequence[str]) -> list[str]:
    """The command line with the method that a bare --rerun means: the parser knows no optional values."""
    line = list(arguments)
    for at, text in enumerate(line if line[:1] == ["debug"] else []):
        if text == "--rerun" and (at + 1 == len(line) or line[at + 1] not in get_args(RerunMethod)):
            line[at] = "--rerun=agentdebug"
    return line


def debug(options: DebugOptions) -> int:
    """Find the step that doomed a run and, with --rerun, run it again from there."""
    from forethought.app.debug.session import DebugRequest, open_debugging
    from forethought.app.threads.thread import is_debugging

    thread, run = options.thread, None
    if (thread is None) == (options.trajectory is None):
        raise CliError("name what is to be debugged: either a THREAD or --trajectory FILE")
    if thread and (options.pick or options.environment):
        raise CliError("--pick and --environment go with --trajectory; a thread is run in its checkpoints")
    if thread and is_debugging(thread):
        go_on = resume_command(thread, options)
        raise CliError(f"{thread} is a debugging itself; go on with it: {go_on}")
    graph_input: Json = {"thread_id": thread or "", "expect": options.expect or ""}
    if options.trajectory:
        loaded = _pick(options.trajectory, options.pick)
        graph_input["trajectory"], run = loaded.model_dump(mode="json"), loaded.trajectory
    choices: Json = {"judge": "environment"} if options.environment and not options.expect else {}
    for name in ("rerun", "method", "judge", "trials", "max_reruns"):
        if (value := getattr(options, name)) is not None:
            choices[name] = value
    request = DebugRequest(
        choices, thread, environment=options.environment, allow_writes=options.allow_writes
    )
    return _run(open_debugging(request, options, run), lambda snapshot: graph_input, options, options.as_json)


def resume_debugging(thread_id: str, replies: Sequence[str], flags: Flags, as_json: bool) -> int:
    """Go on with a debugging: with a person's reply, or from where it was broken off.

    Raises CliError when there is none, it is finished, or a flag has to be given again.
    """
    from forethought.app.debug.session import open_debugging
    from forethought.app.questions import answer_questions
    from forethought.app.report import unfinished
    from forethought.trajectories.read import from_json

    session, snapshot, _ = asyncio.run(_read(thread_id, flags))
    request, values = session.request, snapshot.values
    if request.environment and not flags.environment:
        raise must_be_repeated(thread_id, "--environment", request.environment)
    if request.allow_writes and not flags.allow_writes:
        raise CliError(
            f"{thread_id} was begun with --allow-writes, which holds only where it is given: give it again"
        )
    request = replace(request, environment=flags.environment, allow_writes=flags.allow_writes)
    recorded = values.get("subject") or values.get("trajectory")
    run = from_json(recorded).trajectory if recorded else None

    def begin(snapshot: StateSnapshot) -> Any:
        if replies:
            return answer_questions(replies, snapshot, thread_id, resume_command(thread_id, flags))
        if not unfinished(snapshot):
            status = snapshot.values.get("status")
            raise CliError(f"{thread_id} is finished ({status}); see it with: forethought show {thread_id}")
        return None

    return _run(open_debugging(request, flags, run, thread_id), begin, flags, as_json)


def show_debugging(thread_id: str, flags: Flags, as_json: bool) -> int:
    """Show a debugging again, without running anything."""
    from forethought.app.debug import view
    from forethought.app.display import make_console

    session, snapshot, is_running = asyncio.run(_read(thread_id, flags))
    result = view.debug_report(session, snapshot, running=is_running)
    if as_json:
        print(to_json(result))
    else:
        display = view.DebugDisplay(make_console())
        display.updated("", snapshot.values)
        view.show_ending(result, display.console)
    return ANSWERED


async def _read(thread_id: str, flags: Flags) -> tuple[DebugSession, StateSnapshot, bool]:
    """A debugging, its state, and whether a process is at work on it. Raises CliError when there is none."""
    from forethought.app.debug.session import read_debugging

    async with read_debugging(thread_id, flags) as session:
        is_running = bool(await session.saver.locked_threads([thread_id]))
        return session, await session.snapshot(), is_running


def _run(
    opening: AbstractAsyncContextManager[DebugSession],
    begin: Callable[[StateSnapshot], Any],
    flags: Flags,
    as_json: bool,
) -> int:
    """Run the graph on what `begin` makes of its state until it ends or waits, and report."""
    from forethought.app import questions
    from forethought.app.debug import view
    from forethought.app.runner import open_runner

    with open_runner(as_json) as runner:
        session = runner.open(opening)
        resume = resume_command(session.id, flags)
        runner.go_on = f"continue with: {resume}"
        graph_input = begin(runner.run(session.snapshot()))
        runner.console.print(f"debugging {session.id}")
        ending = runner.drive(session, graph_input, view.DebugDisplay(runner.console), questions.ask)
        error = explain(ending.error).line if ending.error else None
        if ending.snapshot is None:
            result: Json = {"thread_id": session.id, "status": "failed", "error": error}
        else:
            result = view.debug_report(session, ending.snapshot, error)
            view.show_ending(result, runner.console, with_error=ending.error is None)
        runner.print_json(result)
        if result.get("interrupts"):
            questions.tell_how_to_reply(resume, result["interrupts"])
        return runner.exit_code(ending, view.exit_code(result["status"]))


def _pick(path: Path, key: str | None) -> Loaded:
    """The trajectory of this id, or the file's only one. Raises CliError where there is no such one."""
    from forethought.trajectories.read import read_trajectories

    try:
        trajectories = read_trajectories(path)
    except ValueError as error:
        raise CliError(one_line(error, 1000)) from error
    matches = [loaded for loaded in trajectories if key in (None, loaded.trajectory.id)]
    if len(matches) == 1:
        return matches[0]
    ids = ", ".join(one_line(loaded.trajectory.id, 60) for loaded in trajectories[:_LISTED])
    more = ", ..." if len(trajectories) > _LISTED else ""
    fit = f"{len(matches)} of its {len(trajectories)} trajectories fit"
    raise CliError(f"{path}: {fit}; choose one with --pick: {ids}{more}")
