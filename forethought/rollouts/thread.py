"""Re-rollouts of the agent's own threads, by forking their checkpoints (AgentDebug, algorithm 1, stage 3).

The kept prefix is not executed again: it is the checkpoint's. Every branch stays in the thread's history
under the id of its last checkpoint. The thread may live in this process (`GraphThread`) or on a LangGraph
server (`forethought.rollouts.server`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

from forethought.models.allowance import charged_tokens, total
from forethought.models.types import Usage
from forethought.rollouts.environment import replay_prefix
from forethought.rollouts.types import Continuation, Environment, RolloutError
from forethought.state.context import Context
from forethought.state.history import (
    Checkpoints,
    ForkError,
    ForkPoint,
    GraphCheckpoints,
    Point,
    before_answer,
    before_execution,
    before_plan,
    before_step,
    before_task,
    fork,
    is_fork_of,
    make_head,
    substitute,
)
from forethought.trajectories.own import call_of, move_of
from forethought.trajectories.types import Module, Trajectory, TrajectoryStep

Json = dict[str, Any]
_LEAST_TOKENS = 1_000
"""The smallest token budget that Context accepts."""
Read = Callable[[Mapping[str, Any]], Trajectory]
"""The trajectory of a thread's state; the answer is a step of its own, numbered one above the last."""


Limits = Mapping[str, float]
"""Maximum `max_tokens` and `max_usd` of a task, including what it spent before the fork."""


class AgentThread(Checkpoints, Protocol):
    """A thread of the agent's that can be run on."""

    async def run(self, at: Any, limits: Limits) -> Point:
        """Run from `at`, or on from the thread's head, within `limits` until the graph ends or waits; the
        checkpoint that it came to. Raises what the run raises."""
        ...


@dataclass(frozen=True)
class GraphThread(GraphCheckpoints):
    """A thread of a compiled graph with a checkpointer; `context` is what its re-runs are run with."""

    context: Any = None

    async def run(self, at: Any, limits: Limits) -> Point:
        """See `AgentThread`. Every step is stored before the next one begins."""
        # A head that is named would be forked, and what its tasks had done would be done again.
        config = at or {"configurable": {"thread_id": self.thread}}
        if "metadata" in self.config:
            config = {**config, "metadata": self.config["metadata"]}
        context = within(self.context, limits)
        await self.graph.ainvoke(None, config, context=context, durability="sync")
        leaf = await self.read()
        assert leaf is not None
        return leaf


@dataclass
class ThreadRollouts:
    """Runs `trajectory`, the branch of `thread` that ends in the checkpoint `at`, again from its steps: one
    re-run at a time.

    A re-run is refused where a step that it leaves behind has changed the outside world, unless there is an
    `environment` that puts it back, or `allow_writes` says that the world may be as it is.
    """

    thread: AgentThread
    trajectory: Trajectory
    read: Read
    at: Any
    environment: Environment | None = None
    allow_writes: bool = False
    max_tokens: int | None = None
    """Limits of each re-run; the thread's own budget may be smaller."""
    max_usd: float | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def from_step(self, step: int, module: Module, guidance: Sequence[str]) -> Continuation:
        """Run on from just before `step`; from before the plan in force there, for a planning error."""
        leaf = await self._start()
        number = None if step == self._answer_number(leaf) else step
        return await self._run(await _find_place(self._place(leaf, number, module)), guidance)

    async def substituted(self, step: int, action: str, tool: str, arguments: dict[str, Any]) -> Continuation:
        """Run on from `step` with another move in its place: `tool` with `arguments`, or what `action` says
        (tool({...}), finish: RESULT, replan: REASON; answer: TEXT at the answer's step)."""
        leaf = await self._start()
        if step == self._answer_number(leaf):
            return await self._run(await _find_place(self._replaced_answer(leaf, action)), ())
        place = await _find_place(before_execution(self.thread, step, leaf.at))
        proposal = substituted_proposal(place.proposal, action, tool, arguments)
        return await self._run(substitute(place, proposal), ())

    async def from_start(self, guidance: Sequence[str]) -> Continuation:
        """Run the task anew on the same thread, from before its first plan."""
        leaf = await self._start()
        return await self._run(await _find_place(before_task(self.thread, leaf.at)), guidance)

    async def restore(self) -> None:
        """Make the trajectory's own branch the thread's head again; the re-runs stay branches beside it."""
        leaf, head = await self._start(), await self.thread.read()
        assert head is not None
        if not _is_still(head, leaf):
            await make_head(self.thread, leaf)

    async def _place(self, leaf: Point, number: int | None, module: Module) -> ForkPoint:
        if module == "planning":
            return await before_plan(self.thread, number, leaf.at)
        if number is None:
            return await before_answer(self.thread, leaf.at)
        return await before_step(self.thread, number, leaf.at)

    async def _replaced_answer(self, leaf: Point, action: str) -> ForkPoint:
        """The end of the run with another answer: nothing is left to run."""
        place = await before_answer(self.thread, leaf.at)
        move, text = move_of(action)
        answer = text if move == "answer" else action.strip()
        update = {"answer": answer, "status": "best_effort"}
        return replace(place, as_node="answer_agent", update=update)

    async def _run(self, place: ForkPoint, guidance: Sequence[str]) -> Continuation:
        async with self._lock:
            numbers = {step["n"] for step in place.kept_steps}
            prefix = [step for step in self.trajectory.steps if step.number in numbers]
            if len(prefix) != len(numbers):
                raise RolloutError(
                    f"thread {self.thread.thread}: its checkpoints do not match the trajectory; load the "
                    "thread again"
                )
            started = time.monotonic()
            limits = self._limits(place)
            begun = await self._broken_off(place, guidance)
            diverged = "" if begun else await self._world(numbers)
            at = None if begun else await fork(self.thread, place, guidance)
            leaf = await self.thread.run(at, limits)
            seconds = time.monotonic() - started
            trajectory = self.read(leaf.values)
            return Continuation(
                branch=leaf.id,
                trajectory=trajectory,
                kept=len(numbers),
                diverged=diverged,
                status="waiting" if leaf.asks else str(leaf.values.get("status", "")),
                usage=usage_between(place.spent, leaf.values.get("usage") or {}),
                seconds=seconds,
            )

    def _limits(self, place: ForkPoint) -> dict[str, float]:
        """The budgets of the task, which has spent something before the place that it is forked at."""
        before = total(*place.spent.values())
        limits: dict[str, float] = {}
        if self.max_tokens is not None:
            limits["max_tokens"] = max(charged_tokens(before) + self.max_tokens, _LEAST_TOKENS)
        if self.max_usd is not None:
            limits["max_usd"] = before["usd"] + self.max_usd
        return limits

    async def _broken_off(self, place: ForkPoint, guidance: Sequence[str]) -> Point | None:
        """The head, where it is this very re-run, which was broken off: it is gone on with, since what it has
        done cannot be undone by a fork of its own. None for any other head."""
        head = await self.thread.read()
        if self.environment is not None or head is None or not _unfinished(head):
            return None
        origin, own = await self.thread.read(place.at), await self._start()
        first, at = head, head.parent
        while origin is not None and not _is_still(first, own) and at is not None:
            older = await self.thread.read(at)
            if older is None:
                return None
            if older.id == origin.id:
                return head if is_fork_of(first, place, guidance) else None
            first, at = older, older.parent
        return None

    async def _world(self, kept: set[int]) -> str:
        """Put the world back to where the kept steps end; how that came out differently.

        Raises RolloutError when it may have changed since, and nothing can put it back.
        """
        prefix = [step for step in self.trajectory.steps if step.number in kept]
        if self.environment is not None:
            return (await replay_prefix(self.environment, prefix)).diverged
        # Before a head that was put back, the last re-run was the newest.
        newest = await self.thread.newest(2)
        head = newest[0] if newest else None
        if head and _unfinished(head) and "tool_executor" in head.waiting and not self.allow_writes:
            raise RolloutError(
                f"a run of thread {self.thread.thread} stopped during tool calls that may have changed "
                "something outside: resume it first, or allow a re-run in the present state of the "
                "world (allow_writes)"
            )
        run_since = [step for at in newest if at.values.get("task") for step in self.read(at.values).steps]
        abandoned = [
            step for step in (*self.trajectory.steps, *run_since) if _did(step) not in map(_did, prefix)
        ]
        changed = sorted({step.number for step in abandoned if step.changes_world})
        if changed and not self.allow_writes:
            numbers = ", ".join(map(str, changed))
            raise RolloutError(
                f"the re-run would not undo what steps {numbers} changed outside: give an Environment "
                "that restores it, or allow a re-run in the present state of the world (allow_writes)"
            )
        return ""

    async def _start(self) -> Point:
        """The last checkpoint of the trajectory's own branch, whatever the thread's head is by now."""
        leaf = await self.thread.read(self.at)
        if leaf is None:
            raise RolloutError(
                f"thread {self.thread.thread} does not exist, or its checkpoints were deleted; choose another"
            )
        return leaf

    def _answer_number(self, leaf: Point) -> int:
        numbers = [int(step["n"]) for step in leaf.steps]
        return max(numbers, default=int(leaf.progress.get("base_n", 0))) + 1


def within(context: Context | Json | None, limits: Limits) -> Context | Json | None:
    """The agent's `context` with no budget above `limits`."""
    known = Context.model_validate(context or {})
    lower = {
        name: most for name, most in limits.items() if (own := getattr(known, name)) is None or own > most
    }
    return known.model_copy(update=lower) if lower else context


def _unfinished(head: Point) -> bool:
    return bool(head.waiting) and not head.asks


def _is_still(head: Point, leaf: Point) -> bool:
    """Whether `head` is the checkpoint `leaf`, or what `make_head` made of it."""
    return head.id == leaf.id or (head.values == leaf.values and head.waiting == leaf.waiting)


def _did(step: TrajectoryStep) -> tuple[int, str, str]:
    return step.number, step.action, step.observation


async def _find_place(finding: Any) -> ForkPoint:
    """The place that a walk finds. Raises RolloutError instead of ForkError."""
    try:
        return cast(ForkPoint, await finding)
    except ForkError as error:
        raise RolloutError(str(error)) from error


def substituted_proposal(old: Mapping[str, Any], action: str, tool: str, arguments: Json) -> Json:
    """The proposal `old` with another move: a call of `tool`, or what `action` says. Raises RolloutError."""
    move, text = ("", "") if tool else move_of(action)
    if move == "answer":
        raise RolloutError("an answer cannot replace a step's call: substitute it at the answer's own step")
    if not tool and not move:
        try:
            tool, arguments = call_of(action)
        except ValueError as error:
            raise RolloutError(str(error)) from error
    return {
        **old,
        "action": move or "call",
        "tool": tool or None,
        "arguments": arguments,
        "finishes": bool(old.get("finishes")) if not move else False,
        "result": text if move == "finish" else "",
        "reason": text if move == "replan" else "",
        # What was foreseen of the old move and said of it does not hold for the new one.
        "expected": "",
        "evaluation": "",
        "thought": "a corrected move, put in for a test",
        "rejected": [],
    }


def usage_between(before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]) -> Usage:
    """What was spent from one state's usage to another's, over all roles."""
    first, last = (cast(Mapping[str, float], total(*usages.values())) for usages in (before, after))
    spent = {key: value - first.get(key, 0) for key, value in last.items() if key != "out_of_time"}
    return cast(Usage, spent)
