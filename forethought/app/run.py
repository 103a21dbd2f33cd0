"""run, resume and fork: their input to the graph, and its result."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from forethought.app import questions, view
from forethought.app.command_flags import ModelOptions, argument, flag
from forethought.app.display import RunDisplay, make_console
from forethought.app.errors import CliError, echo, explain, input_errors
from forethought.app.files import input_files
from forethought.app.options import resume_command, resume_flags, settings_from
from forethought.app.report import Json, exit_code, report, unfinished
from forethought.app.runner import Ask, Runner, open_runner
from forethought.app.text import one_line
from forethought.app.threads.thread import Thread, is_debugging, new_thread_id, open_thread
from forethought.text import sanitize_text

Begin = Callable[[Thread], Coroutine[Any, Any, Any]]
"""Returns the graph's input: a task, a Command, or None to go on."""


class RunOptions(ModelOptions):
    """The flags of `run`."""

    offers = "approval_policy tools record replay quiet"

    task: str | None = argument(help="The task; - reads stdin.", metavar="TASK", default=None)
    files: list[str] | None = flag(
        "--file", "-f", help="Input files: paths, folders, patterns, addresses.", metavar="F..."
    )
    exclude: list[str] | None = flag(
        help="Files of a folder to leave out, such as '*.log' (repeatable).", metavar="PATTERN"
    )
    guidance: list[str] | None = flag(help="Guidance for the task (repeatable).", metavar="TEXT")
    thread: str | None = flag(help="Thread to continue or create.", metavar="ID")
    demo: bool = flag(help="Run the demo with recorded replies; TASK `folder`: on 300 files.", default=False)


class ResumeOptions(ModelOptions):
    """The flags of `resume`."""

    offers = "approval_policy tools environment allow_writes record replay quiet"

    thread: str = argument("Thread id, from `forethought threads`.", "THREAD")
    reply: list[str] | None = flag(
        help="Answer, `approve`, `reject: REASON` or `edit: JSON`. ID chooses among several questions.",
        metavar="[ID=]VALUE",
    )


class ForkOptions(ModelOptions):
    """The flags of `fork`."""

    offers = "approval_policy tools quiet"

    thread: str = argument("Thread id, from `forethought threads`.", "THREAD")
    before: int = flag(help="First step to repeat.", metavar="N", default=..., min=1)
    guidance: str = flag(help="Guidance from that step on.", metavar="TEXT", default="")


def run(options: RunOptions) -> int:
    """Carry out TASK and print the answer."""
    if options.demo:
        from forethought.app.demo import run_demo

        return run_demo(options)
    text = read_task(options.task)
    console = make_console(sys.stderr)
    given = input_files(options.files or (), settings_from(options), options.exclude or (), console)

    async def begin(thread: Thread) -> Json:
        if thread.exists and unfinished(await thread.snapshot()):
            raise CliError(
                f"thread {thread.id} has an unfinished task; finish it with: "
                f"{resume_command(thread.id, options)} (or leave out --thread to start a new one)"
            )
        return {"task": text, **given.channels, "guidance": options.guidance or []}

    thread_id = new_thread_id() if options.thread is None else options.thread
    about = {"task": text, "files": [item["name"] for item in (*given.files, *given.folders)]}
    return drive(thread_id, options, begin, about)


def resume(options: ResumeOptions) -> int:
    """Continue a thread that stopped, failed or waits for you.

    If it used --tools, --base-url, --environment or --allow-writes, repeat them.
    """
    thread_id, replies = options.thread, options.reply or []
    if is_debugging(thread_id):
        from forethought.app.debug.command import resume_debugging

        return resume_debugging(thread_id, replies, options, options.as_json)

    async def begin(thread: Thread) -> Any:
        if replies:
            go_on = resume_command(thread_id, options)
            return questions.answer_questions(replies, await thread.snapshot(), f"thread {thread_id}", go_on)
        return await go_on_where_it_was(thread, options)

    return drive(thread_id, options, begin, {"thread": thread_id}, must_exist=True)


def fork(options: ForkOptions) -> int:
    """Continue from just before a step, repeating parallel steps."""

    async def begin(thread: Thread) -> None:
        await fork_before(thread, options.before, options.guidance)

    return drive(options.thread, options, begin, must_exist=True)


def drive(
    thread_id: str,
    options: ModelOptions,
    begin: Begin,
    about: Mapping[str, Any] | None = None,
    *,
    must_exist: bool = False,
) -> int:
    """Run what `begin` returns until it ends or waits. Returns the exit code."""
    if is_debugging(thread_id):
        raise CliError(
            f"{one_line(thread_id)} is a debugging thread, which cannot be run or forked: name another thread"
        )
    if options.quiet and options.as_json:
        raise CliError("use either --quiet or --json")
    with open_runner(options.as_json, options.quiet) as runner:
        runner.go_on = f"continue with: {resume_command(thread_id, options)}"
        opening = open_thread(thread_id, options, must_exist=must_exist, about=about)
        with runner.opened(opening) as thread:
            graph_input = runner.run(begin(thread))
            runner.console.print(f"thread {thread.id}")
            code, result = drive_turn(runner, thread, options, graph_input)
        if result["status"] == "answered" and not options.replay:
            echo(f"next: forethought chat --thread {thread_id}{resume_flags(options)}")
        return code


def drive_turn(
    runner: Runner, thread: Thread, options: ModelOptions, graph_input: Any, ask: Ask | None = None
) -> tuple[int, Json]:
    """Run the thread until it ends or waits, and print what came of it: the exit code and the result."""
    display = RunDisplay(runner.console, thread.context.approve_plan)
    ending = runner.drive(thread, graph_input, display, ask or questions.ask)
    line = explain(ending.error).line if ending.error else None
    result: Json = {"thread_id": thread.id, "status": "failed", "error": line}
    try:
        if ending.snapshot is not None:
            result = report(thread.id, ending.snapshot, line)
            show_result(result, runner.console, with_error=not ending.error, with_answer=not runner.quiet)
            if runner.quiet and result["answer"]:
                out = make_console()
                out.print(view.Prose(result["answer"]), soft_wrap=not out.is_terminal)
        runner.print_json(result)
    except OSError:
        # The reader has left, or the disk is full: what was done must be found again all the same.
        echo(f"the output could not be written; see it with: forethought show {thread.id}")
        runner.exit_code(ending, 0)
        raise
    if result.get("interrupts"):
        questions.tell_how_to_reply(resume_command(thread.id, options), result["interrupts"])
    elif result["status"] in {"failed", "stopped"} and not ending.error and not ending.stopped:
        echo(f"progress is saved; {runner.go_on}")
    return runner.exit_code(ending, exit_code(result["status"])), result


def show_result(result: Json, console: Console, with_error: bool = True, with_answer: bool = True) -> None:
    """Print the answer, what waits for a reply, the error, the cost."""
    if result["answer"] and with_answer:
        why = None if result["status"] == "answered" else result["evaluation"]
        console.print(view.answer(result["answer"], result["sources"], why))
    for question in result.get("interrupts") or []:
        console.print(questions.show_question(question))
    if result.get("error") and with_error:
        console.print(Text(one_line(result["error"], 400), style="red"))
    console.print(view.summary(result))


def read_task(task: str | None) -> str:
    """The task's text; `-` reads it from stdin. Raises CliError when nothing is asked."""
    if task == "-":
        with input_errors():
            task = sys.stdin.read()
    if not task or not task.strip():
        raise CliError("name a TASK, as in: forethought run 'How many rooms does the hotel have?'")
    return sanitize_text(task).strip()


async def fork_before(thread: Thread, before: int, guidance: str) -> None:
    """Make the state just before a step the thread's head, with `guidance` added. Raises CliError."""
    from forethought.state.history import ForkError, GraphCheckpoints, before_step
    from forethought.state.history import fork as branch_off

    checkpoints = GraphCheckpoints(thread.graph, thread.config)
    try:
        await branch_off(checkpoints, await before_step(checkpoints, before), [guidance])
    except ForkError as error:
        raise CliError(str(error)) from error


async def go_on_where_it_was(thread: Thread, options: ModelOptions) -> None:
    """Put a failed task back to work; one that was broken off goes on by itself.

    Raises CliError when the task is finished.
    """
    from forethought.graph.resume import restart_failed_task

    snapshot = await thread.snapshot()
    if unfinished(snapshot):
        return
    status = snapshot.values.get("status")
    if status != "failed":
        raise CliError(
            f"thread {thread.id} is finished ({status}); see it with: forethought show {thread.id}, "
            f"or run another task on it: forethought run TASK --thread {thread.id}{resume_flags(options)}"
        )
    try:
        await restart_failed_task(thread.graph, thread.config, snapshot.values)
    except ValueError as error:
        raise CliError(f"thread {thread.id}: {error}") from error
