"""What a collection will cost, told from the first finished runs before the others begin.

The first runs are one each of a few tasks, spread over the tasks by their size, since a task with long files
costs more than a bare question. A task with a finished run of its own is expected to cost that again; the
others, what the finished ones cost on the average.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from forethought.collecting.folder import Trial
from forethought.models.allowance import tokens_of
from forethought.trajectories.tasks import CollectTask

FEWEST, MOST = 3, 8
SHARE = 0.1
"""Of the tasks, at least FEWEST and at most MOST, how many are tried first."""


@dataclass(frozen=True)
class Cost:
    """What runs took. `usd` is None where a call has no known price."""

    runs: int = 0
    tokens: float = 0
    usd: float | None = 0.0
    seconds: float = 0.0
    """Of running, as if one after the other."""

    def __add__(self, other: Cost) -> Cost:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Cost(self.runs + other.runs, self.tokens + other.tokens, usd, self.seconds + other.seconds)

    def times(self, runs: int) -> Cost:
        """`runs` runs of the average cost of these."""
        share = runs / self.runs
        usd = None if self.usd is None else self.usd * share
        return Cost(runs, self.tokens * share, usd, self.seconds * share)

    def as_json(self) -> dict[str, Any]:
        """For a report."""
        return {**asdict(self), "tokens": round(self.tokens), "seconds": round(self.seconds, 1)}


def pilots(tasks: Sequence[CollectTask]) -> list[CollectTask]:
    """The tasks that are tried first: from the middle of each of a few classes of size."""
    count = min(len(tasks), max(FEWEST, min(MOST, math.ceil(len(tasks) * SHARE))))
    by_size = sorted(tasks, key=_size)
    return [by_size[int((at + 0.5) * len(tasks) / count)] for at in range(count)]


def spent(trials: Sequence[Trial]) -> Cost:
    """What finished runs took."""
    return sum((_cost(trial) for trial in trials), Cost())


def estimate(trials: Sequence[Trial], left: Mapping[str, int]) -> Cost:
    """What the whole collection will have taken: the finished runs, and `left` further runs by task id.

    Raises ValueError when no run is finished.
    """
    if not trials:
        raise ValueError("an estimate needs a finished run")
    by_task: dict[str, Cost] = {}
    for trial in trials:
        by_task[trial["task"]] = by_task.get(trial["task"], Cost()) + _cost(trial)
    usual = sum((cost.times(1) for cost in by_task.values()), Cost())
    expected = [by_task.get(task, usual).times(runs) for task, runs in left.items() if runs]
    return sum(expected, spent(trials))


def _cost(trial: Trial) -> Cost:
    usage = trial["usage"]
    usd = None if usage.get("unpriced") else usage.get("usd", 0.0)
    return Cost(1, tokens_of(usage), usd, trial["seconds"])


def _size(task: CollectTask) -> int:
    return len(task.task) + sum(Path(file).stat().st_size for file in task.files)
