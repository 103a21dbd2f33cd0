"""The journal of a graph's task: what it began and finished that must not be done twice.

LangGraph keeps a task's update when its node has returned. The effect of a call that the node made before, a
killed process would forget. A journal's entries are durable at once, as pending writes of the checkpoint
that the task runs from, in a channel that no graph has: any checkpointer keeps them (SQLite, Postgres, a
server's own), encrypts and deletes them with the thread, and LangGraph passes them over. They are kept under
an id made of the task's own and the entry's key. A task has the same id when its thread is resumed, and
another one when the thread is forked or edited: so a resumed task finds what it had done, a new one nothing.
"""

from __future__ import annotations

import asyncio
import functools
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

CHANNEL = "forethought:journal"
ANCHOR_S = 30.0
"""Longest wait for a checkpoint that is being written."""
_NO_TASK = str(uuid.UUID(int=0))
"""LangGraph's id for writes without a task: its NULL_TASK_ID, which is private."""
_POLL_S = 0.01
Json = dict[str, Any]
P = ParamSpec("P")
T = TypeVar("T")


class JournalError(RuntimeError):
    """What has to be kept before a tool is called cannot be; one line."""


class Journal:
    """The entries of the task `task_id`, which runs from the checkpoint that `config` names.

    Without a `saver` nothing is kept: such a run cannot be resumed. `at_exit` says that the checkpoint itself
    is saved only when the run ends (`durability="exit"`).
    """

    def __init__(
        self,
        saver: BaseCheckpointSaver[Any] | None,
        config: RunnableConfig,
        task_id: str,
        *,
        at_exit: bool = False,
    ) -> None:
        self._saver, self._config, self._task, self._at_exit = saver, config, task_id, at_exit
        self._saved: CheckpointTuple | None = None
        self._asks = True

    async def entries(self) -> dict[str, Json]:
        """What the task had done before this run of it, by key."""
        return entries_by_task(await self._checkpoint()).get(self._task, {})

    async def write(self, key: str, value: Json) -> None:
        """Keep an entry, which is plain JSON without secrets; it is durable when this returns.

        Raises JournalError when the task's checkpoint itself is not kept, and what a checkpointer raises.
        """
        if self._saver is None:
            return
        if not self._at_exit:
            await self._wait_for_checkpoint()
        entry = {"task": self._task, "key": key, "value": value}
        await self._saver.aput_writes(self._config, [(CHANNEL, entry)], self.id(key))

    async def question(self) -> Json:
        """What the task asked a person last before this run of it, as they saw it; {} if nothing."""
        from langgraph.checkpoint.serde.types import INTERRUPT

        own = (self._task, INTERRUPT)
        writes = _writes(await self._checkpoint())
        asked = [item.value for *place, value in writes if tuple(place) == own for item in value]
        return asked[-1] if asked else {}

    async def clear_question(self) -> None:
        """Have the thread wait no more for what a person was asked by the task, nor hold their reply.

        LangGraph keeps a task's last question in one place, and leaves it there when a reply comes; a reply
        that names no question it keeps for whichever asks next.
        """
        from langgraph.checkpoint.serde.types import INTERRUPT, RESUME

        if self._asks and self._saver is not None and self._task in _asking(await self._checkpoint()):
            await self._saver.aput_writes(self._config, [(RESUME, None)], _NO_TASK)
            await self._saver.aput_writes(self._config, [(RESUME, []), (INTERRUPT, [])], self._task)
        self._asks = False

    def id(self, key: str) -> str:
        """A UUID of the task and `key`, the same when the thread is resumed: an idempotency key."""
        return str(uuid.uuid5(uuid.UUID(self._task), key))

    async def _checkpoint(self) -> CheckpointTuple | None:
        """As it was when it was first found."""
        if self._saved is None and self._saver is not None:
            self._saved = await self._saver.aget_tuple(self._config)
        return self._saved

    async def _wait_for_checkpoint(self) -> None:
        """It may be on its way while its tasks run already (`durability="async"`, and a run's first one
        always), and without it the entry would not be found again."""
        try:
            async with asyncio.timeout(ANCHOR_S):
                while True:
                    if await self._checkpoint():
                        return
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            raise JournalError(
                f"the thread's checkpoint was not saved within {ANCHOR_S:g} s, so the call was not "
                "made; resume the thread when its database answers again"
            ) from None


_current: ContextVar[Journal | None] = ContextVar("journal", default=None)


def current_journal() -> Journal:
    """The journal of the task that is running; one that keeps nothing outside of a journalled node."""
    return _current.get() or Journal(None, {}, str(uuid.uuid4()))


def journalled(node: Callable[P, Awaitable[T]], enabled: bool = True) -> Callable[P, Awaitable[T]]:
    """`node` with a journal while it runs; not `enabled` in a graph that is compiled without checkpoints,
    which inside another graph is still told of that one's checkpointer."""
    if not enabled:
        return node

    @functools.wraps(node)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        from langgraph.config import get_config

        token = _current.set(_journal_of(get_config()))
        try:
            return await node(*args, **kwargs)
        finally:
            _current.reset(token)

    return run


def _journal_of(config: RunnableConfig) -> Journal | None:
    from langgraph.checkpoint.base import BaseCheckpointSaver

    # The checkpointer is private to LangGraph, and asked for here and nowhere else.
    options = config["configurable"]
    saver, info = options.get("__pregel_checkpointer"), options["__pregel_runtime"].execution_info
    if not isinstance(saver, BaseCheckpointSaver) or info is None or info.thread_id is None:
        return None
    checkpoint: RunnableConfig = {
        "configurable": {
            "thread_id": info.thread_id,
            "checkpoint_ns": info.checkpoint_ns.rpartition("|")[0],
            "checkpoint_id": info.checkpoint_id,
        }
    }
    return Journal(saver, checkpoint, info.task_id, at_exit=options.get("__pregel_durability") == "exit")


def entries_by_task(saved: CheckpointTuple | None) -> dict[str, dict[str, Json]]:
    """What the tasks of a checkpoint have kept, by task and key."""
    entries: dict[str, dict[str, Json]] = {}
    for _, channel, entry in _writes(saved):
        if channel == CHANNEL:
            entries.setdefault(entry["task"], {})[entry["key"]] = entry["value"]
    return entries


def is_waiting(saved: CheckpointTuple | None) -> bool:
    """Whether a task of the checkpoint waits for a person's reply."""
    return bool(_asking(saved) - _finished(saved))


def unfinished_entries(saved: CheckpointTuple | None) -> list[Mapping[str, Json]]:
    """What the checkpoint's tasks have kept that neither have returned nor wait for a person."""
    past = _finished(saved) | _asking(saved)
    return [entries for task, entries in entries_by_task(saved).items() if task not in past]


def _asking(saved: CheckpointTuple | None) -> set[str]:
    from langgraph.checkpoint.serde.types import INTERRUPT

    return {task for task, channel, value in _writes(saved) if channel == INTERRUPT and value}


def _finished(saved: CheckpointTuple | None) -> set[str]:
    """The tasks of a checkpoint whose nodes have returned."""
    from langgraph.checkpoint.base import WRITES_IDX_MAP

    special = {CHANNEL, *WRITES_IDX_MAP}
    return {task for task, channel, _ in _writes(saved) if channel not in special}


def _writes(saved: CheckpointTuple | None) -> list[tuple[str, str, Any]]:
    return (saved.pending_writes or []) if saved else []
