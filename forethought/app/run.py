"""run, resume and fork: what each gives the graph to do, and how its result is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from forethought.app import questions, render
from forethought.app.display import Display
from forethought.app.errors import CliError, echo, explain
from forethought.app.options import Flags, resume_command, resume_flags, settings_from
from forethought.app.report import Json, exit_code, report, unfinished
from forethought.app.runner import Ending, Runner, open_runner
from forethought.app.text import one_line
from forethought.app.threads.thread import Thread, is_debugging, new_thread_id, open_thread
from forethought.app.transport import Answering, asked_how, choose_transport
from forethought.text import sanitize_text

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from forethought.app.commands import ForkOptions, ResumeOptions, RunOptions
    from forethought.settings import Settings

Begin = Callable[[Thread], Coroutine[Any, Any, Any]]
"""Returns the graph's input for an opened thread: a task, a Command, or None to go on."""


def run_task(options: RunOptions) -> int:
    """Carry out a task on a new thread, or as the next task of an existing one."""
    text = read_task(options.task)
    references = import_files(options.files or [], settings_from(options))
    about = {"task": text, "files": [item["name"] for item in references]}
    answering = choose_transport(options.record, options.replay, about)

    async def begin(thread: Thread) -> Json:
        if thread.exists and unfinished(await thread.snapshot()):
            raise CliError(
                f"thread {thread.id} has an unfinished task; finish it with: "
                f"{resume_command(thread.id, options)} (or leave --thread out for a new thread)"
            )
        return {"task": text, "files": references}

    thread_id = new_thread_id() if options.thread is None else options.thread
    return drive(thread_id, options, answering, begin, options.as_json)


def resume(options: ResumeOptions) -> int:
    """Go on with a thread: with replies to what waits, or from where it was broken off or failed."""
    thread_id, replies = options.thread, options.reply or []
    if is_debugging(thread_id):
        from forethought.app.debug.command import resume_debugging

        if options.record or options.replay:
            raise CliError("--record and --replay are for runs: a debugging is resumed without them")
        return resume_debugging(thread_id, replies, options, options.as_json)
    if options.environment or options.allow_writes:
        raise CliError("--environment and --allow-writes are for debuggings: a run is resumed without them")
    answering = choose_transport(options.record, options.replay, {"thread": thread_id})

    async def begin(thread: Thread) -> Any:
        snapshot = await thread.snapshot()
        if replies:
            go_on = resume_command(thread_id, options)
            return questions.answer_questions(replies, snapshot, f"thread {thread_id}", go_on)
        if not unfinished(snapshot):
            await _restart(thread, snapshot, options)
        return None

    return drive(thread_id, options, answering, begin, options.as_json, must_exist=True)


def fork(options: ForkOptions) -> int:
    """Go back to the checkpoint before a step and run on from there, with `guidance` if given."""
    answering = choose_transport(None, None, {})

    async def begin(thread: Thread) -> None:
        from forethought.state.history import ForkError, GraphCheckpoints, before_step, fork

        checkpoints = GraphCheckpoints(thread.graph, thread.config)
        try:
            point = await before_step(checkpoints, options.before)
            await fork(checkpoints, point, [options.guidance])
        except ForkError as error:
            raise CliError(str(error)) from error

    return drive(options.thread, options, answering, begin, options.as_json, must_exist=True)


def drive(
    thread_id: str,
    flags: Flags,
    answering: Answering,
    begin: Begin,
    as_json: bool,
    *,
    must_exist: bool = False,
) -> int:
    """Open the thread, run what `begin` returns until it ends or waits, and report. Returns the exit code."""
    if is_debugging(thread_id):
        raise CliError(f"{one_line(thread_id)} is a debugging: its kind of id cannot be run or forked")
    with open_runner(as_json) as runner:
        thread = runner.open(open_thread(thread_id, flags, answering, must_exist=must_exist))
        resume = resume_command(thread_id, flags)
        runner.go_on = f"continue with: {resume}"
        given: Any = runner.run(begin(thread))
        runner.console.print(f"thread {thread.id}")
        ending = runner.drive(thread, given, Display(runner.console), questions.ask)
        code = _report(runner, thread_id, ending, resume)
        if ending.error and explain(ending.error).model and not flags.replay:
            echo(asked_how(thread.context, thread.settings))
        return code


def _report(runner: Runner, thread_id: str, ending: Ending, resume: str) -> int:
    """Print the answer and the last line, or the JSON object, and how to go on. Returns the exit code."""
    line = explain(ending.error).line if ending.error else None
    if ending.snapshot is None:
        result: Json = {"thread_id": thread_id, "status": "failed", "error": line}
    else:
        result = report(thread_id, ending.snapshot, line)
    try:
        if ending.snapshot is not None:
            show_result(result, runner.console, with_error=not ending.error)
        runner.print_json(result)
    except OSError:
        # The reader has left, or the disk is full: what was done must be found again all the same.
        echo(f"the output could not be written; see it with: forethought show {thread_id}")
        runner.exit_code(ending, 0)
        raise
    if result.get("interrupts"):
        questions.tell_how_to_reply(resume, result["interrupts"])
    elif result["status"] in {"failed", "running"} and not ending.error and not ending.stopped:
        echo(f"what was done is kept; {runner.go_on}")
    return runner.exit_code(ending, exit_code(result["status"]))


def show_result(result: Json, console: Console, with_error: bool = True) -> None:
    """Print the answer with its sources, what waits for a reply, the error, and the cost."""
    if result["answer"]:
        console.print(
            render.answer(result["answer"], result["sources"], passed=result["status"] == "answered")
        )
    for question in result.get("interrupts") or []:
        console.print(questions.show_question(question))
    if result.get("error") and with_error:
        console.print(Text(one_line(result["error"], 400), style="red"))
    console.print(render.summary(result))


def read_task(task: str | None) -> str:
    """The task's text; `-` reads it from stdin. Raises CliError when nothing is asked."""
    if task == "-":
        try:
            task = sys.stdin.read()
        except UnicodeDecodeError as error:
            raise CliError("the task on stdin is not UTF-8 text") from error
    if task is None:
        raise CliError(
            "name a TASK, as in: forethought run 'How many rooms does the hotel have?' --file hotel.pdf"
        )
    if not task.strip():
        raise CliError("the task is empty: say what is asked")
    return sanitize_text(task).strip()


def import_files(paths: Sequence[Path], settings: Settings) -> list[Json]:
    """Store the files by the hash of their content and return them as the graph's input names them.

    Raises FilesError: a file is missing, unreadable or too large, or the storage cannot be written.
    """
    if not paths:
        return []
    from forethought.tools.files import FileStore, from_path

    store = FileStore.of(settings)
    references: dict[str, Json] = {}
    for path in dict.fromkeys(paths):
        reference = from_path(path, store=store, settings=settings, used_names=references)
        references[reference["name"]] = dict(reference)
    return list(references.values())


async def _restart(thread: Thread, snapshot: StateSnapshot, flags: Flags) -> None:
    """Put a failed task back to work. Raises CliError when the task is finished."""
    from forethought.graph.resume import restart_failed_task

    status = snapshot.values.get("status")
    if status != "failed":
        raise CliError(
            f"thread {thread.id} is finished ({status}); see it with: forethought show {thread.id}, "
            f"or give it a next task: forethought run TASK --thread {thread.id}{resume_flags(flags)}"
        )
    try:
        await restart_failed_task(thread.graph, thread.config, snapshot.values)
    except ValueError as error:
        raise CliError(f"thread {thread.id}: {error}") from error
