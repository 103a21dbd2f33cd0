"""A thread of the agent, opened for a command with its graph."""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.app.command_flags import Flags
from forethought.app.display import StreamDisplay
from forethought.app.errors import CliError, input_errors
from forethought.app.options import check_repeated, context_of, settings_from
from forethought.app.runner import Session
from forethought.app.text import one_line
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.storage import EXPERIENCE, address_of, open_experience, open_threads
from forethought.telemetry import operation

if TYPE_CHECKING:
    from langgraph.runtime import RunControl

    from forethought.models import ReplayTransport, Transport

_THREAD_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}")
DEBUGGING = "debug:"
"""Prefix of the ids of debuggings, threads of the debugger's graph."""


@dataclass
class Thread(Session):
    """A thread of the agent's graph, and what it goes on with."""

    settings: Settings
    exists: bool

    async def stream(
        self, graph_input: Any, display: StreamDisplay, control: RunControl | None = None
    ) -> None:
        """See Session."""
        with operation("invoke_agent", "forethought", gen_ai__agent__name="forethought"):
            await super().stream(graph_input, display, control)


@asynccontextmanager
async def open_thread(
    thread_id: str,
    flags: Flags,
    *,
    must_exist: bool,
    about: Mapping[str, Any] | None = None,
    calls_models: bool = True,
) -> AsyncIterator[Thread]:
    """The thread, claimed by this process and checked to be ready.

    `about` describes the run in the header of a recording. Raises CliError (unknown thread, wrong flag, what
    must be given again), StorageError (claimed by another process), ConfigurationError (model, key).
    """
    from forethought.graph.agent import build_agent
    from forethought.graph.resume import run_metadata, run_options

    check_thread_id(thread_id)
    settings = settings_from(flags)
    if flags.record and flags.replay:
        raise CliError("use either --record or --replay")
    replay = read_recording(flags.replay) if flags.replay else None
    async with AsyncExitStack() as stack:
        opening = open_threads(address_of(settings), settings.key, create=not must_exist)
        saver = await stack.enter_async_context(opening)
        checkpoint = await saver.aget_tuple({"configurable": {"thread_id": thread_id}})
        if checkpoint is None and must_exist:
            raise unknown_thread(thread_id)
        previous = run_options(checkpoint.metadata if checkpoint else None)
        check_repeated(
            f"thread {thread_id}", flags, settings, tools=previous.tools, base_url=previous.base_url
        )
        # With another Context than the recorded run's, the prompts would differ.
        recorded = replay.header.get("context") if replay else None
        context = context_of(Context, flags, settings, previous.context or recorded)
        await stack.enter_async_context(saver.claim(thread_id))
        transport: Transport | None = replay
        if replay is None and calls_models:
            transport = _providers(flags.record, settings, context, about or {})
        store = None
        address = address_of(settings)
        # A recording would not fit a replay that knows other advice.
        if context.experience and not (flags.record or flags.replay) and address.beside(EXPERIENCE).exists:
            store = await stack.enter_async_context(open_experience(address))
        with input_errors():
            graph = build_agent(settings=settings, checkpointer=saver, store=store, transport=transport)
        metadata = run_metadata(context, settings)
        yield Thread(thread_id, saver, graph, context, settings, checkpoint is not None, metadata=metadata)


def read_recording(path: Path) -> ReplayTransport:
    """The model's replies that were recorded in a file. Raises CliError."""
    from forethought.models import ReplayError, ReplayTransport

    try:
        return ReplayTransport(path)
    except ReplayError as error:
        raise CliError(str(error)) from error


def _providers(
    record: Path | None, settings: Settings, context: Context, about: Mapping[str, Any]
) -> Transport | None:
    """The transport of a recorded run; None: the providers.

    Raises ConfigurationError where a model is not known or its key is not there, before it is called.
    """
    from forethought.models import Models, RecordingTransport
    from forethought.models.live import LiveTransport
    from forethought.state.context import models_of

    live = LiveTransport(settings) if record else None
    Models(settings, live).verify(models_of(context))
    if record is None or live is None:
        return None
    header = {**about, "model": context.model, "context": context.model_dump(mode="json")}
    return RecordingTransport(live, record, header, settings)


@asynccontextmanager
async def read_thread(thread_id: str, flags: Flags) -> AsyncIterator[Thread]:
    """The thread, read only: no claim, no model, no module of tools."""
    from forethought.graph.agent import build_agent

    check_thread_id(thread_id)
    settings = settings_from(flags)
    async with open_threads(address_of(settings), settings.key, create=False) as saver:
        if await saver.aget_tuple({"configurable": {"thread_id": thread_id}}) is None:
            raise unknown_thread(thread_id)
        graph = build_agent(settings=settings.model_copy(update={"tools": None}), checkpointer=saver)
        yield Thread(thread_id, saver, graph, Context(), settings, exists=True)


def new_thread_id() -> str:
    """A short new id that sorts by day: 20260517-3f9a1c."""
    return f"{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(3)}"


def is_debugging(thread_id: str) -> bool:
    """Whether a thread is one of the debugger's graph."""
    return thread_id.startswith(DEBUGGING)


def check_thread_id(thread_id: str) -> None:
    """Raises CliError for an id that could not be typed again."""
    if not _THREAD_ID.fullmatch(thread_id):
        raise CliError(
            f"thread id {one_line(thread_id, 40)!r}: use at most 100 letters, digits and . _ : @ -"
        )


def unknown_thread(thread_id: str) -> CliError:
    """The error for a thread that does not exist."""
    return CliError(f"no thread {one_line(thread_id)}; see: forethought threads")
