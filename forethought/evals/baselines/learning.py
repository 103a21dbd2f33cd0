"""Trials at training samples, for the methods that learn before they are evaluated (ExpeL, inter-task error
reflection): Reflexion's, with the benchmark's verdict on each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from forethought.evals.baselines.reflexion import Reflexion
from forethought.evals.baselines.transcript import trajectory, try_text
from forethought.evals.harness.budget import MeteredTransport
from forethought.evals.types import InfrastructureError, TrialContext
from forethought.models.types import Transport
from forethought.state.context import Context
from forethought.state.synthesizer import SynthesizerContext
from forethought.trajectories.types import Trajectory

PARALLEL = 4
SYNTHESIS_SETTINGS = frozenset(SynthesizerContext.model_fields) - {"trials"} - frozenset(Context.model_fields)
"""Values of `--set` for the synthesis in training: those that are not settings of our agent."""
TRIAL_CHARS = 10_000
"""Maximum characters of a trial in training or as an example."""


@dataclass(frozen=True)
class TrainingTrial:
    """A trial at a training sample."""

    sample: str
    task: str
    solved: bool
    text: str
    """The trial's moves and answer."""
    trajectory: Trajectory


def unlimited(context: TrialContext) -> Transport:
    """The transport of a training sample without its budget: what is drawn from all trials together is a few
    calls a trial, which no sample's own budget is meant for."""
    transport = context.models.transport
    return replace(transport, max_tokens=None) if isinstance(transport, MeteredTransport) else transport


def synthesis(trial: TrialContext, **values: Any) -> SynthesizerContext:
    """What the reflections on training trials are made with."""
    chosen = {name: value for name, value in trial.context.items() if name in SYNTHESIS_SETTINGS}
    return SynthesizerContext.model_validate(
        {**chosen, "model": trial.model, "max_parallel": PARALLEL, **values}
    )


async def trials_of(contexts: Sequence[TrialContext]) -> tuple[list[TrainingTrial], list[str]]:
    """All trials at all samples, in their order, and what could not be tried.

    Raises InfrastructureError when nothing could be, ModelError.
    """
    places = asyncio.Semaphore(PARALLEL)

    async def one(context: TrialContext) -> list[TrainingTrial] | InfrastructureError:
        async with places:
            try:
                return await _explored(context)
            except InfrastructureError as error:
                return error

    results = await asyncio.gather(*(one(context) for context in contexts))
    failed = [item for item in results if isinstance(item, InfrastructureError)]
    if failed and len(failed) == len(results):
        raise failed[0]
    problems = [
        f"{context.sample.id}: {item}"
        for context, item in zip(contexts, results, strict=True)
        if isinstance(item, InfrastructureError)
    ]
    return [trial for item in results if isinstance(item, list) for trial in item], problems


async def _explored(context: TrialContext) -> list[TrainingTrial]:
    if context.outcome is None:
        raise InfrastructureError(
            f"sample {context.sample.id}: the benchmark cannot say whether a trial succeeded; use "
            "another split for training"
        )
    state, bench = await Reflexion().carry_out(context)
    return [
        TrainingTrial(
            sample=context.sample.id,
            task=state["task"],
            solved=bool(tried["solved"]),
            text=try_text(state, tried["number"], TRIAL_CHARS),
            trajectory=trajectory(state, bench, tried["number"]),
        )
        for tried in state["tried"]
    ]
