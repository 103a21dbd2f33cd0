"""Runs of one task: which are compared, how they are kept, and how a prompt shows them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forethought.state.distiller_state import MixedTask, Run
from forethought.text import cut
from forethought.tools.files import FileStore
from forethought.trajectories.show import head, step_text
from forethought.trajectories.types import Loaded, Trajectory, TrajectoryStep

PROMPT_CHARS = 320_000
"""Characters that the runs of one prompt take up at most: some 90 thousand tokens."""
TASK_CHARS = 20_000
_LEAST = 200
_FIRST, _LAST = 3, 5
"""Steps at a run's ends that are shown whole where the run is too long to be shown whole."""
_LETTERS = {"failure": "F", "success": "S"}


@dataclass(frozen=True)
class TaskRuns:
    """A mixed task with its runs' trajectories."""

    key: str
    task: str
    runs: tuple[Run, ...]
    trajectories: Mapping[str, Trajectory]
    """By the run's label."""

    def label_problem(self, label: str) -> str | None:
        """Why there is no such run."""
        if label in self.trajectories:
            return None
        return f"there is no run {label!r}: the runs are {', '.join(self.trajectories)}"


def chosen(runs: Sequence[Loaded], most: int) -> list[Loaded]:
    """At most `most` of a task's runs, failed ones first and each kind in its order: half of each, or all of
    the kind that there are fewer of."""
    failed = [run for run in runs if run.reference.outcome == "failure"]
    right = [run for run in runs if run.reference.outcome == "success"]
    of_failed = max(most - len(right), most - most // 2)
    return failed[:of_failed] + right[: most - min(len(failed), of_failed)]


def labelled(runs: Sequence[Loaded], files: Mapping[str, str]) -> list[Run]:
    """The runs' records, labelled in their order."""
    counts = {"failure": 0, "success": 0}
    records: list[Run] = []
    for loaded in runs:
        outcome = loaded.reference.outcome
        assert outcome != "unknown"
        counts[outcome] += 1
        trajectory = loaded.trajectory
        records.append(
            Run(
                label=f"{_LETTERS[outcome]}{counts[outcome]}",
                id=trajectory.id,
                outcome=outcome,
                file=files.get(trajectory.id, ""),
                source=trajectory.source,
            )
        )
    return records


async def keep(store: FileStore, runs: Sequence[Loaded]) -> str:
    """Keep the runs' trajectories, without what is known of them; returns their hash. Raises FilesError."""
    plain = [loaded.trajectory.model_dump(mode="json", exclude_defaults=True) for loaded in runs]
    data = json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")
    return await asyncio.to_thread(store.put, data)


async def kept(store: FileStore, key: str, record: MixedTask) -> TaskRuns:
    """The task with its trajectories. Raises FilesError when they are no longer stored."""
    raw: list[Any] = json.loads(await asyncio.to_thread(store.get, record["stored"]))
    trajectories = {
        run["label"]: Trajectory.model_validate(item) for run, item in zip(record["runs"], raw, strict=True)
    }
    return TaskRuns(key, record["task"], tuple(record["runs"]), trajectories)


def shown(runs: Sequence[tuple[Run, Trajectory]], most: int) -> list[dict[str, str]]:
    """The runs for a prompt, each {label, outcome, ended, text}; `most` bounds (characters) each part of a
    step, and is lowered until all runs fit."""
    limit = most
    while limit > _LEAST and sum(_size(trajectory, limit) for _, trajectory in runs) > PROMPT_CHARS:
        limit = max(limit // 2, _LEAST)
    room = PROMPT_CHARS // max(len(runs), 1)
    return [
        {
            "label": run["label"],
            "outcome": "failed" if run["outcome"] == "failure" else "succeeded",
            "ended": _ended(trajectory),
            "text": _text(trajectory, limit, room),
        }
        for run, trajectory in runs
    ]


def said(step: TrajectoryStep) -> str:
    """All text of a step, which a quotation of it may be from."""
    parts = (step.given, step.memory, step.reflection, step.planning, step.action, step.observation)
    return "\n".join(part for part in parts if part)


def task_text(task: str) -> str:
    """A task as a prompt shows it."""
    return cut(task, TASK_CHARS)


def _ended(trajectory: Trajectory) -> str:
    if trajectory.halted:
        return "stopped by its step limit"
    return "with an answer" if trajectory.answer.strip() else "without an answer"


def _size(trajectory: Trajectory, limit: int) -> int:
    return sum(len(step_text(step, limit)) + 2 for step in trajectory.steps)


def _text(trajectory: Trajectory, limit: int, room: int) -> str:
    """The run whole where it has room, else its ends whole and the steps between in a line each."""
    steps = trajectory.steps
    if not steps:
        return f"(no steps are recorded) answer: {cut(trajectory.answer, limit) or '(none)'}"
    whole = [step_text(step, limit) for step in steps]
    if sum(map(len, whole)) <= room or len(steps) <= _FIRST + _LAST:
        return "\n\n".join(whole)
    between = "\n".join(head(step) for step in steps[_FIRST:-_LAST])
    note = f"[... steps {steps[_FIRST].number} to {steps[-_LAST - 1].number} in one line each ...]"
    return "\n\n".join([*whole[:_FIRST], f"{note}\n{cut(between, room)}", *whole[-_LAST:]])
