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
from forethought.trajectories.tasks import CollectTask

FEWEST, MOST = 3, 8
SHARE = 0.1
"""Of the tasks, at least FEWEST and at most MOST, how many are tried first."""


@dataclass(frozen=True)
class Cost:
    """What runs took. `usd` is None where a call has no known price."""

    runs: int
    tokens: float
    usd: float | None
    seconds: float
    """Of running, as if one after the other."""

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
    costs = [_of_trial(trial) for trial in trials]
    return _sum(costs)


def estimate(trials: Sequence[Trial], left: Mapping[str, int]) -> Cost:
    """What the whole collection will have taken: the finished runs, and `left` further runs by task id.

    Raises ValueError when no run is finished.
    """
    if not trials:
        raise ValueError("an estimate needs a finished run")
    by_task: dict[str, list[Cost]] = {}
    for trial in trials:
        by_task.setdefault(trial["task"], []).append(_of_trial(trial))
    means = {task: _mean(costs) for task, costs in by_task.items()}
    usual = _mean(list(means.values()))
    expected = [_times(means.get(task, usual), runs) for task, runs in left.items() if runs]
    return _sum([spent(trials), *expected])


def _of_trial(trial: Trial) -> Cost:
    usage = trial["usage"]
    tokens = usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
    usd = None if usage.get("unpriced") else usage.get("usd", 0.0)
    return Cost(1, tokens, usd, trial["seconds"])


def _sum(costs: Sequence[Cost]) -> Cost:
    usd = [cost.usd for cost in costs if cost.usd is not None]
    return Cost(
        runs=sum(cost.runs for cost in costs),
        tokens=sum(cost.tokens for cost in costs),
        usd=sum(usd) if len(usd) == len(costs) else None,
        seconds=sum(cost.seconds for cost in costs),
    )


def _mean(costs: Sequence[Cost]) -> Cost:
    total, count = _sum(costs), len(costs)
    usd = None if total.usd is None else total.usd / count
    return Cost(1, total.tokens / count, usd, total.seconds / count)


def _times(cost: Cost, runs: int) -> Cost:
    usd = None if cost.usd is None else cost.usd * runs
    return Cost(runs, cost.tokens * runs, usd, cost.seconds * runs)


def _size(task: CollectTask) -> int:
    return len(task.task) + sum(Path(file).stat().st_size for file in task.files)
