"""Several runs of a task as one prompt shows them, within one bound of characters."""

from __future__ import annotations

from collections.abc import Sequence

from forethought.text import cut
from forethought.trajectories.show import head, step_text
from forethought.trajectories.types import Outcome, Trajectory, TrajectoryStep

PROMPT_CHARS = 320_000
"""Characters that the runs of one prompt take up at most: some 90 thousand tokens."""
TASK_CHARS = 20_000
_LEAST = 200
_FIRST, _LAST = 3, 5
"""Steps at a run's ends that are shown whole where the run is too long to be shown whole."""

LabelledRun = tuple[str, Outcome, Trajectory]
"""A run with the label that the prompt gives it."""


def task_text(task: str) -> str:
    """A task as a prompt shows it."""
    return cut(task, TASK_CHARS)


def all_text(step: TrajectoryStep) -> str:
    """All text of a step, which a quotation of it may be from."""
    parts = (step.given, step.memory, step.reflection, step.planning, step.action, step.observation)
    return "\n".join(part for part in parts if part)


def whole_text(trajectory: Trajectory) -> str:
    """All text of a run, its answer included."""
    return "\n".join([*map(all_text, trajectory.steps), trajectory.answer])


def run_texts(runs: Sequence[LabelledRun], most: int) -> list[dict[str, str]]:
    """The runs for a prompt, each {label, outcome, ended, text}; `most` bounds (characters) each part of a
    step, and is lowered until all runs fit."""
    limit = most
    while limit > _LEAST and sum(_size(trajectory, limit) for *_, trajectory in runs) > PROMPT_CHARS:
        limit = max(limit // 2, _LEAST)
    share = PROMPT_CHARS // max(len(runs), 1)
    return [
        {
            "label": label,
            "outcome": "failed" if outcome == "failure" else "succeeded",
            "ended": _ended(trajectory),
            "text": _text(trajectory, limit, share),
        }
        for label, outcome, trajectory in runs
    ]


def _ended(trajectory: Trajectory) -> str:
    if trajectory.halted:
        return "stopped by its step limit"
    return "with an answer" if trajectory.answer.strip() else "without an answer"


def _size(trajectory: Trajectory, limit: int) -> int:
    return sum(len(step_text(step, limit)) + 2 for step in trajectory.steps)


def _text(trajectory: Trajectory, limit: int, share: int) -> str:
    """The run whole where its share allows it, else its ends whole and the steps between in a line each."""
    steps = trajectory.steps
    if not steps:
        return f"(no steps are recorded) answer: {cut(trajectory.answer, limit) or '(none)'}"
    whole = [step_text(step, limit) for step in steps]
    if sum(map(len, whole)) <= share or len(steps) <= _FIRST + _LAST:
        return "\n\n".join(whole)
    between = "\n".join(head(step) for step in steps[_FIRST:-_LAST])
    note = f"[... steps {steps[_FIRST].number} to {steps[-_LAST - 1].number} in one line each ...]"
    return "\n\n".join([*whole[:_FIRST], f"{note}\n{cut(between, share)}", *whole[-_LAST:]])
