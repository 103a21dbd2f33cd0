"""The stream: tasks of all families and unrelated ones, in one seeded order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.stream.cases import FORMS, Case
from benchmarks.stream.families import FAMILIES
from benchmarks.stream.unrelated import UNRELATED
from forethought.evals.benchmarks.folders.answers import right
from forethought.evals.benchmarks.folders.writers import write
from forethought.evals.types import Sample


@dataclass(frozen=True)
class StreamTask:
    """A task at its place in the stream."""

    id: str
    family: str
    """Empty for an unrelated task."""
    position: int
    """From 1, within the family; 0 for an unrelated task."""
    case: Case

    def sample(self, folder: Path) -> Sample:
        """The task as methods see it. Writes its files below `folder`."""
        place = folder / self.id
        place.mkdir(parents=True, exist_ok=True)
        for name, document in self.case.files.items():
            (place / name).write_bytes(write(name.rpartition(".")[2], document))
        return Sample(
            id=self.id,
            task=self.case.question,
            files=tuple(place / name for name in self.case.files),
            answer_format=FORMS[self.case.form],
        )

    def judge(self, answer: str) -> str:
        """Judge an answer: right, plain (as without the rule) or other."""
        form = "person" if self.case.form == "word" else self.case.form
        if right(answer, self.case.answer, form):
            return "right"
        return "plain" if self.case.plain and right(answer, self.case.plain, form) else "other"


def stream(seed: int, families: Sequence[str], tasks: int, unrelated: int) -> list[StreamTask]:
    """The stream in its order: a family's tasks by position, families and unrelated tasks mixed.

    A task depends only on the seed, its family and its position, so a longer stream repeats a shorter one's.

    Args:
        seed: Seed of all texts and of the order.
        families: Names of the families.
        tasks: Tasks of each family.
        unrelated: Number of unrelated tasks.
    """
    queues = {family: [_of_family(seed, family, at) for at in range(1, tasks + 1)] for family in families}
    makers = list(UNRELATED.items())
    queues[""] = [_unrelated(seed, *makers[at % len(makers)], at) for at in range(unrelated)]
    rng = random.Random(f"{seed}:order")
    order = [name for name in families for _ in range(tasks)]
    rng.shuffle(order)
    for _ in range(unrelated):
        order.insert(rng.randrange(len(order) // 3, len(order) + 1), "")  # after some corrections
    return [queues[name].pop(0) for name in order]


def _of_family(seed: int, name: str, position: int) -> StreamTask:
    family = FAMILIES[name]
    wordings = list(family.wordings)
    random.Random(f"{seed}:{name}").shuffle(wordings)
    rng = random.Random(f"{seed}:{name}:{position}")
    case = family.make(rng, wordings[(position - 1) % len(wordings)])
    return StreamTask(f"{name}-{position:02}", name, position, case)


def _unrelated(seed: int, name: str, make: object, at: int) -> StreamTask:
    assert callable(make)
    return StreamTask(f"unrelated-{at + 1:02}-{name}", "", 0, make(random.Random(f"{seed}:unrelated:{at}")))
