"""Carries the stream out: families side by side, the tasks of a family one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from benchmarks.stream.contenders import Contender, Told
from benchmarks.stream.families import FAMILIES
from benchmarks.stream.records import Answered, Corrected, Records
from benchmarks.stream.tasks import StreamTask
from forethought.evals.harness.budget import Meter, MeteredTransport
from forethought.evals.toolset import make_toolset
from forethought.evals.types import Budget, BudgetSpent, TrialContext
from forethought.models.ask import Models
from forethought.models.types import ReplyError, Transport
from forethought.settings import Settings

_TOOLS = ("read_file", "python")
_BUDGET = Budget(max_steps=12, max_tokens=60_000)


@dataclass
class Running:
    """One method on the stream."""

    name: str
    contender: Contender
    tasks: Sequence[StreamTask]
    """In the order of the stream."""
    records: Records
    settings: Settings
    model: str
    transport: Transport
    saver: BaseCheckpointSaver[Any]
    places: asyncio.Semaphore
    """How many tasks may be under way."""
    files: Path

    async def carry_out(self) -> None:
        """Answer the open tasks. A wrong answer is corrected before the family's next task.

        An unrelated task waits for all tasks before it in the stream. Raises ModelError and
        InfrastructureError.
        """
        by_id = {task.id: task for task in self.tasks}
        made = [item for item in self.records.corrections.values() if item.method == self.name]
        for item in made:
            answer = self.records.answers[self.name, item.task].answer
            self.contender.told.append(Told(by_id[item.task].case.question, answer, item.words))
        done: dict[str, asyncio.Task[None]] = {}
        last: dict[str, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            for task in self.tasks:
                before = [last[task.family]] if task.family in last else []
                waits = before if task.family else [*done.values()]
                done[task.id] = made_task = group.create_task(self._one(task, waits))
                if task.family:
                    last[task.family] = made_task

    async def _one(self, task: StreamTask, waits: Sequence[asyncio.Task[None]]) -> None:
        if waits:
            await asyncio.wait(waits)
        async with self.places:
            key = self.name, task.id
            if key not in self.records.answers:
                await self._answer(task)
            answered = self.records.answers[key]
            due = (
                task.family
                and answered.verdict != "right"
                and answered.told < len(FAMILIES[task.family].corrections)
            )
            if due and key not in self.records.corrections:
                await self._correct(task, answered)

    async def _answer(self, task: StreamTask) -> None:
        meter = Meter()
        trial = self._trial(task, meter)
        try:
            answer = (await self.contender.answer(trial)).answer
        except (ReplyError, BudgetSpent):
            answer = ""
        self.records.keep(
            Answered(
                self.name, task.id, task.family, task.position, task.judge(answer), answer, task.case.answer,
                self.records.told(self.name, task.family), meter.usage["calls"], _tokens(meter),
                round(meter.usage["seconds"], 1),
            )
        )  # fmt: skip

    async def _correct(self, task: StreamTask, answered: Answered) -> None:
        meter = Meter()
        words = FAMILIES[task.family].corrections[answered.told]
        told = Told(task.case.question, answered.answer, words)
        with suppress(ReplyError, BudgetSpent):  # then the method has not learned it
            await self.contender.correct(self._trial(task, meter), told)
        self.contender.told.append(told)
        self.records.keep(
            Corrected(self.name, task.id, task.family, words, meter.usage["calls"], _tokens(meter))
        )

    def _trial(self, task: StreamTask, meter: Meter) -> TrialContext:
        counted = MeteredTransport(self.transport, (meter,), _BUDGET.max_tokens)
        return TrialContext(
            sample=task.sample(self.files),
            tools=make_toolset(self.settings, _BUDGET, builtin=_TOOLS),
            episode=None,
            models=Models(self.settings, counted),
            model=self.model,
            settings=self.settings,
            budget=_BUDGET,
            checkpointer=self.saver,
            thread=f"{self.name}--{task.id}",
            seed=0,
        )


def _tokens(meter: Meter) -> int:
    return meter.usage["input_tokens"] + meter.usage["output_tokens"]
