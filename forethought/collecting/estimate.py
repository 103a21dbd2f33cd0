"""What a collection will cost, told from the first finished runs before the others begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from forethought.collecting.folder import Trial
from forethought.models.allowance import tokens_of
from forethought.trajectories.tasks import CollectTask


@dataclass(frozen=True)
class Cost:
    """What runs took. `usd` is None where a call has no known price."""

    runs: int = 0
    tokens: float = 0
    usd: float | None = 0.0
    seconds: float = 0.0
    """Seconds of all runs, as if made one after the other."""

    def __add__(self, other: Cost) -> Cost:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Cost(self.runs + other.runs, self.tokens + other.tokens, usd, self.seconds + other.seconds)

    def as_json(self) -> dict[str, Any]:
        """For a report."""
        return {**asdict(self), "tokens": round(self.tokens), "seconds": round(self.seconds, 1)}


def pilots(tasks: Sequence[CollectTask]) -> list[CollectTask]:
    """The tasks that are tried first: the smallest, a middle one and the largest, as long files cost most."""
    by_size = sorted(tasks, key=_size)
    return [by_size[at] for at in sorted({0, len(tasks) // 2, len(tasks) - 1})]


def spent(trials: Sequence[Trial]) -> Cost:
    """What finished runs took."""
    return sum((_cost(trial) for trial in trials), Cost())


def estimate(trials: Sequence[Trial], left: int) -> Cost:
    """What the whole collection will have taken, if `left` further runs cost what the finished ones did on
    the average. Raises ValueError when no run is finished."""
    if not trials:
        raise ValueError("an estimate needs at least one finished run")
    so_far, share = spent(trials), left / len(trials)
    usd = None if so_far.usd is None else so_far.usd * share
    return so_far + Cost(left, so_far.tokens * share, usd, so_far.seconds * share)


def _cost(trial: Trial) -> Cost:
    usage = trial["usage"]
    usd = None if usage.get("unpriced") else usage.get("usd", 0.0)
    return Cost(1, tokens_of(usage), usd, trial["seconds"])


def _size(task: CollectTask) -> int:
    return len(task.task) + sum(Path(file).stat().st_size for file in task.files)
