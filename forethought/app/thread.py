"""One thread, opened for a command: its checkpoints, its graph, and what it is run with."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.app.database import claim, database_path, lessons_path, open_lessons, open_threads
from forethought.app.errors import CliError
from forethought.app.options import Flags, context_from_flags, settings_from
from forethought.app.text import one_line
from forethought.app.threads import saved_of, saved_with
from forethought.settings import Settings
from graph.bounds import bounded
from graph.context import Context

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.store.sqlite.aio import AsyncSqliteStore
    from langgraph.types import StateSnapshot

    from forethought.app.transport import Answering
    from forethought.models import Transport
    from graph.agent import AgentGraph

_THREAD_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}")


@dataclass(frozen=True)
class Thread:
    """A thread and everything that is needed to go on with it."""

    id: str
    path: Path
    graph: AgentGraph
    settings: Settings
    context: Context
    exists: bool

    @property
    def config(self) -> RunnableConfig:
        """The config of a run: its checkpoints carry the Context, so that `resume` needs no flags."""
        return {"configurable": {"thread_id": self.id}, "metadata": saved_with(self.context, self.settings)}

    async def snapshot(self) -> StateSnapshot:
        """The thread's newest state."""
        return await self.graph.aget_state({"configurable": {"thread_id": self.id}})

    async def stream(self, given: Any, show: Callable[[Any], None]) -> None:
        """Run until the graph ends or waits. Every step is on disk before the next one begins.

        Raises what the graph raises: ModelError, sqlite3.Error, OSError; the thread stays resumable.
        """
        parts = self.graph.astream(
            given,
            self.config,
            context=self.context,
            stream_mode=["updates", "custom"],
            version="v2",
            durability="sync",
        )
        async for part in parts:
            show(part)


@asynccontextmanager
async def open_thread(
    thread_id: str, flags: Flags, answering: Answering, *, must_exist: bool
) -> AsyncIterator[Thread]:
    """The thread, held for this process and ready to run: settings, Context and models are checked.

    Raises CliError (unknown thread, wrong flag, held by another process), ConfigurationError (model, key).
    """
    check_thread_id(thread_id)
    path = database_path(settings_from(flags))
    async with open_threads(path, create=not must_exist) as saver:
        found = await saver.aget_tuple({"configurable": {"thread_id": thread_id}})
        if found is None and must_exist:
            raise unknown_thread(thread_id)
        saved = saved_of(found.metadata) if found else {}
        settings, context = _chosen(flags, saved, answering.context)
        async with AsyncExitStack() as stack:
            stack.enter_context(claim(path, thread_id))
            transport = answering.make(settings, context)
            store = None
            if context.lessons:
                store = await stack.enter_async_context(open_lessons(lessons_path(settings)))
            graph = _built(settings, saver, transport, store)
            yield Thread(thread_id, path, graph, settings, context, exists=found is not None)


@asynccontextmanager
async def read_thread(thread_id: str, flags: Flags) -> AsyncIterator[Thread]:
    """The thread, to be looked at only: nothing is locked, no model is checked, no tool module is loaded."""
    check_thread_id(thread_id)
    settings = settings_from(flags)
    path = database_path(settings)
    async with open_threads(path, create=False) as saver:
        if await saver.aget_tuple({"configurable": {"thread_id": thread_id}}) is None:
            raise unknown_thread(thread_id)
        graph = _built(settings.model_copy(update={"tools": None}), saver, None)
        yield Thread(thread_id, path, graph, settings, Context(), exists=True)


def check_thread_id(thread_id: str) -> None:
    """Raises CliError for an id that could not be typed again."""
    if not _THREAD_ID.fullmatch(thread_id):
        raise CliError(
            f"thread id {one_line(thread_id, 40)!r}: use letters, digits and . _ : @ -, at most 100 of them"
        )


def unknown_thread(thread_id: str) -> CliError:
    """No such thread."""
    return CliError(f"no thread {one_line(thread_id)}; `forethought threads` lists those there are")


def _chosen(
    flags: Flags, saved: Mapping[str, Any], recorded: Mapping[str, Any] | None
) -> tuple[Settings, Context]:
    """Settings and Context: flags first, then the thread's own, then those of a replayed recording."""
    settings = settings_from(flags, saved)
    try:
        return settings, bounded(
            context_from_flags(flags, settings, saved.get("context") or recorded), settings
        )
    except ValueError as error:
        raise CliError(str(error)) from error


def _built(
    settings: Settings,
    saver: AsyncSqliteSaver,
    transport: Transport | None,
    store: AsyncSqliteStore | None = None,
) -> AgentGraph:
    """The graph. Raises CliError when the module of --tools cannot be used."""
    from graph.agent import build_agent

    if settings.tools and str(Path.cwd()) not in sys.path:
        # Last, so that a file that happens to lie here takes no installed module's place.
        sys.path.append(str(Path.cwd()))
    try:
        return build_agent(settings=settings, checkpointer=saver, store=store, transport=transport)
    except ValueError as error:
        raise CliError(str(error)) from error
