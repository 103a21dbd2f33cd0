"""System errors that need no model: what the source of a run records of a step.

They belong to the module `system` of the taxonomy (AgentDebug, Table 2). What only the words of an
observation say, the model judges.
"""

from __future__ import annotations

from dataclasses import dataclass

from forethought.trajectories.types import Trajectory, TrajectoryStep


@dataclass(frozen=True)
class SystemLabel:
    """A system error, the words that show it (or '' where the source only records it), and why."""

    error_type: str
    evidence: str
    reasoning: str


def system_label(trajectory: Trajectory, step: TrajectoryStep) -> SystemLabel | None:
    """The system error of `step`, or None where none is recorded.

    A halted run's last step is its step limit, whatever else it met: that is what ended it.
    """
    if trajectory.halted and trajectory.steps and step.number == trajectory.steps[-1].number:
        return SystemLabel("step_limit", "", f"The run was halted by its limit after step {step.number}.")
    if step.failure:
        evidence = step.observation.strip()[:200].split("\n", 1)[0].strip()
        return SystemLabel(step.failure, evidence, "The source records this failure of the step.")
    return None
