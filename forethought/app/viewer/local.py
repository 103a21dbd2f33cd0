"""The threads of the local database, which the viewer's own process runs.

Several threads run at a time, each claimed as `forethought run` claims it, so that a terminal and the viewer
never run the same one.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from forethought.app.command_flags import ModelOptions
from forethought.app.display import StreamDisplay, make_console
from forethought.app.errors import echo_error
from forethought.app.options import settings_from
from forethought.app.run import fork_before, go_on_where_it_was
from forethought.app.threads.thread import Thread, new_thread_id, open_thread
from forethought.app.viewer.local_threads import LocalThreads
from forethought.app.viewer.runs import Json, Refused, check_answered, check_finished, refusals, replies_to

if TYPE_CHECKING:
    from langgraph.types import Command

    from forethought.shutdown import Shutdown
    from forethought.storage.saver import ThreadSaver

_POLL_S = 0.02


class LocalRuns(LocalThreads):
    """See Runs. `saver` is open as long as the viewer runs; `shutdown` stops all runs."""

    def __init__(self, saver: ThreadSaver, options: ModelOptions, shutdown: Shutdown) -> None:
        super().__init__(saver, settings_from(options))
        self._options, self._shutdown = options, shutdown
        self._running: dict[str, asyncio.Task[None]] = {}

    async def begin(
        self,
        task: str,
        files: Sequence[tuple[str, bytes]] = (),
        settings: Mapping[str, str] | None = None,
        thread_id: str = "",
    ) -> str:
        """See Runs."""
        from forethought.tools.files import from_contents

        sets = [*(self._options.sets or ()), *(f"{key}={value}" for key, value in (settings or {}).items())]

        async def graph_input(thread: Thread) -> Json:
            if thread.exists:
                check_finished(await thread.snapshot())
            return {"task": task, "files": await asyncio.to_thread(from_contents, files, self._settings)}

        name = thread_id or new_thread_id()
        before = await self._saver.head(name)
        run = await self._start(name, graph_input, sets, must_exist=bool(thread_id))
        while not run.done():
            if await self._saver.head(name) != before:  # by now there is something to show
                break
            await asyncio.sleep(_POLL_S)
        return name

    async def reply(self, thread_id: str, replies: Mapping[str, Json]) -> None:
        """See Runs."""
        from langgraph.types import Command

        async def graph_input(thread: Thread) -> Command[Any]:
            return Command(resume=replies_to(await thread.snapshot(), replies))

        await self._start(thread_id, graph_input)

    async def resume(self, thread_id: str) -> None:
        """See Runs."""
        await self._start(thread_id, lambda thread: go_on_where_it_was(thread, self._options))

    async def fork(self, thread_id: str, before: int, guidance: str) -> None:
        """See Runs."""
        await self._start(thread_id, lambda thread: fork_before(thread, before, guidance))

    async def wrong(self, thread_id: str, why: str) -> None:
        """See Runs."""
        from forethought.app.teach import again, keep

        async def graph_input(thread: Thread) -> Json:
            snapshot = await thread.snapshot()
            check_answered(snapshot)
            await keep(why, thread, snapshot.values)
            return again(why, snapshot.values)

        await self._start(thread_id, graph_input)

    async def stop(self, thread_id: str) -> None:
        """See Runs."""
        run = self._running.get(thread_id)
        if run is None and await self.is_running(thread_id):
            raise Refused("Another process is running this thread: stop it there.")
        if run is None:
            raise Refused("This thread is not running.")
        run.cancel()
        await asyncio.wait([run])

    async def close(self) -> None:
        """Wait until all runs have stopped, which `shutdown` was asked for."""
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _start(
        self,
        thread_id: str,
        graph_input: Callable[[Thread], Awaitable[Any]],
        sets: list[str] | None = None,
        *,
        must_exist: bool = True,
    ) -> asyncio.Task[None]:
        """Open the thread as `run` does and run it in the background. Raises Refused."""
        options = self._options.model_copy(update={"sets": sets} if sets else {})
        async with AsyncExitStack() as opened:
            with refusals():
                opening = open_thread(thread_id, options, must_exist=must_exist)
                thread = await opened.enter_async_context(opening)
                given = await graph_input(thread)
            run = asyncio.create_task(self._carry_out(thread, given, opened.pop_all()))
            self._running[thread_id] = run
        return run

    async def _carry_out(self, thread: Thread, graph_input: Any, opened: AsyncExitStack) -> None:
        """Run until it ends, waits or is stopped. A failure is also printed on the terminal."""
        from forethought.shutdown import Halt

        try:
            async with opened:
                stream = thread.stream(graph_input, _Unseen(make_console(sys.stderr)), self._shutdown.control)
                await self._shutdown.finish(stream, self._settings.drain_s)
        except Halt:
            pass  # its finished steps are kept
        except Exception as error:
            echo_error(error)
        finally:
            del self._running[thread.id]


class _Unseen(StreamDisplay):
    """Shows nothing: pages are made from the thread's state."""

    def part(self, part: Mapping[str, Any]) -> None:
        """See StreamDisplay."""

    def updated(self, node: str, update: Mapping[str, Any]) -> None:
        """See StreamDisplay."""
