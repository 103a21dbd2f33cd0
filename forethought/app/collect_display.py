"""Shows a collection: a progress bar with the cost so far, and what it came to."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from forethought.app.text import one_line
from forethought.collecting.estimate import Cost
from forethought.collecting.folder import Trial, key_of

_LISTED = 10


class Bar:
    """A progress bar on a terminal; elsewhere a line for each run that has ended."""

    def __init__(self, console: Console, what: str, total: int) -> None:
        self.console, self.total, self.done = console, total, 0
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[cost]}"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task(what, total=total, cost="")

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def advance(self, trial: Trial, cost: Cost) -> None:
        """A run has ended; `cost` is that of all runs so far."""
        name = key_of(trial["task"], trial["trial"])
        self.tick(f"{name}: {trial['outcome']} ({trial['status']})", cost)

    def tick(self, what: str, cost: Cost) -> None:
        """One more has ended, and `what` it came to."""
        self.done += 1
        self._progress.update(self._task, advance=1, cost=cost_line(cost))
        if not self.console.is_terminal:
            self.console.print(f"{self.done}/{self.total}  {what}  {cost_line(cost)}")


def cost_line(cost: Cost) -> str:
    """A cost in a few words."""
    dollars = "" if cost.usd is None else f", ${cost.usd:.4f}"
    return f"{cost.runs} run{'' if cost.runs == 1 else 's'}, {round(cost.tokens)} tokens{dollars}"


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
