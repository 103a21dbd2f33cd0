"""A finished synthesis as the records that `forethought train export` reads (SAMULE 3.2.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from forethought.text import cut
from forethought.training.records import RecordStep, ReflectionRecord
from forethought.trajectories.own import SOURCE
from forethought.trajectories.types import Trajectory, TrajectoryStep

PART_CHARS = 2_000
"""Characters of each part of a step that another agent made."""
_SUBTASK = re.compile(r"(?m)^Subtask: (.*)$")
_PLAN = re.compile(r"(?ms)^Plan \d+.*?(?=^(?:The reflector|Subtask:))")
_DRAFT = re.compile(r"(?s)Evaluation of the draft \(score (\d+) of 10\): (.*)")


def reflection_records(
    values: Mapping[str, Any], trajectories: Mapping[str, Trajectory]
) -> list[ReflectionRecord]:
    """The final reflections in a synthesizer's state, in the order of its trials. `trajectories` are by
    trial key."""
    order = [key for key in values.get("pool") or [] if key in values.get("merged", {})]
    return [_record(values, key, trajectories[key]) for key in order]


def _record(values: Mapping[str, Any], key: str, trajectory: Trajectory) -> ReflectionRecord:
    trial = values["trials"][key]
    task = values["tasks"][trial["task"]]
    own = trajectory.source == SOURCE
    fields: dict[str, Any] = {
        "task_id": task["task_id"],
        "trajectory_id": trial["id"],
        "task": task["task"],
        "background": trial["background"],
        "answer": trajectory.answer,
        "reflection": values["merged"][key],
        **(_own(trajectory) if own else {"trajectory": _text(trajectory.steps)}),
    }
    return ReflectionRecord.model_validate(fields)


def _own(trajectory: Trajectory) -> dict[str, Any]:
    """A run of this project's agent, as it would show itself to the retrospective role: the steps of its
    tools in a line each, the last plan, the answer's evaluation."""
    steps = list(trajectory.steps)
    last = steps.pop() if steps and steps[-1].action.startswith("answer: ") else None
    found: dict[str, Any] = {
        "trajectory": tuple(map(_step, steps)) or _text(trajectory.steps),
        "plan": next(
            (plan[0].strip() for step in reversed(steps) if (plan := _PLAN.search(step.planning))), ""
        ),
    }
    if last and (draft := _DRAFT.search(last.reflection)):
        found |= {"score": int(draft[1]), "evaluation": draft[2]}
    return found


def _step(step: TrajectoryStep) -> RecordStep:
    subtask = _SUBTASK.search(step.planning)
    return RecordStep(
        number=step.number,
        subtask=subtask[1].strip() if subtask else "",
        move=step.action,
        ok=not step.failure,
        cause="tool" if step.failure else "",
        observation=step.observation,
    )


def _text(steps: Sequence[TrajectoryStep]) -> str:
    """The steps of another agent, which says what it thinks in ways of its own."""
    return "\n".join(filter(None, map(_foreign, steps))) or "(no steps are recorded)"


def _foreign(step: TrajectoryStep) -> str:
    names = ("reflection", "planning", "action", "observation")
    parts = [(name, " ".join(cut(str(getattr(step, name)), PART_CHARS).split())) for name in names]
    failed = f" FAILED ({step.failure})" if step.failure else ""
    return "\n".join([f"step {step.number}:{failed}", *(f"  {name}: {text}" for name, text in parts if text)])
