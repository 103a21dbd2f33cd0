"""Where the learner finds a thread's failed task and past tasks, and has the agent decide again.

It only reads the threads. See `decisions`: nothing that the agent decides here is carried out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forethought.experience.ranking import rank
from forethought.nodes.learner.decisions import Decision, Kind, decide, find_place, plan_as_made
from forethought.nodes.support.origins import influence
from forethought.nodes.support.prompt_text import call_text
from forethought.nodes.support.questions import NO_REASON, REJECTED
from forethought.rollouts.types import RolloutError
from forethought.state.context import Context
from forethought.state.history import GraphCheckpoints, Point
from forethought.tools.base import Tool
from forethought.trajectories.own import from_state
from forethought.trajectories.types import Module, Trajectory

Json = dict[str, Any]
_ENDED = ("answered", "best_effort", "budget_exhausted", "failed")
_ANSWER_CHARS = 500


@dataclass(frozen=True)
class FailedTask:
    """The task to learn from."""

    trajectory: Trajectory
    tries: list[str]
    """Other answers of the thread to the same task."""
    outside: list[str]
    """Origins that somebody else may have written."""
    decisions: list[str]
    """What a person said when asked to approve a plan or a call."""


@dataclass(frozen=True)
class Lab:
    """The threads of one database, and an agent that decides again at their checkpoints."""

    threads: Any
    """The agent's graph on the database."""
    agent: Any
    """The agent's graph with its checkpoints in memory."""
    context: Context
    tools: Mapping[str, Tool]
    newest: Callable[[], Awaitable[Sequence[str]]]
    """Ids of the newest threads."""

    def checkpoints(self, thread: str) -> GraphCheckpoints:
        """The checkpoints of a thread."""
        return GraphCheckpoints(self.threads, {"configurable": {"thread_id": thread}})

    async def failed_task(self, thread: str, number: int) -> FailedTask:
        """Read a task of a thread that has ended. Raises RolloutError if it is not there."""
        leaf = await self._leaf(thread, number)
        if leaf.values.get("status") not in _ENDED:
            raise RolloutError(f"task {number} of thread {thread} has not ended: finish it first")
        effects = {name: tool.effect for name, tool in self.tools.items()}
        run = from_state(leaf.values, effects, id=thread)
        head = await self._read(thread)
        told = [*head.progress.get("earlier", []), {"task": head.values["task"], **head.values}]
        tries = [str(item.get("answer")) for item in told if item["task"] == run.task]
        others = [text for text in dict.fromkeys(tries) if text and text != run.answer]
        state: Any = leaf.values
        said = [*await self._rejections(thread, leaf), *decided(leaf)]
        return FailedTask(run, others, list(influence(state, self.tools).outside), said)

    async def _rejections(self, thread: str, leaf: Point) -> list[str]:
        """Why a person rejected plans of the task. The state forgets it; the checkpoints do not."""
        found: dict[str, None] = {}
        point: Point | None = leaf
        while point and point.progress.get("task") == leaf.progress.get("task"):
            found |= {str(reason): None for reason in [point.progress.get("rejection")] if reason}
            point = await self.checkpoints(thread).read(point.parent) if point.parent else None
        return list(found)[::-1]

    async def decide(self, thread: str, number: int, module: Module, step: int, guidance: str) -> Decision:
        """Make a decision of a task again.

        Args:
            thread: The thread.
            number: Number of the task.
            module: The module that decides. A call that the plan named is decided by the plan.
            step: The step. A number that no step of the task has is the answer's.
            guidance: What the agent is told besides; '' for nothing.

        Returns:
            The decision.

        Raises:
            RolloutError: The checkpoint is gone.
        """
        leaf = await self._leaf(thread, number)
        steps = {int(item["n"]): item["subtask"] for item in leaf.steps if item["task"] == number}
        subtasks = (leaf.values.get("plan") or {}).get("subtasks", [])
        called = {item["id"] for item in subtasks if item.get("call")}
        kind: Kind = "move" if step in steps else "answer"
        if module == "planning" or steps.get(step) in called:
            kind = "plan"
        place = await find_place(self.checkpoints(thread), kind, step if step in steps else None, leaf.at)
        return await decide(self.agent, self.context, place, [guidance] if guidance else [])

    async def past(self, query: str, failures: Mapping[tuple[str, int], str], most: int) -> list[Json]:
        """Choose past tasks on which advice is tried: the ones that it would be shown to come first.

        Args:
            query: When the advice applies.
            failures: Thread and number of tasks that failed. Of these, tasks marked `kind` are chosen too.
            most: Maximum number of tasks.

        Returns:
            Tasks as {thread, number, task, of, measure}, past failures first, at most half of them.
        """
        found = [
            {"thread": thread, "number": number, "task": point.values["task"], "of": "kind", "measure": ""}
            for (thread, number), kind in failures.items()
            if kind == "kind" and (point := await self._try(thread, number))
        ][: max(most // 2, 1) if most else 0]
        succeeded = []
        for thread in await self.newest():
            head = await self._try(thread, 0)
            if head and (thread, head.progress.get("task")) not in failures and _succeeded(head):
                succeeded.append(_success(thread, head))
        ranked = [at for at, _ in rank(query, [item["task"] for item in succeeded])]
        order = [*ranked, *(at for at in range(len(succeeded)) if at not in ranked)]
        return [*found, *(succeeded[at] for at in order)][:most]

    async def _try(self, thread: str, number: int) -> Point | None:
        try:
            return await (self._leaf(thread, number) if number else self._read(thread))
        except RolloutError:
            return None

    async def _read(self, thread: str, at: Any = None) -> Point:
        point = await self.checkpoints(thread).read(at)
        if point is None or not point.values.get("task"):
            raise RolloutError(f"thread {thread} has no task, or its checkpoints were deleted")
        return point

    async def _leaf(self, thread: str, number: int) -> Point:
        """The last checkpoint of a task of the thread, from the head back."""
        point = head = await self._read(thread)
        # The next task's input comes before its number.
        while point.progress.get("task", 0) != number or (point.waiting and point is not head):
            if point.parent is None or point.progress.get("task", 0) < number:
                raise RolloutError(f"thread {thread} has no task {number}")
            point = await self._read(thread, point.parent)
        return point


def decided(leaf: Point) -> list[str]:
    """The reasons of a person who rejected a call of the task, and the calls that a person edited."""
    said = []
    for step in leaf.steps:
        if step["task"] != leaf.progress.get("task"):
            continue
        reason = str(step["observation"]).removeprefix(REJECTED)
        if step.get("approval") == "rejected" and reason not in (step["observation"], NO_REASON):
            said.append(f"{reason} (about {step['tool']})")
        elif step.get("approval") == "edited":
            said.append(f"The person changed the call to: {call_text(step)}")
    return said


def _succeeded(head: Point) -> bool:
    plan = head.values.get("plan") or {}
    return head.values.get("status") == "answered" and plan.get("version") == 1 and not head.waiting


def _success(thread: str, head: Point) -> Json:
    answer = str(head.values["answer"])[:_ANSWER_CHARS]
    measure = f"{plan_as_made(head.values)}\n\nAnswer: {answer}"
    number = head.progress["task"]
    return {
        "thread": thread,
        "number": number,
        "task": head.values["task"],
        "of": "success",
        "measure": measure,
    }
