"""A collection under way: its runs, its report for `--json`, and the lines on the console."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from forethought.app.collect import CollectOptions
from forethought.app.display import Bar, cost_line
from forethought.app.runner import Runner
from forethought.app.text import one_line
from forethought.collecting.estimate import Cost, estimate, pilots, spent
from forethought.collecting.folder import Trial, key_of
from forethought.collecting.running import Collector, Run
from forethought.trajectories.tasks import CollectTask

_LISTED = 10


class Collection:
    """A collection that is under way."""

    def __init__(
        self, options: CollectOptions, tasks: list[CollectTask], collector: Collector, runner: Runner
    ) -> None:
        self.options, self.tasks, self.collector, self.runner = options, tasks, collector, runner
        trials = collector.folder.trials()
        self.finished = {key_of(trial["task"], trial["trial"]): trial for trial in trials}
        """Finished runs by their names."""
        self.estimate: Cost | None = None
        self.declined = False
        """Whether nobody agreed to go on after the estimate."""
        collector.control, collector.may_begin = runner.shutdown.control, self.affordable

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

    def carry_out(self) -> None:
        """Judge what could not be judged, run a few, estimate, run the rest."""
        self.runner.run(self._judge_again())
        if not self.trials:
            chosen = {task.id for task in pilots(self.tasks)}
            self._run([run for run in self.open_runs if run[0].id in chosen and run[1] == 1], "first runs")
        if not self.open_runs or not self.trials:
            return
        self.estimate = estimate(self.trials, len(self.open_runs))
        costs = f"so far {cost_line(self.spent)}; estimate for all {cost_line(self.estimate)}"
        self.runner.console.print(costs)
        self.declined = not (self.options.yes or self.runner.confirm("continue?"))
        if not self.declined:
            self._run(self.open_runs, "runs")

    def report(self) -> dict[str, Any]:
        """The collection as one JSON object."""
        trials, tasks = self.trials, self.tasks
        outcomes = Counter(trial["outcome"] for trial in trials)
        by_task = {
            task.id: {trial["outcome"] for trial in trials if trial["task"] == task.id} for task in tasks
        }
        return {
            "out": str(self.options.out),
            "status": "waits" if self.declined else "incomplete" if self.open_runs else "finished",
            "tasks": len(tasks),
            "runs": len(trials),
            "wanted": len(tasks) * self.options.trials,
            "outcomes": {name: outcomes.get(name, 0) for name in ("success", "failure", "unknown")},
            "mixed": [id for id, seen in by_task.items() if {"success", "failure"} <= seen],
            "only_success": [id for id, seen in by_task.items() if seen == {"success"}],
            "only_failure": [id for id, seen in by_task.items() if seen == {"failure"}],
            "unjudged": {
                key_of(trial["task"], trial["trial"]): trial["reason"]
                for trial in trials
                if trial["outcome"] == "unknown"
            },
            "failed_runs": self.collector.failed,
            "budget_spent": not self.affordable(),
            "cost": self.spent.as_json(),
            "estimate": self.estimate.as_json() if self.estimate else None,
        }

    def _run(self, runs: Sequence[Run], title: str) -> None:
        """Carry out `runs` under a progress bar that tells the cost so far."""
        with Bar(self.runner.console, title, len(runs)) as bar:

            def finished(trial: Trial) -> None:
                name = self._add(trial)
                bar.tick(f"{name}: {trial['outcome']} ({trial['status']})", self.spent)

            self.collector.on_finished = finished
            self.runner.finish(self.collector.collect(runs, self.options.parallel))

    async def _judge_again(self) -> None:
        """Judge the finished runs that nobody could judge before."""
        tasks = {task.id: task for task in self.tasks}
        for trial in self.trials:
            if trial["outcome"] == "unknown":
                self._add(await self.collector.judge_again(tasks[trial["task"]], trial))

    def _add(self, trial: Trial) -> str:
        """Count a run that has ended, and return its name."""
        name = key_of(trial["task"], trial["trial"])
        self.finished[name] = trial
        return name


def show_collection(result: Mapping[str, Any], console: Console) -> None:
    """Print what the collection came to, and what is to be mended."""
    outcomes = result["outcomes"]
    console.print(
        f"{result['runs']} of {result['wanted']} runs of {result['tasks']} tasks: {outcomes['success']} "
        f"succeeded, {outcomes['failure']} failed, {outcomes['unknown']} could not be judged"
    )
    for title, items in (("not judged", result["unjudged"]), ("did not finish", result["failed_runs"])):
        for name, reason in list(items.items())[:_LISTED]:
            console.print(Text(f"{title}: {name}: {one_line(reason, 300)}", style="yellow"))
    if result["budget_spent"]:
        console.print(Text("the budget is spent: no further runs were started", style="yellow"))
    if result["mixed"]:
        console.print(f"tasks with mixed outcomes, for distilling: {', '.join(result['mixed'])}")
    elif result["status"] == "finished":
        console.print(
            f"no task had mixed outcomes: {len(result['only_success'])} only succeeded, "
            f"{len(result['only_failure'])} only failed; use harder or easier tasks, or raise --trials"
        )
