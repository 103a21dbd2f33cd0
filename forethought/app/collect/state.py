"""A collection that is under way: what was asked for, what is finished, what is left, what it came to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.collecting.estimate import Cost, spent
from forethought.collecting.folder import Trial, key_of, mixed
from forethought.collecting.running import Collector, Run
from forethought.trajectories.tasks import CollectTask

if TYPE_CHECKING:
    from rich.console import Console

Json = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """The flags of `collect` besides those that every command has."""

    tasks: Path
    out: Path
    trials: int = 3
    success: str = "exact"
    least_f1: float = 0.8
    judge_model: str | None = None
    parallel: int = 4
    budget: float | None = None
    yes: bool = False
    checkers: tuple[str, ...] = ()
    """Those that the tasks may name."""


@dataclass
class Collection:
    """A collection that is under way."""

    asked: Asked
    tasks: list[CollectTask]
    collector: Collector
    console: Console
    interactive: bool
    done: dict[str, Trial]
    """Finished runs by their names."""
    expected: Cost | None = None
    """The estimate."""

    @property
    def open(self) -> list[Run]:
        """Runs that are not finished, all first trials before all second ones."""
        runs = [(task, trial) for trial in range(1, self.asked.trials + 1) for task in self.tasks]
        return [run for run in runs if key_of(run[0].id, run[1]) not in self.done]

    @property
    def trials(self) -> list[Trial]:
        """The finished runs of the tasks that are asked for."""
        wanted = {task.id for task in self.tasks}
        return [trial for trial in self.done.values() if trial["task"] in wanted]

    def affordable(self) -> bool:
        """Whether the budget allows another run."""
        cost = spent(self.trials).usd
        return self.asked.budget is None or cost is None or cost < self.asked.budget

    def finished(self, trial: Trial) -> None:
        """A run has ended."""
        self.done[key_of(trial["task"], trial["trial"])] = trial


def collection_report(collection: Collection, *, waits: bool) -> Json:
    trials, tasks = collection.trials, collection.tasks
    outcomes = Counter(trial["outcome"] for trial in trials)
    by_task = {task.id: {trial["outcome"] for trial in trials if trial["task"] == task.id} for task in tasks}
    unjudged = {
        key_of(trial["task"], trial["trial"]): trial["reason"]
        for trial in trials
        if trial["outcome"] == "unknown"
    }
    status = "waits" if waits else "incomplete" if collection.open else "finished"
    return {
        "out": str(collection.asked.out),
        "status": status,
        "tasks": len(tasks),
        "runs": len(trials),
        "wanted": len(tasks) * collection.asked.trials,
        "outcomes": {name: outcomes.get(name, 0) for name in ("success", "failure", "unknown")},
        "mixed": mixed(trials),
        "only_success": [id for id, seen in by_task.items() if seen == {"success"}],
        "only_failure": [id for id, seen in by_task.items() if seen == {"failure"}],
        "unjudged": unjudged,
        "failed_runs": collection.collector.failed,
        "budget_spent": not collection.affordable(),
        "cost": spent(trials).as_json(),
        "estimate": collection.expected.as_json() if collection.expected else None,
    }
