"""A debugging, opened for a command: a thread of the debugger's graph, and all that it works with.

It is kept in the database of threads, under an id of its own (`debug:SUBJECT:NUMBER`), so that it can be
broken off and resumed without labelling a step twice, shown again, and forked as any thread. What it was
asked for is kept with its checkpoints; what runs code or says where a key goes is only told from there (see
`given_again`).
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from forethought.app.debug.choices import changed_context
from forethought.app.debug.file import environment_rollouts, make_environment
from forethought.app.debug.thread import open_debugged
from forethought.app.errors import CliError
from forethought.app.options import Flags, settings_from, without_credentials
from forethought.app.runner import Session
from forethought.app.threads.thread import check_thread_id, damaged_thread, unknown_thread
from forethought.app.threads.threads import DEBUGGING
from forethought.settings import Settings
from forethought.state.debugger import DebuggerContext
from forethought.storage import address_of, open_threads

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.runtime import RunControl
    from langgraph.types import StateSnapshot

    from forethought.storage.saver import ThreadSaver
    from forethought.trajectories.types import Trajectory

Json = dict[str, Any]
Choose = Callable[[Settings, str | None], DebuggerContext]
_SAVED = "forethought_debug"
"""Key of a checkpoint's metadata that holds, as JSON text, what the debugging was asked for."""


@dataclass(frozen=True)
class Order:
    """What is debugged and how: kept with the debugging's checkpoints."""

    context: Json
    """The DebuggerContext."""
    thread: str | None = None
    leaf: str | None = None
    """The last checkpoint of the thread's branch that is debugged; None: its head."""
    environment: str | None = None
    allow_writes: bool = False
    base_url: str | None = None

    @property
    def runs_again(self) -> bool:
        """Whether the run may be made again."""
        return self.context.get("rerun", "off") != "off" or self.context.get("method") == "counterfactual"


_ORDER = TypeAdapter(Order)


@dataclass
class Debugging(Session):
    """A debugging and everything that is needed to go on with it."""

    order: Order
    started: datetime

    @property
    def config(self) -> RunnableConfig:
        """The config of a run; its checkpoints carry the order."""
        order = json.dumps(asdict(self.order), ensure_ascii=False)
        return {"configurable": {"thread_id": self.id}, "metadata": {_SAVED: order}}

    async def stream(
        self, given: Any, show: Callable[[Any], None], control: RunControl | None = None
    ) -> None:
        """See Session."""
        await super().stream(given, show, control)
        # Its first checkpoint was made a moment after it was opened.
        self.started = await _started(self.saver, self.id)

    def seconds(self, snapshot: StateSnapshot) -> float:
        """From its beginning to `snapshot`, waiting and breaks included."""
        last = datetime.fromisoformat(snapshot.created_at) if snapshot.created_at else self.started
        return max(0.0, (last - self.started).total_seconds())


@asynccontextmanager
async def open_debugging(
    order: Order,
    flags: Flags,
    choose: Choose,
    *,
    trajectory: Trajectory | None = None,
    id: str = "",
    name: str = "",
) -> AsyncIterator[Debugging]:
    """The debugging `id`, or a new one for `name`; held, with what it debugs, for this process.

    `trajectory` is what is debugged where that is no thread. `choose` gives the Context once the model that
    the thread was run with is known. Raises CliError, ConfigurationError.
    """
    from forethought.graph.debugger import build_debugger

    async with AsyncExitStack() as stack:
        world = await _world(stack, order, flags, trajectory)
        context = choose(world.settings, world.model)
        order = replace(
            order,
            context=context.model_dump(mode="json"),
            leaf=world.leaf,
            base_url=without_credentials(world.settings.base_url),
        )
        chosen = id or await _new_id(world.saver, name)
        await stack.enter_async_context(world.saver.claim(chosen))
        _verify(world.settings, context)
        graph = build_debugger(world.settings, world.saver, **world.parts)
        yield Debugging(chosen, world.saver, graph, context, order, await _started(world.saver, chosen))


@dataclass(frozen=True)
class _World:
    """What a debugging needs of the outside."""

    settings: Settings
    saver: ThreadSaver
    parts: Json
    """Arguments of build_debugger: how the subject is loaded and run again."""
    model: str | None = None
    leaf: str | None = None


async def _world(stack: AsyncExitStack, order: Order, flags: Flags, trajectory: Trajectory | None) -> _World:
    """The database, and the thread or the environment to run again in, open until the stack closes."""
    if order.thread is None:
        settings = settings_from(flags)
        parts: Json = {}
        if order.environment is not None and trajectory is not None:
            environment = make_environment(order.environment, trajectory)
            parts = {"environment": environment, "rollouts": environment_rollouts(environment, settings)}
        saver = await stack.enter_async_context(open_threads(address_of(settings), settings.key))
        return _World(settings, saver, parts)
    again = order.runs_again
    opening = open_debugged(
        order.thread, flags, leaf=order.leaf, runs_again=again, allow_writes=order.allow_writes
    )
    debugged = await stack.enter_async_context(opening)
    thread = debugged.thread
    parts = {"load_thread": debugged.load, "rollouts": debugged.rollouts}
    return _World(thread.settings, thread.saver, parts, thread.context.model, debugged.head.id)


@asynccontextmanager
async def read_debugging(thread_id: str, flags: Flags) -> AsyncIterator[Debugging]:
    """A debugging, to be looked at only. Raises CliError when there is none."""
    from forethought.graph.debugger import build_debugger

    check_thread_id(thread_id)
    settings = settings_from(flags)
    async with open_threads(address_of(settings), settings.key, create=False, read_only=True) as saver:
        order = await _order(saver, thread_id)
        # A choice of another release is dropped, as it is where the debugging goes on.
        context = changed_context(order.context, Flags())
        graph = build_debugger(settings, saver)
        yield Debugging(thread_id, saver, graph, context, order, await _started(saver, thread_id))


async def kept(thread_id: str, flags: Flags) -> tuple[Order, Json]:
    """What a debugging was asked for, and its state. Raises CliError when there is none."""
    async with read_debugging(thread_id, flags) as debugging:
        found = await debugging.saver.aget_tuple(debugging.config)
        values: Json = found.checkpoint["channel_values"] if found else {}
        return debugging.order, {**(values.get("__start__") or {}), **values}


async def _order(saver: ThreadSaver, thread_id: str) -> Order:
    found = await saver.aget_tuple({"configurable": {"thread_id": thread_id}})
    if found is None:
        raise unknown_thread(thread_id)
    text: Any = (found.metadata or {}).get(_SAVED)
    if not isinstance(text, str):
        raise CliError(f"thread {thread_id} is no debugging of `forethought debug`")
    try:
        return _ORDER.validate_python(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise damaged_thread(thread_id, "what it was asked for cannot be read") from error


async def _started(saver: ThreadSaver, thread_id: str) -> datetime:
    """When the first checkpoint was made; now, for a debugging that has none."""
    return await saver.created_at(thread_id) or datetime.now(UTC)


def _verify(settings: Settings, context: DebuggerContext) -> None:
    """Before the first call: each model is known and its key is there. Raises ConfigurationError."""
    from forethought.models import Models

    Models(settings).verify(dict.fromkeys((context.model, context.judge_model or context.model)))


async def _new_id(saver: ThreadSaver, name: str) -> str:
    """debug:NAME:1, or the next number that is free."""
    plain = re.sub(r"[^A-Za-z0-9._:@-]+", "-", name)[:70].strip("-") or "trajectory"
    prefix = f"{DEBUGGING}{plain}:"
    taken = {found.removeprefix(prefix) for found in await saver.with_prefix(prefix)}
    return prefix + str(max((int(number) for number in taken if number.isdecimal()), default=0) + 1)
