"""A collection under way: its runs, its report for `--json`, and the lines on the console."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.text import Text

from forethought.app.collect import CollectOptions
from forethought.app.text import one_line
from forethought.collecting.estimate import Cost, spent
from forethought.collecting.folder import Folder, Trial, key_of, mixed
from forethought.collecting.running import Run
from forethought.trajectories.tasks import CollectTask

_LISTED = 10


@dataclass
class Collection:
    """A collection that is under way."""

    options: CollectOptions
    tasks: list[CollectTask]
    folder: Folder
    finished: dict[str, Trial]
    """Finished runs by their names."""
    failed: dict[str, str] = field(default_factory=dict)
    """By a run's name: why it came to no end."""
    estimate: Cost | None = None
    declined: bool = False
    """Whether nobody agreed to go on after the estimate."""

    @property
    def open_runs(self) -> list[Run]:
        """Runs that are not finished, all first trials before all second ones."""
        runs = [(task, trial) for trial in range(1, self.options.trials + 1) for task in self.tasks]
        return [run for run in runs if key_of(run[0].id, run[1]) not in self.finished]

    @property
    def trials(self) -> list[Trial]:
        """The finished runs of the tasks that are asked for."""
        wanted = {task.id for task in self.tasks}
        return [trial for trial in self.finished.values() if trial["task"] in wanted]

    @property
    def spent(self) -> Cost:
        """What the finished runs took."""
        return spent(self.trials)

    def affordable(self) -> bool:
        """Whether the budget allows another run."""
        usd = self.spent.usd
        return not self.options.budget or usd is None or usd < self.options.budget

    def add(self, trial: Trial) -> None:
        """Count a run that has ended."""
        self.finished[key_of(trial["task"], trial["trial"])] = trial


def collection_report(collection: Collection, status: str) -> dict[str, Any]:
    """The collection as one JSON object."""
    trials, tasks = collection.trials, collection.tasks
    outcomes = Counter(trial["outcome"] for trial in trials)
    by_task = {task.id: {trial["outcome"] for trial in trials if trial["task"] == task.id} for task in tasks}
    return {
        "out": str(collection.options.out),
        "status": status,
        "tasks": len(tasks),
        "runs": len(trials),
        "wanted": len(tasks) * collection.options.trials,
        "outcomes": {name: outcomes.get(name, 0) for name in ("success", "failure", "unknown")},
        "mixed": mixed(trials),
        "only_success": [id for id, seen in by_task.items() if seen == {"success"}],
        "only_failure": [id for id, seen in by_task.items() if seen == {"failure"}],
        "unjudged": {
            key_of(trial["task"], trial["trial"]): trial["reason"]
            for trial in trials
            if trial["outcome"] == "unknown"
        },
        "failed_runs": collection.failed,
        "budget_spent": not collection.affordable(),
        "cost": collection.spent.as_json(),
        "estimate": collection.estimate.as_json() if collection.estimate else None,
    }


def show_collection(result: Mapping[str, Any], console: Console) -> None:
    """Print what the collection came to, and what is to be mended."""
    outcomes = result["outcomes"]
    console.print(
        f"{result['runs']} of {result['wanted']} runs of {result['tasks']} tasks: {outcomes['success']} "
        f"succeeded, {outcomes['failure']} failed, {outcomes['unknown']} could not be judged"
    )
    for title, items in (("not judged", result["unjudged"]), ("came to no end", result["failed_runs"])):
        for name, reason in list(items.items())[:_LISTED]:
            console.print(Text(f"{title}: {name}: {one_line(reason, 300)}", style="yellow"))
        if len(items) > _LISTED:
            console.print(Text(f"{title}: {len(items) - _LISTED} more", style="yellow"))
    if result["budget_spent"]:
        console.print(Text("the budget is spent: no further run was begun", style="yellow"))
    if result["mixed"]:
        console.print(f"mixed outcomes, kept for distilling: {', '.join(result['mixed'])}")
        console.print(f"next: forethought distill {result['out']}")
    elif result["status"] == "finished":
        console.print(
            f"no task had mixed outcomes: {len(result['only_success'])} only succeeded, "
            f"{len(result['only_failure'])} only failed; give harder or easier tasks, or more --trials"
        )
