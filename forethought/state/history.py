"""A thread's history, and going back in it: a checkpoint before a step, a plan or the answer becomes the
thread's head again, and the graph runs on from there. Steps that ran side by side are run again together.

Nothing is erased: the old branch's checkpoints stay, and the newest branch is the thread's head until
`make_head` names another one. Used by `forethought fork` and by the debugger's re-rollouts (AgentDebug 3.2,
stage 3). A fork's own checkpoint is written as if the node before it had just run, so that the graph's own
edges lead on.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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

    async def newest(self, count: int) -> list[Point]:
        """The checkpoints that were written last, of whichever branch; the head comes first."""
        ...

    async def write(self, at: Any, values: Json | None, as_node: str) -> Any:
        """Branch off from `at` with `values`, as if `as_node` had written them; what names the new
        checkpoint."""
        ...


@dataclass(frozen=True)
class GraphCheckpoints:
    """The checkpoints of a thread of a compiled graph."""

    graph: Any
    config: Mapping[str, Any]
    """Its `configurable` names the thread; `metadata` is kept with every checkpoint that is written."""

    @property
    def thread(self) -> str:
        """The thread's id."""
        return str(self.config["configurable"]["thread_id"])

    async def read(self, at: Any | None = None) -> Point | None:
        """See `Checkpoints`."""
        snapshot = await self.graph.aget_state(at or {"configurable": {"thread_id": self.thread}})
        return None if snapshot.created_at is None else point_of(snapshot)

    async def newest(self, count: int) -> list[Point]:
        """See `Checkpoints`."""
        config = {"configurable": {"thread_id": self.thread}}
        return [point_of(snapshot) async for snapshot in self.graph.aget_state_history(config, limit=count)]

    async def write(self, at: Any, values: Json | None, as_node: str) -> Any:
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


class ForkError(ValueError):
    """A fork that cannot be made; one line that says why and what to do."""


@dataclass(frozen=True)
class ForkPoint:
    """Where a fork begins, and what is written there besides guidance."""

    at: Any
    as_node: str
    guidance: tuple[str, ...]
    """The task's guidance so far, which stays."""
    kept_steps: tuple[Json, ...]
    """The task's steps before it, which are not executed again."""
    spent: Mapping[str, Mapping[str, Any]]
    """The task's usage up to here."""
    update: Json = field(default_factory=dict)
    proposal: Json = field(default_factory=dict)
    """Before an execution: what was to be carried out."""


async def fork(checkpoints: Checkpoints, place: ForkPoint, guidance: Sequence[str] = ()) -> Any:
    """Branch off at `place`, with `guidance` added to the task's own; run `None` on what is returned."""
    return await checkpoints.write(place.at, _values(place, guidance), place.as_node)


async def make_head(checkpoints: Checkpoints, leaf: Point) -> None:
    """Make the branch that ends in `leaf` the thread's head again, with all that it has and waits for."""
    # LangGraph's own names: a task that is still to run is copied along; an ended run goes on as it is.
    await checkpoints.write(leaf.at, None, "__copy__" if leaf.waiting else "__end__")


def is_fork_of(first: Point, place: ForkPoint, guidance: Sequence[str]) -> bool:
    """Whether `first`, a checkpoint just behind `place`, is one that `fork` wrote with this guidance."""
    values = _values(place, guidance)
    proposals = values.get("proposals") or {}
    return (
        first.values.get("guidance") == values["guidance"]
        and proposals.items() <= (first.values.get("proposals") or {}).items()
    )


def _values(place: ForkPoint, guidance: Sequence[str]) -> Json:
    added = [text.strip() for text in guidance if text.strip()]
    return {**place.update, "guidance": [*place.guidance, *added]}


async def before_step(checkpoints: Checkpoints, n: int, leaf: Any | None = None) -> ForkPoint:
    """Just before the tool agents of step `n` and of those that ran beside it, on the branch that ends in
    `leaf` (the head by default).

    Raises ForkError when there is no such step or its checkpoint is gone.
    """
    point = await _find_step(_line(checkpoints, f"step {n}", leaf), checkpoints, n, "tool_agent")
    return _place(point, "replan_trigger")


async def before_execution(checkpoints: Checkpoints, n: int, leaf: Any | None = None) -> ForkPoint:
    """Just before step `n` is carried out, and those beside it: its proposal stands and can be replaced (see
    `substitute`).

    Raises ForkError, as `before_step`.
    """
    point = await _find_step(_line(checkpoints, f"step {n}", leaf), checkpoints, n, "tool_executor")
    proposal = next(item for item in point.values["proposals"].values() if item["n"] == n)
    return replace(_place(point, "tool_agent"), proposal=proposal)


def substitute(place: ForkPoint, proposal: Mapping[str, Any]) -> ForkPoint:
    """The place of `before_execution` with another proposal for its step."""
    return replace(place, update={"proposals": {proposal["subtask"]: dict(proposal)}})


async def before_plan(checkpoints: Checkpoints, n: int | None = None, leaf: Any | None = None) -> ForkPoint:
    """Just before the planner call that made the plan in force at step `n`, or at the answer without `n`.

    Raises ForkError, as `before_step`.
    """
    line = _line(checkpoints, "the plan", leaf)
    if n is None:
        newer = await _find_answer(line, checkpoints)
    else:
        newer = await _find_step(line, checkpoints, n, "tool_agent")
    async for point in line:
        is_newer = _plan_number(point) != _plan_number(newer) and newer.values.get("plan")
        if "planner" in point.waiting and is_newer:
            if _begins(point, newer):
                return _beginning(point, newer)
            # The edge behind answer_agent leads to the planner while the task runs: as a round begins.
            return _place(point, "answer_agent", {"status": "running"})
        newer = point
    raise ForkError(_missing_checkpoint(checkpoints, "the plan"))


async def before_answer(checkpoints: Checkpoints, leaf: Any | None = None) -> ForkPoint:
    """Just before the last answer was written. Raises ForkError when none was."""
    return _place(await _find_answer(_line(checkpoints, "the answer", leaf), checkpoints), "replan_trigger")


async def before_task(checkpoints: Checkpoints, leaf: Any | None = None) -> ForkPoint:
    """Just before the first plan of the task that `leaf` is in. Raises ForkError when it is gone."""
    what = "the beginning of the task"
    newer: Point | None = None
    async for point in _line(checkpoints, what, leaf):
        if newer is not None and "planner" in point.waiting and _begins(point, newer):
            return _beginning(point, newer)
        newer = point
    raise ForkError(_missing_checkpoint(checkpoints, what))


async def before_turn(checkpoints: Checkpoints) -> Point | None:
    """Where the thread stood when the head's task was sent; None where that was its first.

    Raises ForkError when it is gone.
    """
    what = "the last turn"
    async for point in _line(checkpoints, what, None):
        if "__start__" in point.waiting:
            return await checkpoints.read(point.parent) if point.parent else None
    raise ForkError(_missing_checkpoint(checkpoints, what))


async def _line(checkpoints: Checkpoints, what: str, leaf: Any | None) -> AsyncIterator[Point]:
    """The checkpoints from the leaf back to the first, parent by parent, since a thread's history mixes its
    branches. `what` is looked for."""
    point = await checkpoints.read(leaf)
    if point is None:
        raise ForkError(
            f"thread {checkpoints.thread} has no checkpoint to go back to; run a task in it first"
        )
    while True:
        yield point
        if point.parent is None:
            return
        older = await checkpoints.read(point.parent)
        if older is None:
            raise ForkError(_missing_checkpoint(checkpoints, what))
        point = older


async def _find_step(line: AsyncIterator[Point], checkpoints: Checkpoints, n: int, node: str) -> Point:
    """The checkpoint from which `node` runs for step `n`."""
    last = 0
    async for point in line:
        last = max(last, point.progress.get("n", 0))
        numbers = [item["n"] for item in point.values.get("dispatch") or []]
        if n in numbers and node in point.waiting:
            if not point.values.get("plan"):
                # It is put together from the checkpoints before this one.
                raise ForkError(_missing_checkpoint(checkpoints, f"step {n}"))
            return point
    steps = f"; choose from 1 to {last}" if last else " yet"
    raise ForkError(f"thread {checkpoints.thread} has no step {n}{steps}")


async def _find_answer(line: AsyncIterator[Point], checkpoints: Checkpoints) -> Point:
    async for point in line:
        if "answer_agent" in point.waiting:
            return point
    raise ForkError(f"thread {checkpoints.thread} has no answer yet; resume it first")


def _missing_checkpoint(checkpoints: Checkpoints, what: str) -> str:
    return (
        f"thread {checkpoints.thread}: the checkpoint before {what} was deleted or pruned; "
        "start the task in a new thread"
    )


def _plan_number(point: Point) -> tuple[Any, Any]:
    return point.progress.get("task"), point.progress.get("version")


def _begins(point: Point, newer: Point) -> bool:
    return bool(point.progress.get("task") != newer.progress.get("task"))


def _beginning(point: Point, newer: Point) -> ForkPoint:
    """A task's begin: of its guidance holds what the planner took on; of the thread's usage, nothing."""
    known = tuple(newer.values.get("guidance") or ())
    return ForkPoint(point.at, "__start__", known, kept_steps=(), spent={})


def _place(point: Point, as_node: str, update: Json | None = None) -> ForkPoint:
    task = point.progress.get("task")
    mine = tuple(step for step in point.steps if step["task"] == task)
    known = tuple(point.values.get("guidance") or ())
    return ForkPoint(point.at, as_node, known, mine, point.values.get("usage") or {}, update or {})
