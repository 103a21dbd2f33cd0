"""A finished synthesis as the records that `forethought train export` reads (SAMULE 3.2.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from forethought.text import cut, one_line
from forethought.tools.files import FileStore
from forethought.training.records import ReflectionRecord
from forethought.trajectories.own import SOURCE
from forethought.trajectories.types import Trajectory, TrajectoryStep

PART_CHARS = 2_000
"""Maximum characters of each part of another agent's step."""
HEAD_CHARS, OPEN_CHARS = 400, 3_000
"""Characters of an observation: in a step's line, and of what a subtask saw last, as in a run's prompts."""
_CALL = re.compile(r"[\w.-]+\(")
"""Prefix of the action of a step with a tool call."""
_SUBTASK = re.compile(r"(?m)^Subtask: (.*)$")
_PLAN = re.compile(r"(?ms)^Plan \d+.*?(?=^(?:The reflector|Subtask:))")
_DRAFT = re.compile(r"(?s)Evaluation of the draft \(score (\d+) of 10\): (.*)")


def reflection_records(values: Mapping[str, Any], store: FileStore) -> list[ReflectionRecord]:
    """The final reflections in a synthesizer's state, in the order of its trials, whose trajectories are in
    `store`. Reads the disk."""
    records = []
    for key in (key for key in values.get("pool") or [] if key in values.get("merged", {})):
        trial = values["trials"][key]
        trajectory = Trajectory.model_validate_json(store.get(trial["stored"]))
        record = record_of(
            trajectory.model_copy(update={"id": trial["id"]}),
            task_id=values["tasks"][trial["task"]]["task_id"],
            background=trial["background"],
            reflection=values["merged"][key],
        )
        records.append(record)
    return records


def record_of(trajectory: Trajectory, *, task_id: str, background: str, reflection: str) -> ReflectionRecord:
    """A failed trajectory and the reflection on it; its prompt is what a trained model is asked with."""
    own = trajectory.source == SOURCE
    fields: dict[str, Any] = {
        "task_id": task_id,
        "trajectory_id": trajectory.id,
        "task": trajectory.task,
        "background": background,
        "answer": trajectory.answer,
        "reflection": reflection,
        **(_own(trajectory) if own else {"trajectory": _text(trajectory.steps)}),
    }
    return ReflectionRecord.model_validate(fields)


def _own(trajectory: Trajectory) -> dict[str, Any]:
    """A run of this project's agent, as it would show itself to the retrospective role: the steps of its
    tools in a line each, the last plan, the answer's evaluation."""
    steps = list(trajectory.steps)
    last = steps.pop() if steps and steps[-1].action.startswith("answer: ") else None
    plans = (plan[0].strip() for step in reversed(steps) if (plan := _PLAN.search(step.planning)))
    fields: dict[str, Any] = {"trajectory": steps_text(steps) or _text(steps), "plan": next(plans, "")}
    if last and (draft := _DRAFT.search(last.reflection)):
        fields |= {"score": int(draft[1]), "evaluation": draft[2]}
    return fields


def steps_text(steps: Sequence[TrajectoryStep]) -> str:
    """The steps as `steps_text` of nodes/support/prompt_text.py shows them in a run."""
    lines, telling = [], {_subtask(step): step.number for step in steps if _told_something(step)}
    for step in steps:
        outcome = "FAILED (tool)" if step.failure else "ok"
        at_length = telling.get(_subtask(step)) == step.number
        seen = cut(step.observation, OPEN_CHARS) if at_length else one_line(cut(step.observation, HEAD_CHARS))
        lines.append(f"step {step.number} [{_subtask(step)}] {step.action}: {outcome}: {seen}")
    return "\n".join(lines)


def _subtask(step: TrajectoryStep) -> str:
    match = _SUBTASK.search(step.planning)
    return match[1].strip() if match else ""


def _told_something(step: TrajectoryStep) -> bool:
    return not step.failure and bool(_CALL.match(step.action))


def _text(steps: Sequence[TrajectoryStep]) -> str:
    """The steps of another agent, which says what it thinks in ways of its own."""
    return "\n".join(filter(None, map(_foreign, steps))) or "(no steps are recorded)"


def _foreign(step: TrajectoryStep) -> str:
    names = ("reflection", "planning", "action", "observation")
    parts = [(name, " ".join(cut(str(getattr(step, name)), PART_CHARS).split())) for name in names]
    failed = f" FAILED ({step.failure})" if step.failure else ""
    return "\n".join([f"step {step.number}:{failed}", *(f"  {name}: {text}" for name, text in parts if text)])
