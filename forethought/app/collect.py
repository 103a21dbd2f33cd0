"""collect: runs of the agent on a file of tasks, judged and kept, with an estimate of what they will cost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from forethought.app.command_flags import CommandOptions, argument, flag
from forethought.app.errors import ANSWERED, FAILED, NOT_PASSED, WAITS, CliError, echo
from forethought.app.options import context_of, settings_from
from forethought.app.text import one_line
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.storage.address import file_address

if TYPE_CHECKING:
    from forethought.app.collect_view import Collection
    from forethought.app.runner import Runner
    from forethought.collecting.folder import Trial
    from forethought.collecting.running import Collector, Run
    from forethought.rollouts.types import Evaluator


class CollectOptions(CommandOptions):
    """The flags of `collect`."""

    offers = ("checkers", "model", "base_url", "sets", "tools")

    tasks: Path = argument(
        help="JSON Lines: {id, task, files, expected | checker: MODULE:NAME} a line.", metavar="TASKS"
    )
    out: Path = flag(help="Folder for the trajectories; goes on there.", metavar="DIR", default=...)
    trials: int = flag(help="Runs a task.", metavar="N", default=3, min=1, max=50)
    success: Literal["exact", "model"] = flag(help="How `expected` judges.", default="exact")
    judge_model: str | None = flag(help="Model that judges; by default that of the runs.", metavar="M")
    parallel: int = flag(help="Runs side by side.", metavar="N", default=4, min=1, max=64)
    budget: float | None = flag(help="Dollars after which no further run begins.", metavar="USD", min=0)
    yes: bool = flag("--yes", "-y", help="Go on after the estimate without asking.", default=False)


def collect(options: CollectOptions) -> int:
    """Run each of TASKS several times and keep the trajectories, to learn from mixed outcomes."""
    from forethought.app.collect_view import collection_report, show_collection
    from forethought.app.runner import open_runner

    settings = settings_from(options)
    context = context_of(Context, options, settings)
    collection, judges = _begin(options, settings, context)
    with open_runner(options.as_json) as runner:
        collector = runner.open(_open_collector(collection, judges, settings, context))
        collector.control = runner.shutdown.control
        ending = runner.attempt(lambda: _carry_out(runner, collection, collector))
        status = "waits" if collection.declined else "incomplete" if collection.open_runs else "finished"
        result = collection_report(collection, status)
        collection.folder.summarise(result)
        show_collection(result, runner.console)
        runner.print_json(result)
        if status == "waits":
            echo("nothing further was run; go on with the same command and --yes")
            return WAITS
        if status == "finished":
            return runner.exit_code(ending, ANSWERED if result["mixed"] else NOT_PASSED)
        if not (ending.error or ending.stopped):
            echo("the same command runs what is missing")
        return runner.exit_code(ending, NOT_PASSED if collection.trials else FAILED)


def _begin(
    options: CollectOptions, settings: Settings, context: Context
) -> tuple[Collection, dict[str, Evaluator]]:
    """Read the tasks, the folder and its finished runs, and who judges each task. Raises CliError."""
    from forethought.app.collect_view import Collection
    from forethought.collecting.folder import Folder, key_of
    from forethought.collecting.success import check_named, judge_for
    from forethought.models import Models
    from forethought.state.bounds import models_of
    from forethought.trajectories.tasks import read_tasks

    judge_model = options.judge_model or context.model
    common = {
        "model": context.model,
        "context": context.model_dump(mode="json"),
        "success": options.success,
    }
    try:
        tasks = read_tasks(options.tasks)
        check_named(tasks, options.checkers or ())
        models = Models(settings)
        judges = {task.id: judge_for(task, options.success, models, judge_model) for task in tasks}
        asks_judge = options.success == "model" and any(not task.checker for task in tasks)
        models.verify([*models_of(context), *([judge_model] if asks_judge else [])])
        folder = Folder(options.out)
        folder.open(tasks, common)
        finished = {key_of(trial["task"], trial["trial"]): trial for trial in folder.trials()}
    except ValueError as error:
        raise CliError(one_line(error, 1000)) from error
    return Collection(options, tasks, folder, finished), judges


@asynccontextmanager
async def _open_collector(
    collection: Collection, judges: dict[str, Evaluator], settings: Settings, context: Context
) -> AsyncIterator[Collector]:
    """The collector, its folder's database held for this process. Raises CliError."""
    from forethought.app.runner import claimed_threads
    from forethought.collecting.running import Collector
    from forethought.graph.agent import build_agent

    address = file_address(collection.folder.database)
    async with claimed_threads(address, settings.key, "collection") as saver:
        try:
            graph = build_agent(settings=settings, checkpointer=saver)
        except ValueError as error:
            raise CliError(one_line(error, 1000)) from error
        yield Collector(
            graph,
            context,
            settings,
            collection.folder,
            judges,
            on_finished=collection.add,
            may_begin=collection.affordable,
            failed=collection.failed,
        )


def _carry_out(runner: Runner, collection: Collection, collector: Collector) -> None:
    """Judge what could not be judged, run a few, estimate, run the rest."""
    from forethought.app.display import cost_line
    from forethought.collecting.estimate import estimate, pilots

    runner.run(_judge_again(collection, collector))
    total = len(collection.tasks) * collection.options.trials
    if not collection.trials:
        chosen = {task.id for task in pilots(collection.tasks)}
        first = [(task, trial) for task, trial in collection.open_runs if task.id in chosen and trial == 1]
        _run(runner, collection, collector, first, f"first {len(first)} of {total} runs")
    if not collection.open_runs or not collection.trials:
        return
    collection.estimate = estimate(collection.trials, len(collection.open_runs))
    costs = f"so far {cost_line(collection.spent)}; estimate for all {cost_line(collection.estimate)}"
    runner.console.print(costs)
    collection.declined = not (collection.options.yes or runner.confirm("go on?"))
    if not collection.declined:
        _run(runner, collection, collector, collection.open_runs, f"{total} runs")


def _run(
    runner: Runner, collection: Collection, collector: Collector, runs: Sequence[Run], title: str
) -> None:
    """Carry out `runs` under a progress bar that tells the cost so far."""
    from forethought.app.display import Bar
    from forethought.collecting.folder import key_of

    with Bar(runner.console, title, len(runs)) as bar:

        def finished(trial: Trial) -> None:
            collection.add(trial)
            name = key_of(trial["task"], trial["trial"])
            bar.tick(f"{name}: {trial['outcome']} ({trial['status']})", collection.spent)

        collector.on_finished = finished
        runner.finish(collector.collect(runs, collection.options.parallel))


async def _judge_again(collection: Collection, collector: Collector) -> None:
    """Judge the finished runs that nobody could judge before."""
    tasks = {task.id: task for task in collection.tasks}
    for trial in collection.trials:
        if trial["outcome"] == "unknown":
            collection.add(await collector.judge_again(tasks[trial["task"]], trial))
