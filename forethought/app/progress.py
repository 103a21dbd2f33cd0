"""Several runs while they happen: a progress bar with the cost so far."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from forethought.collecting.estimate import Cost


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
