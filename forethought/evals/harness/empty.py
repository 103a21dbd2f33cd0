"""The attempt of a method that ended without one: the model gave nothing usable, or the budget was spent."""

from __future__ import annotations

from forethought.evals.toolset import toolset_of
from forethought.evals.types import Attempt, BudgetSpent, Workshop
from forethought.models.types import Usage
from forethought.trajectories.types import Trajectory


def unanswered(error: Exception, workshop: Workshop, usage: Usage) -> Attempt:
    """An attempt without an answer, whose trajectory says why."""
    tools, spent = toolset_of(workshop), isinstance(error, BudgetSpent)
    trajectory = Trajectory(
        id=workshop.thread,
        task=workshop.sample.task or workshop.sample.id,
        environment=workshop.episode.name if workshop.episode else "",
        halted=spent,
        notes=(" ".join(str(error).split()),),
    )
    return Attempt(
        answer="",
        status="budget_exhausted" if spent else "failed",
        trajectory=trajectory,
        usage=usage,
        seconds=usage["seconds"],
        steps=tools.counter.used,
        reward=tools.reward,
    )
