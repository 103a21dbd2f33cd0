"""What a method learns before it is evaluated (ExpeL), once: from samples that are not evaluated."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from forethought.evals.baselines.react import React
from forethought.evals.harness.inspect_model import InspectTransport
from forethought.evals.harness.trial import EvaluationRun, Trial
from forethought.evals.results import Result
from forethought.evals.types import Method
from forethought.models.allowance import total


async def train(run: EvaluationRun, method: Method) -> Mapping[str, Any]:
    """Have the method learn, and record what it learned in the evaluation's folder.

    inspect logs samples only, so the calls go past it. Raises ModelError, InfrastructureError, and bugs.
    """
    run = _unlogged(run)
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


async def pilot(run: EvaluationRun) -> Result:
    """A try at the first training sample by ReAct, named `pilot`: what it costs foretells what learning will.

    Raises ModelError, InfrastructureError, and bugs.
    """
    method = React()
    method.name = "pilot"
    trial = Trial(_unlogged(run), method, run.plan.training[0], 1, training=True)
    await trial.try_sample()
    return await trial.judge()


def _unlogged(run: EvaluationRun) -> EvaluationRun:
    if isinstance(run.transport, InspectTransport):
        return replace(run, transport=run.transport.inner)
    return run
