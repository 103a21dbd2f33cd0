"""Runs graphs for a command, with questions to the person, Ctrl-C and SIGTERM.

    with open_runner(as_json) as runner:
        session = runner.open(open_session(...))                     # held until the block ends
        ending = runner.drive(session, graph_input, DebugDisplay(runner.console), ask_person)
        ...
        runner.print_json(result)
        return runner.exit_code(ending, code)

A command that runs more than one graph calls `runner.attempt(work)` instead of `drive`, and awaits with
`runner.finish` what SIGTERM may stop, with `runner.run` what it may not.

On Ctrl-C the graph is cancelled: every finished step is on disk by then, and the command can go on. SIGTERM
lets the calls under way finish first. Questions at the terminal are asked while no event loop runs, so that
both signals work there too.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    aclosing,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rich.console import Console

from forethought.app.display import StreamDisplay, make_console
from forethought.app.errors import DRAINED, INTERRUPTED, CliError, echo, echo_error, explain
from forethought.app.report import waiting, with_like
from forethought.app.text import to_json
from forethought.settings import Settings
from forethought.storage import Address, open_threads
from forethought.storage.errors import is_storage_failure
from forethought.telemetry import set_log_context

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.runtime import RunControl
    from langgraph.types import StateSnapshot

    from forethought.shutdown import Shutdown
    from forethought.storage.saver import ThreadSaver

T = TypeVar("T")
Json = dict[str, Any]
Ask = Callable[[Console, Json], Any]
"""Asks a person one question of an interrupt and returns the reply. Raises EOFError at the end of stdin."""


@dataclass
class Session:
    """A thread of a compiled graph, claimed by this process."""

    id: str
    saver: ThreadSaver
    graph: Any
    context: Any
    metadata: Json = field(default_factory=dict, kw_only=True)
    """Saved with each checkpoint that is written."""

    @property
    def config(self) -> RunnableConfig:
        """The config of a run."""
        return {"configurable": {"thread_id": self.id}, "metadata": self.metadata}

    async def snapshot(self) -> StateSnapshot:
        """The thread's newest state."""
        snapshot: StateSnapshot = await self.graph.aget_state({"configurable": {"thread_id": self.id}})
        return snapshot

    async def stream(
        self, graph_input: Any, display: StreamDisplay, control: RunControl | None = None
    ) -> None:
        """Run until the graph ends or waits, each step on disk before the next.

        Raises what the graph raises (the thread stays resumable), GraphDrained where `control` stopped it.
        """
        run_id = uuid.uuid4()
        set_log_context(thread_id=self.id, run_id=run_id)
        parts = self.graph.astream(
            graph_input,
            {**self.config, "run_id": run_id},
            context=self.context,
            stream_mode=display.modes,
            version="v2",
            durability="sync",
            control=control,
        )
        # Where the display fails, the graph is ended here: the loop's end would close a stream that runs.
        async with aclosing(cast("AsyncGenerator[Any]", parts)):
            async for part in parts:
                display.part(part)


@asynccontextmanager
async def claimed_threads(address: Address, key: bytes | None, name: str) -> AsyncIterator[ThreadSaver]:
    """The threads at `address`, where this process has claimed `name`. Raises StorageError."""
    async with open_threads(address, key) as saver, saver.claim(name):
        yield saver


@dataclass(frozen=True)
class Ending:
    """How a command's work ended."""

    error: Exception | None = None
    stopped: str = ""
    """Set where SIGTERM stopped it."""
    snapshot: StateSnapshot | None = None
    """Of the thread that was driven; None where its database cannot be read any more."""


class Runner:
    """One command's event loop, console and response to signals; see `open_runner`."""

    def __init__(self, loop: asyncio.Runner, shutdown: Shutdown, as_json: bool, quiet: bool = False) -> None:
        self.as_json, self.quiet = as_json, quiet
        self.console = make_console(sys.stderr if as_json or quiet else sys.stdout)
        self.go_on = "to continue, repeat the command"
        """How to go on after a stop, as the end of a sentence."""
        self.shutdown = shutdown
        self._loop, self._stack = loop, AsyncExitStack()

    @property
    def interactive(self) -> bool:
        """Whether a person can be asked at the terminal."""
        return not (self.as_json or self.quiet) and sys.stdin.isatty() and sys.stdout.isatty()

    def open(self, opening: AbstractAsyncContextManager[T]) -> T:
        """Enter `opening`; it is left when the runner closes."""
        return self.run(self._stack.enter_async_context(opening))

    @contextmanager
    def opened(self, opening: AbstractAsyncContextManager[T]) -> Iterator[T]:
        """Enter `opening` for a block, as one of many."""
        stack = AsyncExitStack()
        try:
            yield self.run(stack.enter_async_context(opening))
        finally:
            self.run(stack.aclose())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what `work` returns. SIGTERM waits for it."""
        return self._loop.run(work)

    def finish(self, work: Awaitable[T]) -> T:
        """Return what `work` returns. Raises Halt where SIGTERM stopped it."""
        return self._loop.run(self.shutdown.finish(work, Settings().drain_s))

    def attempt(self, work: Callable[[], None]) -> Ending:
        """Carry out `work`. Raises only what Ctrl-C and our own mistakes raise."""
        from forethought.shutdown import Halt

        try:
            work()
        except Halt as stop:
            return Ending(stopped=str(stop))
        except KeyboardInterrupt:
            raise CliError(f"interrupted; {self.go_on}", INTERRUPTED) from None
        except Exception as error:
            if explain(error).internal:
                echo(f"progress is saved; {self.go_on}")
                raise
            return Ending(error)
        return Ending()

    def drive(
        self, session: Session, graph_input: Any, display: StreamDisplay, ask: Ask | None = None
    ) -> Ending:
        """Run the graph until it ends or waits; at a terminal `ask` answers what it waits for.

        With None for `graph_input` it goes on where it was, which may be a question.
        """
        ending = self.attempt(lambda: self._until_done(session, graph_input, display, ask))
        if ending.error and is_storage_failure(ending.error):
            vars(ending.error)["database"] = session.saver.shown
        try:
            return Ending(ending.error, ending.stopped, self.run(session.snapshot()))
        except Exception as error:
            if ending.error is None or not is_storage_failure(error):
                raise
            return ending

    def _until_done(
        self, session: Session, graph_input: Any, display: StreamDisplay, ask: Ask | None
    ) -> None:
        from langgraph.types import Command

        questions = () if graph_input is not None else self.run(session.snapshot()).interrupts
        while True:
            if not questions:
                with display.live():
                    self.finish(session.stream(graph_input, display, self.shutdown.control))
                questions = self.run(session.snapshot()).interrupts
            if not questions or ask is None or not self.interactive:
                return
            try:
                with self.shutdown.idle():
                    replies: dict[str, Any] = {}
                    asked = [waiting(item) for item in questions]
                    for question in asked:
                        if question["id"] not in replies:
                            replies[question["id"]] = ask(self.console, question)
                            replies = with_like(replies, asked)
            except EOFError:
                return
            graph_input, questions = Command(resume=replies), ()

    def confirm(self, question: str, default: bool = True) -> bool:
        """Ask the person for a yes or no; without a terminal it is no."""
        import typer

        with self.shutdown.idle():
            try:
                return self.interactive and typer.confirm(question, default=default)
            except typer.Abort:
                return False

    def print_json(self, result: Mapping[str, Any]) -> None:
        """Print the result on stdout where --json asks for it."""
        if self.as_json:
            print(to_json(result), flush=True)

    def exit_code(self, ending: Ending, code: int) -> int:
        """Tell what stopped the work. Returns the exit code: `code` if nothing did."""
        if ending.stopped:
            echo(f"{ending.stopped}; {self.go_on}")
            return DRAINED
        if ending.error is None:
            return code
        echo_error(ending.error)
        if ending.snapshot is not None and ending.snapshot.created_at is None:
            echo("nothing was saved; fix the problem, then repeat the command")
        else:
            echo(f"progress is saved; {self.go_on}")
        return explain(ending.error).code


@contextmanager
def open_runner(as_json: bool, quiet: bool = False) -> Iterator[Runner]:
    """A runner whose sessions are closed at the end of the block. `quiet`: stdout is for the answer alone."""
    from forethought.shutdown import Shutdown, on_sigterm

    shutdown = Shutdown()
    with on_sigterm(shutdown), asyncio.Runner() as loop:
        loop.get_loop().set_default_executor(_Threads(thread_name_prefix="asyncio"))
        runner = Runner(loop, shutdown, as_json, quiet)
        try:
            yield runner
        finally:
            loop.run(runner._stack.aclose())


class _Threads(ThreadPoolExecutor):
    """The loop's threads, whose end waits for no tool that cannot be stopped."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=True)
