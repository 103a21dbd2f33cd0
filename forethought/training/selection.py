"""Which records are trained on: without near-duplicates, and no task both trained on and held out.

Two records are near-duplicates if both their reflections and their inputs are alike: the same try told twice
would count twice in the loss. Like reflections on different tries stay: that errors recur is what the model
is to learn (SAMULE 3.2.1, inter-task).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Indel

from forethought.training.errors import TrainingError
from forethought.training.records import ReflectionRecord, normalized


def without_near_duplicates(
    records: Sequence[ReflectionRecord], similar: float = 0.9
) -> tuple[list[ReflectionRecord], list[tuple[str, str]]]:
    """The records, each first of its kind, and what was left out: (trajectory id, that of the one like it).

    `similar`, above 0 and at most 1, is the share of text from which on two texts are alike: of characters
    for reflections, of words for inputs.
    """
    distinct: list[ReflectionRecord] = []
    reflections: list[str] = []
    words: list[list[str]] = []
    dropped = []
    for record in records:
        own = record.prompt()[1].split()
        likely = process.extract_iter(
            record.reflection, reflections, scorer=fuzz.ratio, score_cutoff=100 * similar, processor=None
        )
        twin = next((at for _, _, at in likely if _alike(own, words[at], similar)), None)
        if twin is not None:
            dropped.append((record.trajectory_id, distinct[twin].trajectory_id))
            continue
        distinct.append(record)
        reflections.append(record.reflection)
        words.append(own)
    return distinct, dropped


def _alike(one: list[str], other: list[str], similar: float) -> bool:
    return Indel.normalized_similarity(one, other, score_cutoff=similar) >= similar


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
