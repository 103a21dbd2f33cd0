"""A thread's history, and going back in it: a checkpoint before a step, a plan or the answer becomes the
thread's head again, and the graph runs on from there.

Nothing is erased: the old branch's checkpoints stay, and the newest branch is the thread's head. Used by
`forethought fork` and by the debugger's re-rollouts (AgentDebug 3.2, stage 3). A fork's own checkpoint is
written as if the node before it had just run, so that the graph's own edges lead on.
"""

from __future__ import annotations

from collections import deque
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

    @property
    def thread(self) -> str:
        """The thread's id."""
        return str(self.config["configurable"]["thread_id"])

    async def read(self, at: Any | None = None) -> Point | None:
        """See `Checkpoints`."""
        snapshot = await self.graph.aget_state(at or {"configurable": {"thread_id": self.thread}})
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
    """Recorded steps that are not executed again: those before, and finished siblings of lower number."""
    spent: Mapping[str, Mapping[str, Any]]
    """The task's usage up to here."""
    update: Json = field(default_factory=dict)
    proposal: Json = field(default_factory=dict)
    """Before an execution: what was to be carried out."""


async def fork(checkpoints: Checkpoints, place: ForkPoint, guidance: Sequence[str] = ()) -> Any:
    """Branch off at `place`, with `guidance` added to the task's own; run `None` on what is returned."""
    return await checkpoints.write(place.at, _values(place, guidance), place.as_node)


def is_fork_of(first: Point, place: ForkPoint, guidance: Sequence[str]) -> bool:
    """Whether `first`, a checkpoint just behind `place`, is one that `fork` wrote with this guidance."""
    values = _values(place, guidance)
    proposals = first.values.get("proposals") or {}
    wanted = {key: value for key, value in (values.get("proposals") or {}).items() if value is not None}
    return first.values.get("guidance") == values["guidance"] and wanted.items() <= proposals.items()


def _values(place: ForkPoint, guidance: Sequence[str]) -> Json:
    added = [text.strip() for text in guidance if text.strip()]
    return {**place.update, "guidance": [*place.guidance, *added]}


async def before_step(
    checkpoints: Checkpoints, n: int, leaf: Any | None = None, *, whole_wave: bool = False
) -> ForkPoint:
    """Just before the tool agent of step `n`, on the branch that ends in `leaf` (the head by default).

    Siblings of its wave with lower numbers are kept as they came out; with `whole_wave` they are sent again.
    Raises ForkError when there is no such step or its checkpoint is gone.
    """
    point, after = await _find_dispatch(_line(checkpoints, n, leaf), checkpoints, n)
    if not point.values.get("plan"):
        # It is put together from the checkpoints before this one.
        raise ForkError(_missing_checkpoint(checkpoints, f"step {n}"))
    numbers = set() if whole_wave else {item["n"] for item in point.values["dispatch"] if item["n"] < n}
    kept = _finished_steps(point, after, numbers)
    update: Json = {}
    if kept:
        done = {step["n"] for step in kept}
        sent = [item for item in point.values["dispatch"] if item["n"] not in done]
        update = {"dispatch": sent, **_writes_of(kept, after), "usage": _tool_usage(kept)}
    return _place(point, "replan_trigger", kept, update)


async def before_execution(checkpoints: Checkpoints, n: int, leaf: Any | None = None) -> ForkPoint:
    """Just before step `n` is carried out: its proposal stands and can be replaced (see `substitute`).

    Raises ForkError, as `before_step`.
    """
    newer: deque[Point] = deque(maxlen=4)
    async for point in _line(checkpoints, n, leaf):
        proposals = point.values.get("proposals") or {}
        mine = next((item for item in proposals.values() if item["n"] == n), None)
        if mine is not None and "tool_executor" in point.waiting:
            lower = {item["n"] for item in proposals.values() if item["n"] < n}
            kept = _finished_steps(point, newer, lower)
            update = _writes_of(kept, newer) if kept else {}
            update["proposals"] = dict.fromkeys(step["subtask"] for step in kept)
            return _place(point, "tool_agent", kept, update, proposal=mine)
        newer.append(point)
    raise await _no_step(checkpoints, n, leaf)


def substitute(place: ForkPoint, proposal: Mapping[str, Any]) -> ForkPoint:
    """The place of `before_execution` with another proposal for its step."""
    proposals = {**place.update["proposals"], proposal["subtask"]: dict(proposal)}
    return replace(place, update={**place.update, "proposals": proposals})


async def before_plan(checkpoints: Checkpoints, n: int | None = None, leaf: Any | None = None) -> ForkPoint:
    """Just before the planner call that made the plan in force at step `n`, or at the answer without `n`.

    Raises ForkError, as `before_step`.
    """
    line = _line(checkpoints, n, leaf)
    newer, _ = await (_find_answer(line, checkpoints) if n is None else _find_dispatch(line, checkpoints, n))
    async for point in line:
        made = _plans(point) != _plans(newer) and newer.values.get("plan")
        if "planner" in point.waiting and made:
            if _begins(point, newer):
                return _beginning(point, newer)
            # The edge behind answer_agent leads to the planner while the task runs: as a round begins.
            return _place(point, "answer_agent", point.steps, {"status": "running"})
        newer = point
    raise ForkError(_missing_checkpoint(checkpoints, "the plan"))


async def before_answer(checkpoints: Checkpoints, leaf: Any | None = None) -> ForkPoint:
    """Just before the last answer was written. Raises ForkError when none was."""
    point, _ = await _find_answer(_line(checkpoints, None, leaf), checkpoints)
    return _place(point, "replan_trigger", point.steps, {})


async def before_task(checkpoints: Checkpoints, leaf: Any | None = None) -> ForkPoint:
    """Just before the first plan of the task that `leaf` is in. Raises ForkError when it is gone."""
    newer: Point | None = None
    async for point in _line(checkpoints, None, leaf):
        if newer is not None and "planner" in point.waiting and _begins(point, newer):
            return _beginning(point, newer)
        newer = point
    raise ForkError(_missing_checkpoint(checkpoints, "the beginning of the task"))


async def _line(checkpoints: Checkpoints, n: int | None, leaf: Any | None) -> AsyncIterator[Point]:
    """The checkpoints from the leaf back to the first, parent by parent, since a thread's history mixes its
    branches."""
    point = await checkpoints.read(leaf)
    if point is None:
        raise ForkError(f"thread {checkpoints.thread} has no checkpoint to go back to")
    while True:
        yield point
        if point.parent is None:
            return
        older = await checkpoints.read(point.parent)
        if older is None:
            raise ForkError(_missing_checkpoint(checkpoints, "the answer" if n is None else f"step {n}"))
        point = older


async def _find_dispatch(
    line: AsyncIterator[Point], checkpoints: Checkpoints, n: int
) -> tuple[Point, deque[Point]]:
    """The checkpoint whose pending tasks include step `n`, and the few that came after it."""
    newer: deque[Point] = deque(maxlen=4)
    last: Point | None = None
    async for point in line:
        last = last or point
        sent = [item["n"] for item in point.values.get("dispatch") or []]
        if n in sent and "tool_agent" in point.waiting:
            return point, newer
        newer.append(point)
    raise await _no_step(checkpoints, n, last.at if last else None)


async def _find_answer(line: AsyncIterator[Point], checkpoints: Checkpoints) -> tuple[Point, deque[Point]]:
    async for point in line:
        if "answer_agent" in point.waiting:
            return point, deque()
    raise ForkError(f"thread {checkpoints.thread} has not come to an answer yet")


async def _no_step(checkpoints: Checkpoints, n: int, leaf: Any | None) -> ForkError:
    point = await checkpoints.read(leaf)
    last = point.progress.get("n", 0) if point else 0
    return ForkError(
        f"thread {checkpoints.thread} has no step {n}" + (f"; its steps are 1 to {last}" if last else " yet")
    )


def _missing_checkpoint(checkpoints: Checkpoints, what: str) -> str:
    return (
        f"thread {checkpoints.thread}: the checkpoint before {what} is gone (deleted or pruned), so nothing "
        "can be run again from there; give the task to a new thread instead"
    )


def _plans(point: Point) -> tuple[Any, Any]:
    return point.progress.get("task"), point.progress.get("version")


def _begins(point: Point, newer: Point) -> bool:
    return bool(point.progress.get("task") != newer.progress.get("task"))


def _beginning(point: Point, newer: Point) -> ForkPoint:
    """A task's begin: of its guidance holds what the planner took on; of the thread's usage, nothing."""
    known = tuple(newer.values.get("guidance") or ())
    return ForkPoint(point.at, "__start__", known, kept_steps=(), spent={})


def _place(
    point: Point, as_node: str, kept: Sequence[Json], update: Json, proposal: Json | None = None
) -> ForkPoint:
    steps = {step["n"]: step for step in (*point.steps, *kept)}
    task = point.progress.get("task")
    mine = tuple(steps[n] for n in sorted(steps) if steps[n]["task"] == task)
    known = tuple(point.values.get("guidance") or ())
    return ForkPoint(point.at, as_node, known, mine, point.values.get("usage") or {}, update, proposal or {})


def _finished_steps(point: Point, newer: Sequence[Point], numbers: set[int]) -> list[Json]:
    """The steps of `numbers` as they were recorded when their wave ended, if they all were."""
    done = {step["n"] for step in point.steps}
    for later in reversed(newer):
        found = [step for step in later.steps if step["n"] in numbers - done]
        if found and len(found) == len(numbers - done):
            return found
    return []


def _writes_of(kept: Sequence[Json], newer: Sequence[Point]) -> Json:
    """What the executors of `kept` had written: steps, results, memories."""
    numbers = {step["n"] for step in kept}
    after = next(p for p in reversed(newer) if numbers <= {step["n"] for step in p.steps})
    results, memories = after.values.get("results") or {}, after.values.get("short_term") or {}
    names = [step["subtask"] for step in kept]
    rounds: Json = {}
    for number, record in (after.values.get("long_term") or {}).items():
        failures = {n: item for n, item in record.get("failures", {}).items() if int(n) in numbers}
        if failures:
            rounds[number] = {"round": record["round"], "failures": failures}
    return {
        "trajectory": list(kept),
        "results": {key: results[key] for key in names if results.get(key, {}).get("n") in numbers},
        "short_term": {key: memories.get(key) for key in names},
        "long_term": rounds,
    }


def _tool_usage(kept: Sequence[Json]) -> Json:
    """What the kept steps had cost, booked as the tool agents' (their share of other roles is small)."""
    sums: Json = {}
    for step in kept:
        for key, value in step["usage"].items():
            sums[key] = sums.get(key, 0) + value
    return {"tool": sums}
