"""Trials at training samples, for the methods that learn before they are evaluated (ExpeL, inter-task error
reflection): Reflexion's, with the benchmark's verdict on each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from forethought.evals.baselines.reflexion import Reflexion
from forethought.evals.baselines.transcript import trajectory, try_text
from forethought.evals.types import BudgetSpent, InfrastructureError, TrialContext
from forethought.models.types import ModelReply, ModelRequest, Transport, Verifying
from forethought.trajectories.types import Trajectory

PARALLEL = 4
TRIAL_CHARS = 10_000
"""Characters of a trial that is learned from or shown as an example."""


@dataclass(frozen=True)
class Trial:
    """A trial at a training sample."""

    sample: str
    task: str
    solved: bool
    text: str
    """Its moves and its answer."""
    trajectory: Trajectory


@dataclass
class Pooled:
    """The transports of the training samples, one after the other: what is learned across samples is paid
    from the budgets of all of them."""

    transports: list[Transport]

    async def send(self, request: ModelRequest) -> ModelReply:
        """See Transport. Raises BudgetSpent when the budgets of all are spent."""
        for transport in tuple(self.transports):
            try:
                return await transport.send(request)
            except BudgetSpent:
                if transport in self.transports:
                    self.transports.remove(transport)
        raise BudgetSpent("the budgets of all training samples are spent")

    def verify(self, model: str) -> None:
        """See Verifying."""
        for transport in self.transports[:1]:
            if isinstance(transport, Verifying):
                transport.verify(model)


def pooled(workshops: Sequence[TrialContext]) -> Pooled:
    """The transports of all workshops."""
    return Pooled([workshop.models.transport for workshop in workshops])


async def trials_of(workshops: Sequence[TrialContext]) -> tuple[list[Trial], list[str]]:
    """All trials at all samples, in their order, and what could not be tried.

    Raises InfrastructureError when nothing could be, ModelError.
    """
    places = asyncio.Semaphore(PARALLEL)

    async def one(workshop: TrialContext) -> list[Trial] | InfrastructureError:
        async with places:
            try:
                return await _explored(workshop)
            except InfrastructureError as error:
                return error

    made = await asyncio.gather(*(one(workshop) for workshop in workshops))
    failed = [item for item in made if isinstance(item, InfrastructureError)]
    if failed and len(failed) == len(made):
        raise failed[0]
    problems = [
        f"{workshop.sample.id}: {item}"
        for workshop, item in zip(workshops, made, strict=True)
        if isinstance(item, InfrastructureError)
    ]
    return [trial for item in made if isinstance(item, list) for trial in item], problems


async def _explored(workshop: TrialContext) -> list[Trial]:
    if workshop.outcome is None:
        raise InfrastructureError(f"sample {workshop.sample.id}: nobody says whether a trial succeeded")
    state, bench = await Reflexion().carried_out(workshop)
    return [
        Trial(
            sample=workshop.sample.id,
            task=state["task"],
            solved=bool(tried["solved"]),
            text=try_text(state, tried["number"], TRIAL_CHARS),
            trajectory=trajectory(state, bench, tried["number"]),
        )
        for tried in state["tried"]
    ]
