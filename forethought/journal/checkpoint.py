"""A journal kept by the checkpointer, whatever it is: see `forethought.journal.task`."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import WRITES_IDX_MAP
from langgraph.checkpoint.serde.types import INTERRUPT, RESUME

from forethought.journal.task import JournalError, Json

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

CHANNEL = "forethought:journal"
ANCHOR_S = 30.0
"""Longest wait for a checkpoint that is on its way."""
_NO_TASK = str(uuid.UUID(int=0))
"""LangGraph's own id for what is written by no task: its NULL_TASK_ID, which is private."""
_POLL_S = 0.01
_MOST_EDITS = 20
"""Edits in a row that are looked through for unfinished calls before them."""


@dataclass(frozen=True)
class Place:
    """A checkpoint."""

    thread: str
    graph: str
    """Namespace of the graph: '' unless it is part of another one."""
    id: str

    @property
    def config(self) -> RunnableConfig:
        """What names it to a checkpointer."""
        return {
            "configurable": {
                "thread_id": self.thread,
                "checkpoint_ns": self.graph,
                "checkpoint_id": self.id,
            }
        }


class CheckpointJournal:
    """The entries of the task `task_id` that runs from the checkpoint `place`; read when first asked for.

    `at_exit` says that the checkpoint itself is kept only when the run ends, in an error too
    (`durability="exit"`); then what changes nothing is not kept before that.
    """

    def __init__(
        self, saver: BaseCheckpointSaver[Any], place: Place, task_id: str, at_exit: bool = False
    ) -> None:
        self._saver, self._place, self._task, self._at_exit = saver, place, task_id, at_exit
        self._loading = asyncio.Lock()
        self._anchor: CheckpointTuple | None = None
        self._entries: dict[str, Json] | None = None
        self._inherited: dict[str, Json] | None = None
        self._asked: Counter[str] = Counter()
        self._answered = False

    async def entries(self) -> Mapping[str, Json]:
        """See `Journal`."""
        return await self._loaded()

    async def write(self, key: str, value: Json, effect: bool = False) -> None:
        """See `Journal`."""
        entries = await self._loaded()
        if not self._at_exit:
            await self._anchored()
        if effect or not self._at_exit:
            entry = {"task": self._task, "key": key, "value": value}
            await self._saver.aput_writes(self._place.config, [(CHANNEL, entry)], self.id(key))
        entries[key] = value

    async def answered(self) -> None:
        """See `Journal`."""
        await self._loaded()
        if self._anchor and self._task in _asking(self._anchor) and not self._answered:
            # LangGraph keeps a task's last question in one place, and leaves it there when a reply comes. A
            # reply that names no question it keeps for whichever asks next.
            await self._saver.aput_writes(self._place.config, [(RESUME, None)], _NO_TASK)
            await self._saver.aput_writes(self._place.config, [(RESUME, []), (INTERRUPT, [])], self._task)
            self._answered = True

    async def inherited(self) -> Mapping[str, Json]:
        """See `Journal`."""
        await self._loaded()
        if self._inherited is None:
            found: dict[str, Json] = {}
            at = self._anchor
            for _ in range(_MOST_EDITS):
                if at is None or at.metadata.get("source") not in ("update", "fork") or not at.parent_config:
                    break
                at = await self._saver.aget_tuple(at.parent_config)
                finished = _finished(at) if at and await self._was_gone_on_with(at) else set()
                for entry in _entries(at):
                    if entry["task"] not in finished:
                        found.setdefault(entry["key"], entry["value"])
            self._inherited = found
        return self._inherited

    async def _was_gone_on_with(self, at: CheckpointTuple) -> bool:
        """Whether the run itself went on from a checkpoint, so that its tasks were done with and what stands
        behind it is a fork; else it was edited in the middle of them."""
        config: RunnableConfig = {
            "configurable": {"thread_id": self._place.thread, "checkpoint_ns": self._place.graph}
        }
        step: Any = at.metadata.get("step")
        after = {"source": "loop", "step": step + 1 if isinstance(step, int) else None}
        async for later in self._saver.alist(config, filter=after):
            parent = (later.parent_config or {}).get("configurable", {})
            if parent.get("checkpoint_id") == at.checkpoint["id"]:
                return True
        return False

    def id(self, key: str) -> str:
        """See `Journal`. Checkpointers keep pending writes under the UUID of a task: an entry's is this."""
        return str(uuid.uuid5(uuid.UUID(self._task), key))

    def nth(self, name: str) -> int:
        """See `Journal`."""
        self._asked[name] += 1
        return self._asked[name] - 1

    def counted(self, name: str) -> int:
        """See `Journal`."""
        return self._asked[name]

    async def _anchored(self) -> None:
        """Wait for the checkpoint: it may be on its way while its tasks run already (`durability="async"`,
        and a run's first one always), and without it the entry would not be found again."""
        try:
            async with asyncio.timeout(ANCHOR_S):
                while self._anchor is None:
                    await asyncio.sleep(_POLL_S)
                    self._anchor = await self._saver.aget_tuple(self._place.config)
        except TimeoutError:
            raise JournalError(
                f"the thread's checkpoint was not saved within {ANCHOR_S:g} s, and nothing is changed before "
                "it is; go on with the thread when its database answers again"
            ) from None

    async def _loaded(self) -> dict[str, Json]:
        async with self._loading:
            if self._entries is None:
                self._anchor = await self._saver.aget_tuple(self._place.config)
                self._entries = _entries_of(self._anchor, self._task)
            return self._entries


def waits(saved: CheckpointTuple | None) -> bool:
    """Whether a task of the checkpoint waits for a person's reply."""
    return bool(_asking(saved) - _finished(saved))


def unfinished(saved: CheckpointTuple | None) -> dict[str, dict[str, Json]]:
    """What the checkpoint's tasks have kept that neither have returned nor wait for a person, by task."""
    found: dict[str, dict[str, Json]] = {}
    past = _finished(saved) | _asking(saved)
    for entry in _entries(saved):
        if entry["task"] not in past:
            found.setdefault(entry["task"], {})[entry["key"]] = entry["value"]
    return found


def _asking(saved: CheckpointTuple | None) -> set[str]:
    """The tasks of a checkpoint that have asked a person something."""
    writes = (saved.pending_writes or []) if saved else []
    return {task for task, channel, value in writes if channel == INTERRUPT and value}


def _finished(saved: CheckpointTuple | None) -> set[str]:
    """The tasks of a checkpoint whose nodes have returned: what they did is recorded, and a fork of it does
    it anew."""
    writes = (saved.pending_writes or []) if saved else []
    return {task for task, channel, _ in writes if channel != CHANNEL and channel not in WRITES_IDX_MAP}


def _entries_of(saved: CheckpointTuple | None, task: str) -> dict[str, Json]:
    """What a checkpoint's task has kept in its journal."""
    return {entry["key"]: entry["value"] for entry in _entries(saved) if entry["task"] == task}


def _entries(saved: CheckpointTuple | None) -> list[Json]:
    """A checkpoint's entries. What is none, whoever put it there, is passed over."""
    writes = (saved.pending_writes or []) if saved else []
    found = [value for _, channel, value in writes if channel == CHANNEL]
    return [
        entry
        for entry in found
        if isinstance(entry, dict)
        and isinstance(entry.get("task"), str)
        and isinstance(entry.get("key"), str)
        and isinstance(entry.get("value"), dict)
    ]
