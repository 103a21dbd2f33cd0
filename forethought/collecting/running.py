"""Running tasks with the agent, side by side, each run a thread of its own that can be gone on with."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forethought.collecting.folder import Folder, Trial, key_of
from forethought.collecting.success import CheckerError
from forethought.models.allowance import total
from forethought.models.types import ConfigurationError, ModelError, ReplyError, no_usage
from forethought.rollouts.types import Evaluator
from forethought.settings import Settings
from forethought.tools.folders.intake import take_paths
from forethought.tools.registry import effects_of
from forethought.trajectories.own import from_state
from forethought.trajectories.tasks import Attempted, CollectTask, RunError
from forethought.trajectories.types import Loaded, Outcome, Reference, Trajectory

if TYPE_CHECKING:
    from langgraph.runtime import RunControl

    from forethought.graph.agent import AgentGraph
    from forethought.state.context import Context

Run = tuple[CollectTask, int]
"""A task, and which of its trials."""


@dataclass
class Collector:
    """Runs the agent on tasks and keeps what came of it."""

    graph: AgentGraph
    context: Context
    settings: Settings
    folder: Folder
    judges: Mapping[str, Evaluator]
    """By task id."""
    on_finished: Callable[[Trial], None] = lambda trial: None
    may_begin: Callable[[], bool] = lambda: True
    """Called before each run; returns whether the budget allows it."""
    control: RunControl | None = None
    """Stops the runs where they can continue later."""
    failed: dict[str, str] = field(default_factory=dict)
    """By the run's name: why it did not end."""

    async def collect(self, runs: Iterable[Run], parallel: int) -> None:
        """Carry out `runs`, `parallel` at a time.

        Raises GraphDrained where `control` stopped some, ConfigurationError, and what is no ModelError.
        """
        from langgraph.errors import GraphDrained

        waiting, drained = deque(runs), list[GraphDrained]()

        async def work() -> None:
            while waiting and self.may_begin() and not (self.control and self.control.drain_requested):
                task, trial = waiting.popleft()
                try:
                    await self.run(task, trial)
                except GraphDrained as drain:
                    drained.append(drain)
                    return
                except ConfigurationError:
                    raise
                except (ModelError, RunError) as error:
                    self.failed[key_of(task.id, trial)] = str(error)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(parallel):
                    group.create_task(work())
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None
        if drained:
            raise drained[0]

    async def attempt(self, task: CollectTask, trial: int, guidance: Sequence[str]) -> Attempted:
        """One trial with what was learned from the one before it, an `Attempt` (SAMULE 3.2.1, micro level).

        A trial that is finished is not run again: one that nobody could judge is judged anew, any other is
        read.
        """
        finished = await asyncio.to_thread(self.folder.trials)
        record = next((item for item in finished if (item["task"], item["trial"]) == (task.id, trial)), None)
        if record is None:
            record = await self.run(task, trial, guidance)
        elif record["outcome"] == "unknown":
            record = await self.judge_again(task, record)
        return await asyncio.to_thread(self._attempted, task, record)

    async def run(self, task: CollectTask, trial: int, guidance: Sequence[str] = ()) -> Trial:
        """One run, from its beginning or from where it was broken off, judged and kept. `guidance` is
        heeded where it begins.

        Raises ModelError when no reply comes, RunError when it waits for a person.
        """
        started = time.monotonic()
        key = key_of(task.id, trial)
        values, plans = await self._finished_state(task, key, guidance)
        effects = await asyncio.to_thread(effects_of, self.settings)
        trajectory = from_state(values, effects, id=key, plans=plans)
        trial_record = Trial(
            task=task.id,
            trial=trial,
            status=str(values.get("status") or ""),
            outcome="unknown",
            by="",
            reason="",
            usage=total(*(values.get("usage") or {}).values()),
            seconds=round(time.monotonic() - started, 3),
        )
        record = await self._judge(task, trial_record, trajectory)
        self.on_finished(record)
        return record

    async def judge_again(self, task: CollectTask, trial: Trial) -> Trial:
        """Judge a run that could not be judged when it ended; it is not run again."""
        loaded = await asyncio.to_thread(self.folder.loaded, trial)
        return await self._judge(task, trial, loaded.trajectory)

    async def _judge(self, task: CollectTask, trial: Trial, trajectory: Trajectory) -> Trial:
        """The trial with its outcome, kept with its trajectory. Raises the ModelErrors but ReplyError."""
        judge, cost = self.judges[task.id], no_usage()
        outcome: Outcome = "unknown"
        try:
            verdict = await judge.judge(trajectory)
        except ReplyError as error:
            reason, cost = f"the judge gave no usable verdict: {error}", error.usage
        except CheckerError as error:
            reason = str(error)
        else:
            outcome = "success" if verdict.success else "failure"
            reason, cost = verdict.reason, verdict.usage
        usage = total(trial["usage"], cost)
        record: Trial = {**trial, "outcome": outcome, "by": judge.name, "reason": reason, "usage": usage}
        reference = Reference(outcome=outcome, gold=tuple(task.expected))
        await asyncio.to_thread(self.folder.keep, record, Loaded(trajectory=trajectory, reference=reference))
        return record

    async def _finished_state(
        self, task: CollectTask, thread: str, guidance: Sequence[str]
    ) -> tuple[dict[str, Any], list[Any]]:
        """The state at the run's end, and the plans that were replaced on the way."""
        config: Any = {"configurable": {"thread_id": thread}}
        snapshot = await self.graph.aget_state(config)
        if not snapshot.values and not snapshot.tasks:
            given = await asyncio.to_thread(take_paths, task.files, self.settings)
            await self._invoke({"task": task.task, **given.channels, "guidance": list(guidance)}, config)
        elif snapshot.tasks and not snapshot.interrupts:
            await self._invoke(None, config)
        snapshot = await self.graph.aget_state(config)
        if snapshot.interrupts:
            raise RunError(
                "the run waits for a person, but a collection asks nobody; change the settings that ask"
            )
        plans = [
            plan
            async for earlier in self.graph.aget_state_history(config)
            if (plan := earlier.values.get("plan"))
        ]
        return dict(snapshot.values), plans[::-1]

    async def _invoke(self, state: Any, config: Any) -> None:
        await self.graph.ainvoke(state, config, context=self.context, durability="sync", control=self.control)

    def _attempted(self, task: CollectTask, record: Trial) -> Attempted:
        from forethought.nodes.support.prompt_text import files_text

        given = take_paths(task.files, self.settings)
        return Attempted(
            loaded=self.folder.loaded(record),
            reason=record["reason"],
            background=files_text(given.files, given.folders) if task.files else "",
            usage=record["usage"],
        )
