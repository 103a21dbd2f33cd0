"""Attempts as an episode's reward left them."""

from __future__ import annotations

from forethought.evals.types import Attempt
from forethought.models.types import no_usage
from forethought.trajectories.types import Trajectory


def rewarded(reward: float | None) -> Attempt:
    """An attempt that ended with `reward`."""
    trajectory = Trajectory(id="t", task="a task", source="forethought", steps=(), answer="")
    return Attempt("", "answered", trajectory, no_usage(), seconds=1.0, steps=3, reward=reward)
