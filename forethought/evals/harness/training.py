"""What a method learns before it is evaluated (ExpeL), once: from samples that are not evaluated."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from forethought.evals.harness.inspect_model import InspectTransport
from forethought.evals.harness.trial import EvaluationRun, Trial
from forethought.evals.types import Method
from forethought.models.allowance import total


async def train(run: EvaluationRun, method: Method) -> Mapping[str, Any]:
    """Have the method learn, and record what it learned in the evaluation's folder.

    inspect logs samples only, so the calls go past it. Raises ModelError, InfrastructureError, and bugs.
    """
    if isinstance(run.transport, InspectTransport):
        run = replace(run, transport=run.transport.inner)
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
