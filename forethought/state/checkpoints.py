"""A thread's checkpoints as a walk through its history sees them, wherever they are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

Json = dict[str, Any]


@dataclass(frozen=True)
class Point:
    """A checkpoint as a walk sees it."""

    id: str
    at: Any
    """What names it to its `Checkpoints`."""
    values: Mapping[str, Any]
    waiting: tuple[str, ...]
    """Nodes that are about to run from here."""
    parent: Any | None
    asks: bool = False
    """Whether it waits for a person."""

    @property
    def progress(self) -> Mapping[str, Any]:
        """The task's counters."""
        return self.values.get("progress") or {}

    @property
    def steps(self) -> list[Json]:
        """The steps recorded so far, by number."""
        return sorted(self.values.get("trajectory") or [], key=lambda step: step["n"])


class Checkpoints(Protocol):
    """A thread's checkpoints, wherever they are kept."""

    @property
    def thread(self) -> str:
        """Its id."""
        ...

    async def read(self, at: Any | None = None) -> Point | None:
        """The checkpoint `at`, or the thread's head; None when it is not there."""
        ...

    async def write(self, at: Any, values: Json, as_node: str) -> Any:
        """Branch off from `at` with `values`, as if `as_node` had written them; what names the new
        checkpoint."""
        ...


@dataclass(frozen=True)
class GraphCheckpoints:
    """The checkpoints of a thread of a compiled graph."""

    graph: Any
    config: Mapping[str, Any]
    """Its `configurable` names the thread; `metadata` is kept with every checkpoint that is written."""
    check: Callable[[Mapping[str, Any]], None] = field(default=lambda values: None, kw_only=True)
    """Raises for a checkpoint's values that are not to be relied on."""

    @property
    def thread(self) -> str:
        """The thread's id."""
        return str(self.config["configurable"]["thread_id"])

    async def read(self, at: Any | None = None) -> Point | None:
        """See `Checkpoints`."""
        snapshot = await self.graph.aget_state(at or {"configurable": {"thread_id": self.thread}})
        self.check(snapshot.values)
        return None if snapshot.created_at is None else point_of(snapshot)

    async def write(self, at: Any, values: Json, as_node: str) -> Any:
        """See `Checkpoints`."""
        config = {**at, "metadata": self.config["metadata"]} if "metadata" in self.config else at
        return await self.graph.aupdate_state(config, values, as_node=as_node)


def point_of(snapshot: Any) -> Point:
    """A graph's StateSnapshot as a Point."""
    return Point(
        id=str(snapshot.config["configurable"]["checkpoint_id"]),
        at=snapshot.config,
        values=snapshot.values,
        waiting=tuple(task.name for task in snapshot.tasks),
        parent=snapshot.parent_config,
        asks=bool(snapshot.interrupts),
    )
