"""run, resume and fork: drive the graph on a thread, ask the person where it waits, report what came of it.

Ctrl-C cancels the graph; every finished step is on disk by then, and the thread can be resumed. Questions at
the terminal are asked while no event loop runs, so that Ctrl-C works there too.
"""

from __future__ import annotations

import asyncio
import shlex
import sqlite3
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from forethought.app import questions
from forethought.app.display import Display, make_console
from forethought.app.ending import Ending, finish
from forethought.app.errors import INTERRUPTED, CliError, explain
from forethought.app.forking import fork_before
from forethought.app.inputs import read_task, take_files
from forethought.app.options import Flags, settings_from
from forethought.app.report import unfinished, waiting
from forethought.app.tell import tell
from forethought.app.thread import Thread, open_thread
from forethought.app.threads import new_thread_id
from forethought.app.transport import Answering, asked_how, choose_transport

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

Json = dict[str, Any]
WAIT: Final = object()
"""What a beginning gives when the graph has nothing to do before a person replies."""
Begin = Callable[[Thread], Coroutine[Any, Any, Any]]
"""Gives the graph's input for an opened thread, a Command, None (go on) or WAIT."""


@dataclass(frozen=True)
class Output:
    """Where the result goes, and what is done with the model's replies."""

    as_json: bool = False
    record: Path | None = None
    replay: Path | None = None

    def resume_command(self, thread_id: str) -> str:
        """What to type to go on with the thread."""
        replay = f" --replay {shlex.quote(str(self.replay))}" if self.replay else ""
        return f"forethought resume {thread_id}{replay}"

    @property
    def interactive(self) -> bool:
        """Whether a person can be asked at this terminal."""
        return not self.as_json and sys.stdin.isatty() and sys.stdout.isatty()


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
            _refuse_unfinished(await thread.snapshot(), thread.id)
        return {"task": text, "files": references}

    return drive(new_thread_id() if thread_id is None else thread_id, flags, output, answering, begin)


def resume(thread_id: str, replies: Sequence[str], flags: Flags, output: Output) -> int:
    """Go on with a thread: with replies to what waits, or from where it was broken off or failed."""
    answering = choose_transport(output.record, output.replay, {"thread": thread_id})

    async def begin(thread: Thread) -> Any:
        from langgraph.types import Command

        snapshot = await thread.snapshot()
        asked = [waiting(item) for item in snapshot.interrupts]
        if replies and not asked:
            raise CliError(f"thread {thread_id} waits for no reply")
        if replies:
            return Command(resume=questions.replies_from(replies, asked))
        if asked:
            return WAIT
        if not unfinished(snapshot):
            await _reenter(thread, snapshot)
        return None

    return drive(thread_id, flags, output, answering, begin, must_exist=True)


def fork(thread_id: str, before: int, guidance: str, flags: Flags, output: Output) -> int:
    """Go back to the checkpoint before step `before` and run on from there, with `guidance` if given."""
    answering = choose_transport(output.record, output.replay, {"thread": thread_id})

    async def begin(thread: Thread) -> None:
        await fork_before(thread, before, guidance)

    return drive(thread_id, flags, output, answering, begin, must_exist=True)


def drive(
    thread_id: str, flags: Flags, output: Output, answering: Answering, begin: Begin, must_exist: bool = False
) -> int:
    """Open the thread, run what `begin` gives until it ends or waits, and report. Returns the exit code."""
    console = make_console(sys.stderr if output.as_json else sys.stdout)
    with asyncio.Runner() as loop, _opened(loop, thread_id, flags, answering, must_exist) as thread:
        given: Any = loop.run(begin(thread))
        console.print(f"thread {thread.id}")
        error: Exception | None = None
        snapshot: StateSnapshot | None
        try:
            snapshot = _until_done(loop, thread, given, Display(console), output)
        except KeyboardInterrupt:
            raise _interrupted(_last_state(loop, thread), output.resume_command(thread.id)) from None
        except Exception as failure:
            if explain(failure).internal:
                tell(f"what was done is kept; it can be continued with: {output.resume_command(thread.id)}")
                raise
            error, snapshot = failure, _last_state(loop, thread)
        asked = "" if output.replay else asked_how(thread.context, thread.settings)
        ending = Ending(console, output.as_json, output.resume_command(thread.id), asked)
        return finish(thread.id, snapshot, error, ending)


def _interrupted(snapshot: StateSnapshot | None, again: str) -> CliError:
    """What Ctrl-C left: a thread to go on with, unless it came before the first checkpoint."""
    if snapshot is not None and snapshot.created_at is None:
        return CliError("interrupted before anything was done; run it again", INTERRUPTED)
    return CliError(f"interrupted; continue with: {again}", INTERRUPTED)


@contextmanager
def _opened(
    loop: asyncio.Runner, thread_id: str, flags: Flags, answering: Answering, must_exist: bool
) -> Iterator[Thread]:
    """The thread, open over several runs of the loop."""
    stack = AsyncExitStack()
    opening = open_thread(thread_id, flags, answering, must_exist=must_exist)
    try:
        yield loop.run(stack.enter_async_context(opening))
    finally:
        loop.run(stack.aclose())


def _until_done(
    loop: asyncio.Runner, thread: Thread, given: Any, display: Display, output: Output
) -> StateSnapshot:
    """Run, ask at the terminal where it waits, run on. Returns the last state."""
    from langgraph.types import Command

    while True:
        if given is not WAIT:
            with display.live():
                loop.run(thread.stream(given, display.part))
        snapshot = loop.run(thread.snapshot())
        asked = [waiting(item) for item in snapshot.interrupts]
        if not asked or not output.interactive:
            return snapshot
        try:
            given = Command(resume={item["id"]: questions.ask(display.console, item) for item in asked})
        except EOFError:
            return snapshot


def _last_state(loop: asyncio.Runner, thread: Thread) -> StateSnapshot | None:
    """The state after an error; None when the database is what failed."""
    try:
        return loop.run(thread.snapshot())
    except (sqlite3.Error, OSError):
        return None


def _refuse_unfinished(snapshot: StateSnapshot, thread_id: str) -> None:
    """A new task on a thread whose task has not ended would throw that one away."""
    if unfinished(snapshot):
        raise CliError(
            f"thread {thread_id} has an unfinished task; finish it with: forethought resume {thread_id} "
            "(or leave --thread out for a new thread)"
        )


async def _reenter(thread: Thread, snapshot: StateSnapshot) -> None:
    """Put a failed task back to work: where the next step is decided, or at the planner without a plan.

    Raises CliError when the task is finished.
    """
    status = snapshot.values.get("status")
    if status != "failed":
        raise CliError(
            f"thread {thread.id} is finished ({status}); see it with: forethought show {thread.id}, "
            f"or give it a next task: forethought run TASK --thread {thread.id}"
        )
    planned = bool((snapshot.values.get("plan") or {}).get("subtasks"))
    # The edge behind answer_agent leads to the planner while the task runs: as the next round begins.
    node = "replan_trigger" if planned else "answer_agent"
    await thread.graph.aupdate_state(thread.config, {"status": "running"}, as_node=node)
