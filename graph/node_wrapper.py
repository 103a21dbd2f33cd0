"""What every node and edge of a graph is wrapped in; LangGraph's private parts are used here alone.

(But for the reader of the state, in `nodes/support/state_reader.py`.)

A node is observed, its finished calls are journalled, and no error of its holds a secret. A failed task waits
for its siblings before it is heard of: when one of the tasks that LangGraph runs side by side raises, it
cancels the others at once, so that model calls in flight are thrown away, though they are paid for, and tool
calls are broken off. So what a task of a wave raises is held back until its siblings have come to their ends;
then their writes are kept with the checkpoint, and only the failed task runs again when the thread is
resumed. How long that takes is bounded by the siblings' own time limits and retries. Cancellation and
interrupts are not held back.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ParamSpec, TypeVar

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.runnables.config import set_config_context
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp

from forethought.journal import journalled
from forethought.models.types import SmallerWindow
from forethought.redaction import redact_error, redactor
from forethought.telemetry import observed

P = ParamSpec("P")
T = TypeVar("T")
Key = tuple[object, ...]
_TURNS = 10
"""Turns of the event loop in which a task begins, or ends once its node has returned."""


def wrap_node(node: Any, services: Any, *, checkpointed: bool = True, side_by_side: bool = False) -> Any:
    """`node` with its services, for `add_node`.

    What it does is told under its name (spans, log lines), and its calls with an effect are in its journal
    if the graph is `checkpointed`. An error of one that runs `side_by_side` with its like cancels none of
    them.
    """
    at_work = journalled(_again_in_smaller_window(node), checkpointed)
    done = observed(wait_for_siblings(at_work) if side_by_side else at_work)
    return partial(_without_secrets(done), services=services)


def _again_in_smaller_window(node: Callable[..., Awaitable[T]]) -> Callable[..., Awaitable[T]]:
    """`node`, which makes its prompts anew once a server has refused one and named its window."""

    @functools.wraps(node)
    async def run(*args: Any, **kwargs: Any) -> T:
        try:
            return await node(*args, **kwargs)
        except SmallerWindow:
            return await node(*args, **kwargs)

    return run


def _without_secrets(node: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """`node`, whose errors LangGraph stores with the thread as they are."""

    @functools.wraps(node)
    async def run(*args: Any, services: Any, **kwargs: Any) -> Any:
        try:
            return await node(*args, services=services, **kwargs)
        except GraphBubbleUp:
            raise
        except Exception as error:
            scrub = redactor(services.settings)
            redact_error(error, scrub)
            text = repr(error)
            if scrub(text) == text:
                raise
            # Its class keeps its words to itself, as pydantic's do.
            raise RuntimeError(scrub(text)) from None

    return run


class _InlineCondition(RunnableLambda[Any, Any]):
    """Asked without LangChain's callbacks, which take longer than the condition."""

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        with set_config_context(config or {}) as context:
            return context.run(self.func, input)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return self.invoke(input, config)


def inline_condition(condition: Callable[[Any], Any]) -> RunnableLambda[Any, Any]:
    """`condition`, a quick pure function of the state, for `add_conditional_edges`.

    The edge is taken together with its node's update, or not at all. LangGraph writes a node's update, then
    asks the condition in a thread, then writes the edge. A task that is cancelled in between (a sibling
    failed, the client left) is saved with its update alone and counts as done: the thread then has no next
    node, or a step without an executor. A condition that never gives way to the event loop leaves no moment
    in between, whatever checkpointer keeps the thread.
    """
    return _InlineCondition(condition)


@dataclass
class _Wave:
    """The tasks of one superstep that have begun and have not returned."""

    present: int = 0
    """Those at work, and those that wait for them."""
    working: int = 0
    idle: asyncio.Event = field(default_factory=asyncio.Event)


_waves: dict[Key, _Wave] = {}


def wait_for_siblings(node: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """`node`, which runs side by side with others of its superstep, so that an error of it cancels none of
    them."""

    @functools.wraps(node)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        key = _superstep()
        wave = _waves.setdefault(key, _Wave())
        wave.present += 1
        wave.working += 1
        try:
            try:
                return await node(*args, **kwargs)
            finally:
                wave.working -= 1
                if not wave.working:
                    wave.idle.set()
        except GraphBubbleUp:
            raise
        except Exception:
            await _others(wave)
            raise
        finally:
            wave.present -= 1
            if not wave.present:
                _waves.pop(key, None)

    return run


async def _others(wave: _Wave) -> None:
    """Return when none is at work any more, those that had not begun yet included."""
    await _turns()
    while wave.working:
        wave.idle.clear()
        await wave.idle.wait()
        await _turns()


async def _turns() -> None:
    for _ in range(_TURNS):
        await asyncio.sleep(0)


def _superstep() -> Key:
    """The superstep that this task is part of: its graph's namespace and checkpoint, in this event loop."""
    info = get_config()["configurable"]["__pregel_runtime"].execution_info
    loop = id(asyncio.get_running_loop())
    if info is None:
        return (loop, id(asyncio.current_task()))
    return (loop, info.thread_id, info.checkpoint_ns.rpartition("|")[0], info.checkpoint_id)
