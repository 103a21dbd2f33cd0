"""debug: find the critical error of a thread or of a recorded trajectory, and run it again from there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from forethought.app.command_flags import AllowWrites, Environment, ModelOptions, Tools
from forethought.app.errors import ANSWERED, CliError, explain
from forethought.app.options import (
    Flags,
    check_repeated,
    context_of,
    must_be_repeated,
    resume_command,
    settings_from,
)
from forethought.app.text import one_line, to_json
from forethought.settings import Settings
from forethought.state.debugger import DebuggerContext, JudgeName, RerunMethod, SearchMethod

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from forethought.app.debug.session import DebugRequest, DebugSession
    from forethought.trajectories.types import Loaded

Json = dict[str, Any]
_LISTED = 10
"""Most ids that are listed to choose from."""


class DebugOptions(ModelOptions):
    """The flags of `debug`."""

    thread: Annotated[
        str | None, typer.Argument(help="A thread, as `threads` lists it.", metavar="THREAD")
    ] = None
    trajectory: Annotated[
        Path | None,
        typer.Option("--trajectory", help="A recorded trajectory instead.", metavar="FILE"),
    ] = None
    pick: Annotated[
        str | None, typer.Option("--pick", help="Which one of the file's trajectories.", metavar="ID")
    ] = None
    expect: Annotated[
        str | None, typer.Option("--expect", help="The answer of a right run.", metavar="TEXT")
    ] = None
    rerun: Annotated[
        RerunMethod | None,
        typer.Option("--rerun", help="Run again from the critical step; alone it means agentdebug."),
    ] = None
    method: Annotated[
        SearchMethod | None, typer.Option("--method", help="How the critical error is found (agentdebug).")
    ] = None
    judge: Annotated[JudgeName | None, typer.Option("--judge", help="Who says whether a run succeeded.")] = (
        None
    )
    max_reruns: Annotated[
        int | None, typer.Option("--max-reruns", help="Re-runs at most (5).", min=1, max=20, metavar="N")
    ] = None
    environment: Environment = None
    allow_writes: AllowWrites = False
    tools: Tools = None


def with_rerun_method(arguments: Sequence[str]) -> list[str]:
    """The command line with the method that a bare --rerun means: the parser knows no optional values."""
    line = list(arguments)
    if line[:1] != ["debug"]:
        return line
    end = line.index("--") if "--" in line else len(line)
    for at in range(end):
        if line[at] == "--rerun" and (at + 1 == len(line) or line[at + 1] not in get_args(RerunMethod)):
            line[at] = "--rerun=agentdebug"
    return line


def debug(options: DebugOptions) -> int:
    """Find the step that doomed a run and, with --rerun, run it again from there."""
    from forethought.app.debug.session import DebugRequest, open_debugging
    from forethought.app.threads.thread import check_thread_id, is_debugging

    _check_options(options)
    flags, thread = options, options.thread
    loaded = None if options.trajectory is None else _pick(options.trajectory, options.pick)
    if thread is not None:
        check_thread_id(thread)
        if is_debugging(thread):
            raise CliError(f"{thread} is a debugging itself; go on with it: {resume_command(thread, flags)}")
    has_answer = options.expect is not None or (loaded is not None and bool(loaded.reference.gold))

    def choose(settings: Settings, model: str | None) -> DebuggerContext:
        return _context(options, settings, model, has_answer)

    context = choose(settings_from(flags), None)
    _check_judge(options, context, has_answer)
    request = DebugRequest(
        context.model_dump(mode="json"),
        thread,
        environment=options.environment,
        allow_writes=options.allow_writes,
    )
    graph_input: Json = {"expect": options.expect} if options.expect else {}
    if loaded is None:
        graph_input["thread_id"] = thread
        opening = open_debugging(request, flags, choose, name=thread or "")
    else:
        graph_input["trajectory"] = loaded.model_dump(mode="json")
        run = loaded.trajectory
        opening = open_debugging(request, flags, choose, trajectory=run, name=run.id)
    return _run(opening, lambda snapshot: graph_input, flags, options.as_json)


def resume_debugging(thread_id: str, replies: Sequence[str], flags: Flags, as_json: bool) -> int:
    """Go on with a debugging: with a person's reply, or from where it was broken off.

    Raises CliError when there is none, it is finished, or a flag has to be given again.
    """
    from forethought.app.debug.session import open_debugging, read_debugging
    from forethought.app.questions import answer_questions
    from forethought.app.report import unfinished
    from forethought.trajectories.read import from_json

    async def read_request() -> tuple[DebugRequest, Json]:
        async with read_debugging(thread_id, flags) as session:
            return session.request, (await session.snapshot()).values

    request, values = asyncio.run(read_request())
    request, flags = _permitted(thread_id, request, flags)
    recorded = None
    if request.thread is None:
        saved = values.get("subject") or values.get("trajectory")
        if saved is None:
            raise CliError(f"{thread_id} was broken off before anything was done; begin it again")
        recorded = from_json(saved).trajectory

    def choose(settings: Settings, model: str | None) -> DebuggerContext:
        return context_of(DebuggerContext, flags, settings, request.context)

    def begin(snapshot: StateSnapshot) -> Any:
        if replies:
            return answer_questions(replies, snapshot, thread_id, resume_command(thread_id, flags))
        if not unfinished(snapshot):
            status = snapshot.values.get("status")
            raise CliError(f"{thread_id} is finished ({status}); see it with: forethought show {thread_id}")
        return None

    opening = open_debugging(request, flags, choose, trajectory=recorded, id=thread_id)
    return _run(opening, begin, flags, as_json)


def _permitted(thread_id: str, request: DebugRequest, flags: Flags) -> tuple[DebugRequest, Flags]:
    """The saved request, with nothing that runs code or names an address but what the flags name again.

    Raises CliError for what has to be given again.
    """
    settings = settings_from(flags)
    check_repeated(thread_id, flags, settings, base_url=request.base_url)
    if request.environment and not flags.environment:
        raise must_be_repeated(thread_id, "--environment", request.environment)
    if request.allow_writes and not flags.allow_writes:
        raise CliError(
            f"{thread_id} was begun with --allow-writes, which holds only where it is given: give it again"
        )
    if request.thread is not None and flags.environment is not None:
        raise CliError("--environment: a thread is run again in its own checkpoints; leave it out")
    if request.base_url:
        # The debugging's own, now that a person has named it: the thread that is debugged may have another.
        flags = flags.model_copy(update={"base_url": settings.base_url})
    return replace(request, environment=flags.environment, allow_writes=flags.allow_writes), flags


def show_debugging(thread_id: str, flags: Flags, as_json: bool) -> int:
    """Show a debugging again, without running anything."""
    from forethought.app.debug import view
    from forethought.app.debug.session import read_debugging
    from forethought.app.display import make_console

    async def read_result() -> tuple[Json, Json]:
        async with read_debugging(thread_id, flags) as session:
            snapshot = await session.snapshot()
            result = view.debug_report(session, snapshot)
            if result["status"] == "running" and not await session.saver.locked_threads([thread_id]):
                result["status"] = "stopped"
            return result, snapshot.values

    result, values = asyncio.run(read_result())
    if as_json:
        print(to_json(result))
        return ANSWERED
    console = make_console()
    for part in view.parts(values):
        console.print(part)
    view.show_ending(result, console)
    return ANSWERED


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
        snapshot = runner.run(session.snapshot())
        graph_input = begin(snapshot)
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

    if path.is_dir():
        raise CliError(f"{path} is a folder: name one file")
    try:
        trajectories = read_trajectories(path)
    except ValueError as error:
        raise CliError(one_line(error, 1000)) from error
    matches = [loaded for loaded in trajectories if key in (None, loaded.trajectory.id)]
    if len(matches) == 1:
        return matches[0]
    ids = ", ".join(one_line(loaded.trajectory.id, 60) for loaded in trajectories[:_LISTED])
    if len(trajectories) > _LISTED:
        ids += f", … {len(trajectories) - _LISTED} more"
    if key is None:
        raise CliError(f"{path} holds {len(trajectories)} trajectories: choose one with --pick: {ids}")
    raise CliError(f"{path} holds no trajectory {one_line(key, 60)!r}; there are: {ids}")


def _context(
    options: DebugOptions, settings: Settings, model: str | None, has_answer: bool
) -> DebuggerContext:
    """The debugger's Context; `model` is the one that the debugged thread was run with. Raises CliError."""
    judge = "gold" if has_answer else "none"
    if options.environment and options.expect is None:
        judge = "environment"
    defaults: Json = {"judge": judge}
    if model or settings.model:
        defaults["model"] = model or settings.model
    flags = ("rerun", "method", "judge", "max_reruns")
    overrides = {name: value for name in flags if (value := getattr(options, name)) is not None}
    return context_of(DebuggerContext, options, settings, defaults, overrides)


def _check_options(options: DebugOptions) -> None:
    """Raises CliError for flags that do not go together."""
    if options.thread is None and options.trajectory is None:
        raise CliError("name what is to be debugged: a THREAD, or --trajectory FILE")
    if options.thread is not None and options.trajectory is not None:
        raise CliError("a THREAD and --trajectory cannot go together: give one of them")
    for flag, value in (("--pick", options.pick), ("--environment", options.environment)):
        if value is not None and options.trajectory is None:
            raise CliError(f"{flag} goes with --trajectory; a thread is run again in its own checkpoints")
    if options.expect is not None and not options.expect.strip():
        raise CliError("--expect is empty: give the answer of a right run, or leave it out")


def _check_judge(options: DebugOptions, context: DebuggerContext, has_answer: bool) -> None:
    """Raises CliError when a re-run could not be made or nobody could judge it."""
    from forethought.app.debug.session import runs_again

    if context.judge in {"gold", "model"} and not has_answer:
        raise CliError(f"--judge {context.judge} needs the answer of a right run: give it with --expect TEXT")
    if context.judge == "environment" and not options.environment:
        raise CliError("--judge environment needs --environment MODULE:NAME, whose reward it is")
    if not runs_again(context):
        return
    what = "--rerun" if context.rerun != "off" else f"--method {context.method}"
    if options.trajectory is not None and not options.environment:
        raise CliError(
            f"{what}: a trajectory's file cannot be run again by itself; give the world it ran in with "
            "--environment MODULE:NAME"
        )
    many = context.method == "counterfactual" and context.rerun in {"off", "agentdebug"}
    if many and context.judge == "person":
        raise CliError("--method counterfactual judges too many runs for a person: choose another --judge")
    if context.judge == "none":
        raise CliError(
            f"{what}: somebody has to say whether a re-run succeeded, and never the run itself: give the "
            f"answer of a right run with --expect TEXT{'' if many else ', or --judge person'}"
        )
