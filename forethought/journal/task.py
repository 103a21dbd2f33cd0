"""The journal of one task: of one node's run from one checkpoint.

LangGraph keeps a task's update when the node has returned. What the node did before, a broken-off process
would forget: the model's replies, a tool's effect. A journal's entries are kept at once, with the checkpoint
that the task runs from, under an id made of the task's own and the entry's key. A task has the same id when
its thread is resumed, and another one when the thread is forked, edited or gone on with. So a resumed task
finds what it had done, and a new one finds nothing.

The entries are pending writes of the checkpoint in a channel that no graph has: any checkpointer keeps them
(SQLite, Postgres, a server's own), encrypts and deletes them as it does with all of a thread, and LangGraph,
which hands pending writes only to the tasks that made them, passes them over.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

Json = dict[str, Any]
P = ParamSpec("P")
T = TypeVar("T")


class JournalError(RuntimeError):
    """What has to be kept before a tool is called cannot be; one line."""


class Journal(Protocol):
    """A task's entries. An entry is written once and stays as it is."""

    async def entries(self) -> Mapping[str, Json]:
        """What the task has done so far, by key."""
        ...

    async def write(self, key: str, value: Json, effect: bool = False) -> None:
        """Keep an entry; it is durable when this returns. `value` is plain JSON without secrets. `effect`
        says that it is of a call which changes something: it is kept however little else is.

        Raises JournalError when the task's checkpoint itself is not kept, and what a checkpointer raises.
        """
        ...

    async def answered(self) -> None:
        """Have the thread wait no more for what a person was asked by the task, nor hold what they replied:
        what follows from it begins. Durable when this returns; what is asked from here on waits as ever.

        Raises what a checkpointer raises.
        """
        ...

    async def inherited(self) -> Mapping[str, Json]:
        """The entries of the tasks that this one takes the place of, where the thread was edited in the
        middle of them (an edited proposal, say)."""
        ...

    def id(self, key: str) -> str:
        """A UUID of the task and `key`, the same when the thread is resumed: an idempotency key."""
        ...

    def nth(self, name: str) -> int:
        """How often this was called with `name` before: tells equal things of one task apart."""
        ...

    def counted(self, name: str) -> int:
        """How often `nth` was called with `name` in this run of the task."""
        ...


class Unkept:
    """Of a run that cannot be resumed: without a checkpointer."""

    async def entries(self) -> Mapping[str, Json]:
        """See `Journal`."""
        return {}

    async def write(self, key: str, value: Json, effect: bool = False) -> None:
        """See `Journal`."""

    async def answered(self) -> None:
        """See `Journal`."""

    async def inherited(self) -> Mapping[str, Json]:
        """See `Journal`."""
        return {}

    def id(self, key: str) -> str:
        """See `Journal`."""
        return str(uuid.uuid4())

    def nth(self, name: str) -> int:
        """See `Journal`."""
        return 0

    def counted(self, name: str) -> int:
        """See `Journal`."""
        return 0


_UNKEPT = Unkept()
_current: ContextVar[Journal] = ContextVar("journal", default=_UNKEPT)


def current() -> Journal:
    """The journal of the task that is running; one that keeps nothing outside of a journalled node."""
    return _current.get()


def journalled(node: Callable[P, Awaitable[T]], kept: bool = True) -> Callable[P, Awaitable[T]]:
    """`node` with a journal while it runs; `kept` is False in a graph that is compiled without checkpoints,
    which inside another graph is still told of that one's checkpointer."""
    if not kept:
        return node

    @functools.wraps(node)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        from langgraph.config import get_config

        with _task(get_config()):
            return await node(*args, **kwargs)

    return run


@contextmanager
def _task(config: RunnableConfig) -> Iterator[None]:
    token = _current.set(_journal_of(config))
    try:
        yield
    finally:
        _current.reset(token)


def _journal_of(config: RunnableConfig) -> Journal:
    # The checkpointer is private to LangGraph, and asked for here and nowhere else.
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from forethought.journal.checkpoint import CheckpointJournal, Place

    given = config["configurable"]
    saver, info = given.get("__pregel_checkpointer"), given["__pregel_runtime"].execution_info
    if not isinstance(saver, BaseCheckpointSaver) or info is None or info.thread_id is None:
        return _UNKEPT
    graph = info.checkpoint_ns.rpartition("|")[0]
    place, at_exit = (
        Place(info.thread_id, graph, info.checkpoint_id),
        given.get("__pregel_durability") == "exit",
    )
    return CheckpointJournal(saver, place, info.task_id, at_exit)
