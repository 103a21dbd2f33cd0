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
from forethought.app.text import to_json
from forethought.state.debugger import JudgeName, RerunMethod, SearchMethod

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from forethought.app.debug.session import DebugSession
    from forethought.app.runner import Ending, Runner

Json = dict[str, Any]


class DebugOptions(ModelOptions):
    """The flags of `debug`."""

    offers = "environment allow_writes tools"

    thread: str | None = argument(
        help="Thread id, or recorded runs: file or folder.",
        metavar="THREAD|PATH",
        default=None,
    )
    trajectory: Path | None = flag(help="Same as PATH.", metavar="FILE")
    pick: str | None = flag(help="Run id in the file.", metavar="ID")
    listing: bool = flag("--list", help="List the runs, without calling a model.", default=False)
    failed: bool = flag(help="Debug every failed or halted run.", default=False)
    limit: int | None = flag(help="Maximum number of runs.", metavar="N", min=1)
    expect: str | None = flag(help="Correct answer, word for word unless --judge model.", metavar="TEXT")
    rerun: RerunMethod | None = flag(help="Re-run from the critical step.", show_default="agentdebug if bare")
    method: SearchMethod | None = flag(help="How to find the critical error.", show_default="triage")
    judge: JudgeName | None = flag(help="Who judges success.")
    trials: int | None = flag(
        help="Continuations per counterfactual step.", metavar="N", min=1, max=50, show_default="4"
    )
    max_reruns: int | None = flag(help="Maximum re-runs.", metavar="N", min=1, max=20, show_default="5")


def with_rerun_method(arguments: Sequence[str]) -> list[str]:
    """The command line with the method that a bare --rerun means: the parser knows no optional values."""
    line = list(arguments)
    for at, text in enumerate(line if line[:1] == ["debug"] else []):
        if text == "--rerun" and (at + 1 == len(line) or line[at + 1] not in get_args(RerunMethod)):
            line[at] = "--rerun=agentdebug"
    return line


def debug(options: DebugOptions) -> int:
    """Find the step that made a run fail, and re-run from there."""
    from forethought.app.debug.session import DebugRequest, open_debugging
    from forethought.app.threads.thread import is_debugging
    from forethought.trajectories.read import SUFFIXES

    named_path = Path(options.thread) if options.thread and Path(options.thread).exists() else None
    thread, path = None if named_path else options.thread, named_path or options.trajectory
    if (options.thread is None) == (options.trajectory is None):
        raise CliError("name either a THREAD or a PATH of recorded runs")
    if thread and (Path(thread).name != thread or Path(thread).suffix in SUFFIXES):
        raise CliError(f"no file or folder {thread}: check the path")
    if thread and (options.pick or options.environment):
        raise CliError("--pick and --environment need recorded runs: leave them out for a thread")
    if thread and (options.listing or options.failed or options.limit):
        raise CliError(f"--list, --failed and --limit need recorded runs, and there is no path {thread}")
    if thread and is_debugging(thread):
        go_on = resume_command(thread, options)
        raise CliError(f"{thread} is a debugging thread; continue it with: {go_on}")
    request = DebugRequest(
        _choices(options), thread, environment=options.environment, allow_writes=options.allow_writes
    )
    graph_input: Json = {"thread_id": thread or "", "expect": options.expect or ""}
    run = None
    if path:
        from forethought.app.debug.runs import choose, debug_runs, list_runs

        runs, succeeded = choose(path, options)
        if options.listing:
            return list_runs(runs, succeeded, options)
        if options.failed or options.limit:
            return debug_runs(runs, succeeded, request, options.expect or "", options)
        graph_input["trajectory"], run = runs[0].model_dump(mode="json"), runs[0].trajectory
    return _run(open_debugging(request, options, run), lambda snapshot: graph_input, options, options.as_json)


def _choices(options: DebugOptions) -> Json:
    """The fields of the DebuggerContext that have flags of their own."""
    choices: Json = {"judge": "environment"} if options.environment and not options.expect else {}
    for name in ("rerun", "method", "judge", "trials", "max_reruns"):
        if (value := getattr(options, name)) is not None:
            choices[name] = value
    return choices


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
        raise CliError(f"{thread_id} was started with --allow-writes: repeat --allow-writes")
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
    result = view.debug_report(thread_id, session.request, snapshot, running=is_running)
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
        result, ending = drive(runner, session, begin(runner.run(session.snapshot())))
        runner.print_json(result)
        if result.get("interrupts"):
            questions.tell_how_to_reply(resume, result["interrupts"])
        return runner.exit_code(ending, view.exit_code(result["status"]))


def drive(runner: Runner, session: DebugSession, graph_input: Any) -> tuple[Json, Ending]:
    """Run a debugging until it ends or waits, and show it; its report, and how it ended."""
    from forethought.app import questions
    from forethought.app.debug import view

    runner.console.print(f"debugging {session.id}")
    ending = runner.drive(session, graph_input, view.DebugDisplay(runner.console), questions.ask)
    error = explain(ending.error).line if ending.error else None
    if ending.snapshot is None:
        return {"thread_id": session.id, "status": "failed", "error": error}, ending
    result = view.debug_report(session.id, session.request, ending.snapshot, error)
    view.show_ending(result, runner.console, with_error=ending.error is None)
    return result, ending
