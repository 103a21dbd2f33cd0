"""A process that is killed at every moment that matters, without killing any.

What a kill leaves is what was durable, and what the world had seen by then. `Witness` keeps both: it is a
checkpointer in memory that is copied before and after each of its writes, together with what the tools and
models of a test had seen. A write is one transaction, so these are the states that a kill can leave.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from forethought.journal import CHANNEL
from forethought.models.types import ModelReply, ModelRequest

Json = dict[str, Any]


@dataclass
class Seen:
    """What the world outside of the process has seen."""

    effects: list[str] = field(default_factory=list)
    """What was changed, by name."""
    reads: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    """Model requests that were answered, by name."""


@dataclass
class Moment:
    """What a kill leaves: what was kept, and what was seen."""

    saver: InMemorySaver
    seen: Seen

    @property
    def journal(self) -> list[Json]:
        """The entries of all tasks so far."""
        kept = [write for writes in self.saver.writes.values() for write in writes.values()]
        loads = self.saver.serde.loads_typed
        return [loads(value) for _, channel, value, _ in kept if channel == CHANNEL]


class Witness(InMemorySaver):
    """A checkpointer that remembers the moments before and after it writes."""

    def __init__(self, seen: Seen, left: InMemorySaver | None = None) -> None:
        super().__init__()
        self.seen, self.moments = seen, list[Moment]()
        _copy(left or InMemorySaver(), self)

    async def aput(self, config: RunnableConfig, *rest: Any) -> RunnableConfig:
        """See InMemorySaver."""
        self._remember()
        put = await super().aput(config, *rest)
        self._remember()
        return put

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """See InMemorySaver."""
        self._remember()
        await super().aput_writes(config, writes, task_id, task_path)
        self._remember()

    def _remember(self) -> None:
        if (
            self.moments
            and self.moments[-1].seen == self.seen
            and _size(self.moments[-1].saver) == _size(self)
        ):
            return
        self.moments.append(Moment(self.left(), copy.deepcopy(self.seen)))

    def left(self) -> InMemorySaver:
        """What a kill would leave now."""
        left = InMemorySaver()
        _copy(self, left)
        return left


def _size(saver: InMemorySaver) -> tuple[int, int]:
    checkpoints = sum(len(space) for spaces in saver.storage.values() for space in spaces.values())
    return checkpoints, sum(len(writes) for writes in saver.writes.values())


def _copy(kept: InMemorySaver, to: InMemorySaver) -> None:
    """What is kept; the values themselves are bytes."""
    for thread, spaces in kept.storage.items():
        for space, checkpoints in spaces.items():
            to.storage[thread][space] = dict(checkpoints)
    for key, writes in kept.writes.items():
        to.writes[key] = dict(writes)
    to.blobs.update(kept.blobs)


@dataclass
class Answers:
    """A transport that answers from a function of the request, and tells `seen` what it answered."""

    reply: Callable[[ModelRequest], Json]
    name: Callable[[ModelRequest], str]
    seen: Seen

    async def send(self, request: ModelRequest) -> ModelReply:
        """See `Transport`."""
        value = self.reply(request)
        self.seen.asked.append(self.name(request))
        return ModelReply(json.dumps(value), input_tokens=10, output_tokens=5, model="scripted", usd=0.01)
