"""Counterfactual testing (AgentDebug 3.2, stage 2): replace a step's action, run on, see what comes of it.

Step by step from the first: a corrected action is put in the place of the step's own and the run made on
`trials` times. Where that succeeds often enough, the same is done without a correction: if the run turns out
well about as often by itself, chance and not this step decided it, and the search goes on. The paper has no
such control.
"""

from __future__ import annotations

from math import sqrt

from forethought.nodes.debugger.search import Known
from forethought.nodes.debugger.trial import Stopped, Trial
from forethought.rollouts.types import RolloutError
from forethought.state.debugger import Probe
from forethought.trajectories.types import TrajectoryStep

Z95 = 1.959963984540054
"""The normal distribution's quantile for 95 %, two-sided."""


async def counterfactual(trial: Trial) -> Known | None:
    """The earliest step whose correction flips the end at a rate of `flip_rate` or more, not by chance."""
    if not trial.can_run:
        raise Stopped("counterfactual mode needs a place to run in and somebody who judges")
    reached = False
    for step in trial.trajectory.steps:
        tried = await _tried(trial, step)
        reached = reached or tried is not None
        if tried is None or tried["rate"] < trial.context.flip_rate:
            continue
        by_chance = await _control(trial, step)
        if by_chance["rate"] < trial.context.flip_rate:
            return step.number, (
                f"Its action was replaced by: {tried['substitution']!r}. The run then succeeded "
                f"{tried['flips']} of {tried['trials']} times, and {by_chance['flips']} of "
                f"{by_chance['trials']} times with its own action. No earlier step's correction did that."
            )
        trial.searched.notes.append(
            f"step {step.number}: the run succeeds about as often without a correction; chance decided it"
        )
    if not reached:
        raise Stopped("no step could be run again: see the notes")
    return None


async def _tried(trial: Trial, step: TrajectoryStep) -> Probe | None:
    """The step with a corrected action; None where it could not be run."""
    substitution = await trial.corrected(step)
    if substitution is None:
        return None
    if trial.unchanged(step, substitution):
        return trial.searched.probes[-1]
    try:
        await trial.runs(step, substitution.action, trial.context.trials, control=False)
    except RolloutError as error:
        trial.refused(step, error)
        return None
    return _with_rate(trial, substitution.thought)


async def _control(trial: Trial, step: TrajectoryStep) -> Probe:
    await trial.runs(step, step.action, trial.context.trials, control=True)
    return _with_rate(trial, "")


def _with_rate(trial: Trial, reasoning: str) -> Probe:
    """The last probe with its rate, interval and reasoning."""
    probe = trial.searched.probes[-1]
    low, high = wilson(probe["flips"], probe["trials"])
    rate = probe["flips"] / probe["trials"] if probe["trials"] else 0.0
    trial.searched.probes[-1] = {**probe, "rate": rate, "low": low, "high": high, "reasoning": reasoning}
    return trial.searched.probes[-1]


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % confidence interval of a rate (Wilson's score interval); (0, 1) where nothing was tried."""
    if not trials:
        return 0.0, 1.0
    rate, z2 = successes / trials, Z95**2
    centre = (rate + z2 / (2 * trials)) / (1 + z2 / trials)
    half = Z95 * sqrt(rate * (1 - rate) / trials + z2 / (4 * trials**2)) / (1 + z2 / trials)
    return max(centre - half, 0.0), min(centre + half, 1.0)
