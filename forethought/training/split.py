"""Training and held-out rows, split by task: no task is in both, under whatever id it goes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from forethought.training.errors import TrainingError
from forethought.training.records import ReflectionRecord, normalized


def split_by_task(
    records: Sequence[ReflectionRecord], held_out: float, seed: int
) -> tuple[list[ReflectionRecord], list[ReflectionRecord]]:
    """(training, held-out) records. The share `held_out` of the tasks is held out, at least one.

    Which ones is told by their texts and the seed alone, whatever the order of the records. Raises
    TrainingError where there is but one task.
    """
    tasks = same_tasks(records)
    if held_out <= 0:
        return list(records), []
    order = sorted(set(tasks), key=lambda task: _place(task, seed))
    if len(order) < 2:
        raise TrainingError(
            "all records are of one task, so none can be held out; add tasks or use --held-out 0"
        )
    away = set(order[: min(max(1, round(held_out * len(order))), len(order) - 1)])
    train = [record for record, task in zip(records, tasks, strict=True) if task not in away]
    return train, [record for record, task in zip(records, tasks, strict=True) if task in away]


def same_tasks(records: Sequence[ReflectionRecord]) -> list[str]:
    """A name for each record's task, the same where records share an id or a text (or do so over others)."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    for record in records:
        one, other = sorted((root(f"text {normalized(record.task)}"), root(f"~id {record.task_id}")))
        # The smaller becomes the root, so that a group goes by the first of its texts.
        parent[other] = one
    return [root(f"~id {record.task_id}") for record in records]


def _place(task: str, seed: int) -> str:
    """By what tasks are put in an order that nothing but the seed decides."""
    return hashlib.sha256(f"{seed}\0{task}".encode()).hexdigest()
