"""Drives a graph on a thread for a command: runs it, asks the person where it waits, hands on where it ended.

Ctrl-C cancels the graph; every finished step is on disk by then, and the thread can be resumed. SIGTERM lets
the calls under way finish first. Questions at the terminal are asked while no event loop runs, so that both
work there too.
"""

from __future__ import annotations

import asyncio
import shlex
import sqlite3
import sys
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

from rich.console import Console

from forethought.app.display import make_console
from forethought.app.errors import DRAINED, INTERRUPTED, CliError, explain
from forethought.app.given_again import again
from forethought.app.holding import held
from forethought.app.leaving import event_loop
from forethought.app.options import Flags
from forethought.app.report import waiting
from forethought.app.run import questions
from forethought.app.tell import tell
from forethought.settings import Settings
from forethought.storage.errors import is_postgres, is_storage_failure

if TYPE_CHECKING:
    from langgraph.runtime import RunControl
    from langgraph.types import StateSnapshot

    from forethought.draining import Drain
    from forethought.storage.saver import ThreadSaver

WAIT: Final = object()
"""What a beginning gives when the graph has nothing to do before a person replies."""


class Driven(Protocol):
    """What can be driven: a thread with its graph."""

    @property
    def id(self) -> str:
        """The thread's id."""
        ...

    @property
    def saver(self) -> ThreadSaver:
        """Where it is kept."""
        ...

    async def snapshot(self) -> StateSnapshot:
        """Its newest state."""
        ...

    async def stream(self, given: Any, show: Callable[[Any], None], control: RunControl) -> None:
        """Run until the graph ends, waits, or is to stop by `control`: then it raises GraphDrained."""
        ...


class Shows(Protocol):
    """What shows a run while it happens."""

    def live(self) -> AbstractContextManager[None]:
        """While the graph runs."""
        ...

    def part(self, part: Any) -> None:
        """One part of the graph's stream."""
        ...


T = TypeVar("T", bound=Driven)
Begin = Callable[[T], Coroutine[Any, Any, Any]]
"""Gives the graph's input for an opened thread, a Command, None (go on) or WAIT."""


@dataclass(frozen=True)
class Output:
    """Where the result goes, and what is done with the model's replies."""

    as_json: bool = False
    record: Path | None = None
    replay: Path | None = None
    flags: Flags = field(default_factory=Flags)
    more: str = ""
    """Flags of this kind of thread that have to be given again, as they are typed."""

    def resume_command(self, thread_id: str) -> str:
        """What to type to go on with the thread."""
        replay = f" --replay {shlex.quote(str(self.replay))}" if self.replay else ""
        return f"forethought resume {thread_id}{again(self.flags)}{self.more}{replay}"

    @property
    def interactive(self) -> bool:
        """Whether a person can be asked at this terminal."""
        return not self.as_json and sys.stdin.isatty() and sys.stdout.isatty()


@dataclass(frozen=True)
class Last:
    """Where it ended."""

    console: Console
    snapshot: StateSnapshot | None
    """None when the database is what failed."""
    error: Exception | None


def go_on_hint(snapshot: StateSnapshot | None, resume: str) -> str:
    """How to go on with what is not over, where something of it is kept."""
    if snapshot is not None and snapshot.created_at is None:
        return "nothing of it is kept; when that is put right, run it again"
    return f"what was done is kept; continue with: {resume}"


@dataclass(frozen=True)
class Manner(Generic[T]):
    """How one kind of thread is shown and reported."""

    kind: str
    display: Callable[[Console], Shows]
    end: Callable[[T, Last], int]
    """Reports where it ended; returns the exit code."""


def drive(opening: AbstractAsyncContextManager[T], begin: Begin[T], output: Output, manner: Manner[T]) -> int:
    """Open the thread, run what `begin` gives until it ends or waits, and report. Returns the exit code."""
    from forethought.draining import Drain, Drained, on_sigterm

    console = make_console(sys.stderr if output.as_json else sys.stdout)
    drain = Drain()
    with on_sigterm(drain), event_loop() as loop, held(loop, opening) as thread:
        given: Any = loop.run(begin(thread))
        console.print(f"{manner.kind} {thread.id}")
        error: Exception | None = None
        snapshot: StateSnapshot | None
        try:
            snapshot = _until_done(loop, thread, given, manner.display(console), console, output, drain)
        except Drained as stopped:
            tell(str(stopped))
            manner.end(thread, Last(console, _last_state(loop, thread), None))
            return DRAINED
        except KeyboardInterrupt:
            raise _interrupted(loop, thread, output.resume_command(thread.id)) from None
        except Exception as failure:
            if explain(failure).internal:
                tell(f"what was done is kept; it can be continued with: {output.resume_command(thread.id)}")
                raise
            if isinstance(failure, sqlite3.Error) or is_postgres(failure):
                failure.add_note(thread.saver.shown)
            error, snapshot = failure, _last_state(loop, thread)
        return manner.end(thread, Last(console, snapshot, error))


def _interrupted(loop: asyncio.Runner, thread: Driven, again: str) -> CliError:
    """What Ctrl-C left: a thread to go on with, unless it came before the first checkpoint."""
    try:
        snapshot = _last_state(loop, thread)
    except KeyboardInterrupt:
        snapshot = None
    if snapshot is not None and snapshot.created_at is None:
        return CliError("interrupted before anything was done; run it again", INTERRUPTED)
    return CliError(f"interrupted; continue with: {again}", INTERRUPTED)


def _until_done(
    loop: asyncio.Runner,
    thread: Driven,
    given: Any,
    display: Shows,
    console: Console,
    output: Output,
    drain: Drain,
) -> StateSnapshot:
    """Run, ask at the terminal where it waits, run on. Returns the last state."""
    from langgraph.types import Command

    grace_s = Settings().drain_s
    while True:
        if given is not WAIT:
            with display.live():
                loop.run(drain.finish(thread.stream(given, display.part, drain.control), grace_s))
        snapshot = loop.run(thread.snapshot())
        asked = [waiting(item) for item in snapshot.interrupts]
        if not asked or not output.interactive:
            return snapshot
        try:
            with drain.idle():
                given = Command(resume={item["id"]: questions.ask(console, item) for item in asked})
        except EOFError:
            return snapshot


def _last_state(loop: asyncio.Runner, thread: Driven) -> StateSnapshot | None:
    """The state after an error; None when the database is what failed."""
    try:
        return loop.run(thread.snapshot())
    except Exception as error:
        if not is_storage_failure(error):
            raise
        return None
