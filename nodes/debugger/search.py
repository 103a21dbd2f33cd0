"""Brute force and binary search for the critical step: the paper's baselines (AgentDebug 4.1).

Both try steps. Where a step's action can be replaced and the run made on, they do that; else a model judges
what would have come of it. The paper does not say what its binary search asks at the midpoint. Only a
question whose answers are ordered along the run can be halved: whether, just before the step, the goal was
still within reach. So brute force finds the first step whose own correction turns the run, and binary search
the last step before which the run was not yet lost.
"""

from __future__ import annotations

from forethought.nodes.debugger.trial import Question, Trial
from forethought.rollouts.types import RolloutError
from forethought.trajectories.types import TrajectoryStep

Known = tuple[int, str]
"""The number of the step that was found, and a sentence on how."""


async def brute_force(trial: Trial) -> Known | None:
    """The first step, from the beginning on, whose correction turns the run: one probe a step until then."""
    for step in trial.trajectory.steps:
        if await _saved(trial, step, "alone"):
            return step.number, f"Each step was tried in turn, and {_how(trial)} first at step {step.number}."
    return None


async def binary_search(trial: Trial) -> Known | None:
    """The last step at which the run could still be saved, found by halving: O(log n) probes."""
    steps = trial.trajectory.steps
    low, high = 0, len(steps)  # all before `low` can be saved at, none from `high` on
    while low < high:
        middle = (low + high) // 2
        if await _saved(trial, steps[middle], "still"):
            low = middle + 1
        else:
            high = middle
    if not low:
        return None
    number = steps[low - 1].number
    return number, f"The run was halved again and again: up to step {number} it could still be saved."


async def _saved(trial: Trial, step: TrajectoryStep, question: Question) -> bool:
    if not trial.can_run:
        return await trial.judged(step, question)
    substitution = await trial.corrected(step)
    if substitution is None or (question == "alone" and trial.unchanged(step, substitution)):
        return False
    try:
        flips, _ = await trial.runs(step, substitution.action, 1, control=False)
    except RolloutError as error:
        trial.refused(step, error)
        return False
    return flips > 0


def _how(trial: Trial) -> str:
    return (
        "the run with a corrected action succeeded" if trial.can_run else "a correction was judged to save it"
    )
