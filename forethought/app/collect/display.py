"""Shows what a run of a collection came to, and all of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from forethought.app.text import one_line
from forethought.collecting.folder import Trial, key_of

_LISTED = 10


def trial_line(trial: Trial) -> str:
    """What a run of it came to, in a few words."""
    return f"{key_of(trial['task'], trial['trial'])}: {trial['outcome']} ({trial['status']})"


def show_collected(result: Mapping[str, Any], console: Console) -> None:
    """What the collection came to, and what is to be mended."""
    outcomes = result["outcomes"]
    console.print(
        f"{result['runs']} of {result['wanted']} runs of {result['tasks']} tasks: {outcomes['success']} "
        f"succeeded, {outcomes['failure']} failed, {outcomes['unknown']} could not be judged"
    )
    for title, items in (("not judged", result["unjudged"]), ("came to no end", result["failed_runs"])):
        for name, why in list(items.items())[:_LISTED]:
            console.print(Text(f"{title}: {name}: {one_line(why, 300)}", style="yellow"))
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
