"""One thread, opened for a command: its checkpoints, its graph, and what it is run with."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.app.checking import read_state, refused
from forethought.app.errors import CliError
from forethought.app.options import Flags, check_repeated, context_from_flags, settings_from
from forethought.app.runner import Session
from forethought.app.text import one_line
from forethought.graph.run_metadata import Saved, saved_of, saved_with
from forethought.settings import Settings
from forethought.state.bounds import bounded
from forethought.state.context import Context
from forethought.storage import address_of, open_lessons, open_threads
from forethought.telemetry import operation

if TYPE_CHECKING:
    from langgraph.checkpoint.base import CheckpointTuple
    from langgraph.runtime import RunControl
    from langgraph.store.base import BaseStore

    from forethought.app.transport import Answering
    from forethought.graph.agent import AgentGraph
    from forethought.models import Transport
    from forethought.storage.saver import ThreadSaver

_THREAD_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}")


@dataclass
class Thread(Session):
    """A thread of the agent's graph and everything that is needed to go on with it."""

    settings: Settings
    exists: bool

    async def stream(
        self, given: Any, show: Callable[[Any], None], control: RunControl | None = None
    ) -> None:
        """See Session."""
        with operation("invoke_agent", "forethought", gen_ai__agent__name="forethought"):
            await super().stream(given, show, control)


@asynccontextmanager
async def open_thread(
    thread_id: str, flags: Flags, answering: Answering, *, must_exist: bool
) -> AsyncIterator[Thread]:
    """The thread, held for this process and ready to run: settings, Context and models are checked.

    Raises CliError (unknown thread, wrong flag, what must be given again, held by another process),
    ConfigurationError (model, key).
    """
    from forethought.state.agent import AgentState

    check_thread_id(thread_id)
    settings = settings_from(flags)
    async with open_threads(address_of(settings), settings.key, create=not must_exist) as saver:
        found = await saver.aget_tuple({"configurable": {"thread_id": thread_id}})
        if found is None and must_exist:
            raise unknown_thread(thread_id)
        saved = _saved(found, thread_id)
        check_repeated(f"thread {thread_id}", flags, settings, tools=saved.tools, base_url=saved.base_url)
        context = _context(flags, settings, saved.context or answering.context)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(saver.claim(thread_id))
            transport = answering.make(settings, context)
            store = None
            if context.lessons:
                store = await stack.enter_async_context(open_lessons(address_of(settings)))
            graph = _built(settings, saver, transport, store)
            await read_state(graph, AgentState, thread_id)
            saved_flags = saved_with(context, settings)
            exists = found is not None
            yield Thread(thread_id, saver, graph, context, settings, exists, metadata=saved_flags)


@asynccontextmanager
async def read_thread(thread_id: str, flags: Flags) -> AsyncIterator[Thread]:
    """The thread, to be looked at only: nothing is locked, no model is checked, no tool module is loaded."""
    from forethought.state.agent import AgentState

    check_thread_id(thread_id)
    settings = settings_from(flags)
    async with open_threads(address_of(settings), settings.key, create=False, read_only=True) as saver:
        if await saver.aget_tuple({"configurable": {"thread_id": thread_id}}) is None:
            raise unknown_thread(thread_id)
        graph = _built(settings.model_copy(update={"tools": None}), saver, None)
        await read_state(graph, AgentState, thread_id)
        yield Thread(thread_id, saver, graph, Context(), settings, exists=True)


def check_thread_id(thread_id: str) -> None:
    """Raises CliError for an id that could not be typed again."""
    if not _THREAD_ID.fullmatch(thread_id):
        raise CliError(
            f"thread id {one_line(thread_id, 40)!r}: use letters, digits and . _ : @ -, at most 100 of them"
        )


def unknown_thread(thread_id: str) -> CliError:
    """No such thread."""
    return CliError(f"no thread {one_line(thread_id)}; `forethought threads` lists those there are")


def _saved(found: CheckpointTuple | None, thread_id: str) -> Saved:
    """What the thread was run with. Raises CliError where that cannot be read."""
    try:
        return saved_of(found.metadata if found else None)
    except ValueError as error:
        raise refused(thread_id, str(error)) from error


def _context(flags: Flags, settings: Settings, saved: Mapping[str, Any] | None) -> Context:
    """The Context: flags first, then the thread's own, or that of a replayed recording."""
    try:
        return bounded(context_from_flags(flags, settings, saved), settings)
    except ValueError as error:
        raise CliError(str(error)) from error


def _built(
    settings: Settings,
    saver: ThreadSaver,
    transport: Transport | None,
    store: BaseStore | None = None,
) -> AgentGraph:
    """The graph. Raises CliError when the module of --tools cannot be used."""
    from forethought.graph.agent import build_agent

    if settings.tools and str(Path.cwd()) not in sys.path:
        # Last, so that a file that happens to lie here takes no installed module's place.
        sys.path.append(str(Path.cwd()))
    try:
        return build_agent(settings=settings, checkpointer=saver, store=store, transport=transport)
    except ValueError as error:
        raise CliError(str(error)) from error
