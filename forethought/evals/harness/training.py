"""What a method learns before it is evaluated (ExpeL), once: from samples that are not evaluated."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from inspect_ai import Task
from inspect_ai import dataset as inspect_dataset
from inspect_ai.log import transcript
from inspect_ai.solver import Generate, Solver, TaskState, solver
from pydantic import JsonValue

from forethought.evals.harness.inspect_model import inspect_name
from forethought.evals.harness.story import shortened, telling
from forethought.evals.harness.trial import Bench, TrialRun
from forethought.evals.types import Method
from forethought.models.allowance import total


@dataclass
class Training:
    """A method's training on an evaluation's training samples."""

    bench: Bench
    method: Method
    learned: Mapping[str, JsonValue] | None = None
    error: Exception | None = None
    _runs: list[TrialRun] = field(default_factory=list)

    def task(self) -> Task:
        """The task that inspect runs: one sample, which is the whole training."""
        choices = self.bench.choices
        about = f"{len(choices.training)} samples to learn from"
        return Task(
            dataset=inspect_dataset.MemoryDataset([inspect_dataset.Sample(id="training", input=about)]),
            solver=learner(self),
            fail_on_error=False,
            model=inspect_name(choices.model),
            name=f"{choices.benchmark.name}-{self.method.name}-training",
            metadata={"samples": [sample.id for sample in choices.training]},
        )

    async def run(self) -> Mapping[str, JsonValue]:
        """Have the method learn, and keep it. Raises ModelError, InfrastructureError, and what is a bug."""
        started, choices = time.monotonic(), self.bench.choices
        self._runs = [
            TrialRun(self.bench, self.method, sample, 1, training=True) for sample in choices.training
        ]
        try:
            with telling():
                learned = dict(await self.method.train([run.workshop() for run in self._runs]))
        except Exception as error:
            self.error = error
            raise
        finally:
            for run in self._runs:
                await run.close()
        kept = {
            "samples": [sample.id for sample in choices.training],
            "usage": total(*(usage for run in self._runs for usage in (run.usage, run.judge_usage))),
            "seconds": round(time.monotonic() - started, 3),
            "learned": learned,
        }
        self.bench.folder.keep_learned(self.method.name, kept)
        self.learned = learned
        return learned


@solver
def learner(training: Training) -> Solver:
    """The training, as inspect's solver."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        learned: Any = shortened(await training.run())
        transcript().info(learned, source=training.method.name)
        state.completed = True
        return state

    return solve
