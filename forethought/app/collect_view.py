"""What a collection came to: the report of `--json`, and the lines on the console."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from forethought.app.collect import Collection
from forethought.app.text import one_line
from forethought.collecting.folder import key_of, mixed

_LISTED = 10


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
