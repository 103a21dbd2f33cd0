"""What a method learns before it is evaluated (ExpeL), once: from samples that are not evaluated."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from inspect_ai import Task
from inspect_ai import dataset as inspect_dataset
from inspect_ai.log import transcript
from inspect_ai.solver import Generate, Solver, TaskState, solver

from forethought.evals.harness.inspect_model import inspect_name
from forethought.evals.harness.trial import EvaluationRun, Trial
from forethought.evals.types import Method
from forethought.models.allowance import total


@solver
def learner(run: EvaluationRun, method: Method, errors: list[Exception]) -> Solver:
    """The training, as inspect's solver; what makes it impossible is put into `errors`."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        try:
            learned: Any = await _learn(run, method)
        except Exception as error:
            errors.append(error)
            raise
        transcript().info(learned, source=method.name)
        state.completed = True
        return state

    return solve


def training_task(run: EvaluationRun, method: Method, errors: list[Exception]) -> Task:
    """The task that inspect runs: one sample, which is the whole training."""
    about = f"{len(run.plan.training)} samples to learn from"
    return Task(
        dataset=inspect_dataset.MemoryDataset([inspect_dataset.Sample(id="training", input=about)]),
        solver=learner(run, method, errors),
        fail_on_error=False,
        model=inspect_name(run.plan.model),
        name=f"{run.plan.benchmark.name}-{method.name}-training",
        metadata={"samples": [sample.id for sample in run.plan.training]},
    )


async def _learn(run: EvaluationRun, method: Method) -> Mapping[str, Any]:
    """Have the method learn, and keep it. Raises ModelError, InfrastructureError, and what is a bug."""
    started, samples = time.monotonic(), run.plan.training
    trials = [Trial(run, method, sample, 1, training=True) for sample in samples]
    try:
        learned = dict(await method.train([trial.context() for trial in trials]))
    finally:
        for trial in trials:
            await trial.close()
    record = {
        "samples": [sample.id for sample in samples],
        "usage": total(*(meter.usage for trial in trials for meter in (trial.own, trial.judging))),
        "seconds": round(time.monotonic() - started, 3),
        "learned": learned,
    }
    run.folder.keep_learned(method.name, record)
    return learned
