"""run, resume and fork: what each gives the graph to do, and what comes of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.app.checking import check_values
from forethought.app.display import Display
from forethought.app.errors import CliError
from forethought.app.given_again import Permits, again
from forethought.app.options import Flags, settings_from
from forethought.app.report import unfinished, waiting
from forethought.app.run import driving, questions
from forethought.app.run.driving import WAIT, Begin, Output
from forethought.app.run.ending import Ending, finish
from forethought.app.run.inputs import read_task, take_files
from forethought.app.text import one_line
from forethought.app.threads.thread import Thread, open_thread
from forethought.app.threads.threads import is_debugging, new_thread_id
from forethought.app.transport import Answering, asked_how, choose_transport
from forethought.storage.errors import is_storage_failure

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

Json = dict[str, Any]


def run_task(
    task: str | None, files: Sequence[Path], thread_id: str | None, flags: Flags, output: Output
) -> int:
    """Carry out a task on a new thread, or as the next task of an existing one."""
    text = read_task(task)
    references = take_files(files, settings_from(flags))
    about = {"task": text, "files": [item["name"] for item in references]}
    answering = choose_transport(output.record, output.replay, about)

    async def begin(thread: Thread) -> Json:
        if thread.exists:
            _refuse_unfinished(await thread.snapshot(), thread.id, output.resume_command(thread.id))
        return {"task": text, "files": references}

    return drive(new_thread_id() if thread_id is None else thread_id, flags, output, answering, begin)


def resume(
    thread_id: str, replies: Sequence[str], flags: Flags, output: Output, permits: Permits | None = None
) -> int:
    """Go on with a thread: with replies to what waits, or from where it was broken off or failed.

    `permits` is for a debugging.
    """
    permits = permits or Permits()
    if is_debugging(thread_id):
        from forethought.app.debug.debugging import resume_debugging

        if output.record or output.replay:
            raise CliError("--record and --replay are for runs: a debugging is resumed without them")
        return resume_debugging(thread_id, replies, flags, permits, output.as_json)
    if permits != Permits():
        raise CliError("--environment and --allow-writes are for debuggings: a run is resumed without them")
    answering = choose_transport(output.record, output.replay, {"thread": thread_id})

    async def begin(thread: Thread) -> Any:
        from langgraph.types import Command

        snapshot = await thread.snapshot()
        asked = [waiting(item) for item in snapshot.interrupts]
        if replies and not asked:
            raise waits_for_no_reply(f"thread {thread_id}", snapshot, output.resume_command(thread_id))
        if replies:
            return Command(resume=questions.replies_from(replies, asked))
        if asked:
            return WAIT
        if not unfinished(snapshot):
            await reenter(thread.graph, thread.config, thread.id, snapshot, again(flags))
        return None

    return drive(thread_id, flags, output, answering, begin, must_exist=True)


def fork(thread_id: str, before: int, guidance: str, flags: Flags, output: Output) -> int:
    """Go back to the checkpoint before step `before` and run on from there, with `guidance` if given."""
    answering = choose_transport(output.record, output.replay, {"thread": thread_id})

    async def begin(thread: Thread) -> None:
        from forethought.state.agent import AgentState
        from forethought.state.checkpoints import GraphCheckpoints
        from forethought.state.forking import ForkError, before_step, fork

        check = partial(check_values, AgentState, thread.id)
        checkpoints = GraphCheckpoints(thread.graph, thread.config, check=check)
        try:
            await fork(checkpoints, await before_step(checkpoints, before, whole_wave=True), [guidance])
        except ForkError as error:
            raise CliError(str(error)) from error

    return drive(thread_id, flags, output, answering, begin, must_exist=True)


def drive(
    thread_id: str,
    flags: Flags,
    output: Output,
    answering: Answering,
    begin: Begin[Thread],
    must_exist: bool = False,
) -> int:
    """Open the thread, run what `begin` gives until it ends or waits, and report. Returns the exit code."""
    if is_debugging(thread_id):
        raise CliError(f"{one_line(thread_id)} is a debugging: its kind of id cannot be run or forked")
    opening = _of_a_job(open_thread(thread_id, flags, answering, must_exist=must_exist))

    def end(thread: Thread, last: driving.Last) -> int:
        asked = "" if output.replay else asked_how(thread.context, thread.settings)
        ending = Ending(last.console, output.as_json, output.resume_command(thread.id), asked)
        return finish(thread.id, last.snapshot, last.error, ending)

    return driving.drive(opening, begin, output, driving.Manner("thread", Display, end))


@asynccontextmanager
async def _of_a_job(opening: AbstractAsyncContextManager[Thread]) -> AsyncIterator[Thread]:
    """The thread, whose job, if it is one, is over with it."""
    from forethought.batch.settling import settle

    async with opening as thread:
        yield thread
        try:
            await settle(thread.saver, thread.id, await thread.snapshot())
        except Exception as error:
            # The run has told its end already; `jobs --retry` settles such a job as well.
            if not is_storage_failure(error):
                raise


def waits_for_no_reply(what: str, snapshot: StateSnapshot, resume: str) -> CliError:
    """A reply was given and nothing is asked: not yet, if it was broken off."""
    if unfinished(snapshot):
        return CliError(f"{what} waits for no reply yet; go on with it first: {resume}")
    return CliError(f"{what} waits for no reply")


def _refuse_unfinished(snapshot: StateSnapshot, thread_id: str, resume: str) -> None:
    """A new task on a thread whose task has not ended would throw that one away."""
    if unfinished(snapshot):
        raise CliError(
            f"thread {thread_id} has an unfinished task; finish it with: {resume} "
            "(or leave --thread out for a new thread)"
        )


async def reenter(graph: Any, config: Any, thread_id: str, snapshot: StateSnapshot, flags: str = "") -> None:
    """Put a failed task back to work: where the next step is decided, or at the planner without a plan.

    `flags` are those that the next command has to be given again. Raises CliError when the task is finished.
    """
    from forethought.graph.reentering import back_to_work

    status = snapshot.values.get("status")
    if status != "failed":
        raise CliError(
            f"thread {thread_id} is finished ({status}); see it with: forethought show {thread_id}, "
            f"or give it a next task: forethought run TASK --thread {thread_id}{flags}"
        )
    await back_to_work(graph, config, snapshot.values)
