"""The task: K bins, each of which takes a look-up. Of listed ones all count, of a chain the last."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

Shape = Literal["independent", "chain", "long"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
"""Bins that the task lists; bins each of which names the next; the same, which our plan does not divide."""
BATCH = 5
"""Maximum independent look-ups that the model requests in one turn."""
_ASKED = re.compile(r"Stocktaking (\d+) \((\w+), (\d+) bins\)")
_FACT = re.compile(r"Bin (\d+)-(\d+) holds (\d+) units")
_RECORD = "It was last counted by the early shift, and the label on its front agrees with the list.\n" * 10


@dataclass(frozen=True)
class Task:
    """One run's task; `run` keeps it apart from all others."""

    run: int
    shape: str
    k: int

    @classmethod
    def read(cls, prompt: str) -> Task:
        """The task that a prompt is about. Raises ValueError."""
        if found := _ASKED.search(prompt):
            return cls(int(found[1]), found[2], int(found[3]))
        raise ValueError("the prompt does not hold the task")

    @property
    def text(self) -> str:
        """What the agent is asked."""
        what = f"Look up {self.bin(1)}; each names the next bin. How many units does the last one hold?"
        if self.shape == "independent":
            bins = ", ".join(map(self.bin, range(1, self.k + 1)))
            what = f"Look up each of {bins}. How many units do they hold together?"
        return f"Stocktaking {self.run} ({self.shape}, {self.k} bins). {what}"

    def bin(self, number: int) -> str:
        """A bin's name; they count from 1."""
        return f"{self.run}-{number:03}"

    def stock(self, number: int) -> int:
        """Units in a bin."""
        return (number * 7919 + self.run * 104729) % 997

    def observation(self, number: int) -> str:
        """What a look-up returns: the fact, and 900 characters besides."""
        following = self.shape != "independent" and number < self.k
        then = f" The next bin is {self.bin(number + 1)}." if following else ""
        return f"Bin {self.bin(number)} holds {self.stock(number)} units.{then}\n{_RECORD}"

    def seen(self, prompt: str) -> dict[int, int]:
        """The stock of each bin that a prompt shows."""
        return {int(n): int(units) for run, n, units in _FACT.findall(prompt) if int(run) == self.run}

    def names(self, prompt: str, number: int) -> bool:
        """Whether a prompt tells that this bin is to be looked up; a chain's bins name each other."""
        return self.shape == "independent" or number == 1 or f"next bin is {self.bin(number)}." in prompt

    def following(self, prompt: str, batch: int) -> list[int]:
        """The look-ups that come next, given what a prompt shows; none at the end."""
        seen = self.seen(prompt)
        if self.shape == "independent":
            return [n for n in range(1, self.k + 1) if n not in seen][:batch]
        last = max(seen, default=0)  # earlier ones may be left out of the prompt by then
        return [last + 1] if last < self.k else []

    def conclusion(self, seen: Mapping[int, int]) -> str:
        """The answer that follows from what was seen."""
        if self.shape == "independent":
            return f"The {len(seen)} bins hold {sum(seen.values())} units."
        last = max(seen, default=0)
        return f"The last bin, {self.bin(last)}, holds {seen.get(last)} units."


class Warehouse:
    """The look-ups, and a record of those that each run made."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = {task.run: task for task in tasks}
        self.made: dict[int, list[int]] = defaultdict(list)

    def look_up(self, bin: str) -> str:
        """What is in a bin. Raises KeyError, ValueError."""
        run, number = map(int, bin.split("-"))
        self.made[run].append(number)
        return self.tasks[run].observation(number)

    def fault(self, task: Task, answer: str) -> str:
        """What a run did wrong: look-ups left out, repeated or out of order, or another answer; else ''."""
        made, wanted = self.made[task.run], list(range(1, task.k + 1))
        if (sorted(made) if task.shape == "independent" else made) != wanted:
            return (
                f"{len(made)} look-ups, of {len(set(made))} bins, where {task.k} were wanted: {answer[:200]}"
            )
        right = task.conclusion({number: task.stock(number) for number in wanted})
        return "" if right in answer else f"wrong answer: {answer[:200]}"
