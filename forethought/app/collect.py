"""collect: runs of the agent on a file of tasks, judged and kept, with an estimate of what they will cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from forethought.app.command_flags import BaseUrl, Model, Sets
from forethought.app.errors import ANSWERED, FAILED, NOT_PASSED, WAITS, echo
from forethought.app.options import context_of, settings_from
from forethought.app.trials import TrialOptions, open_collector
from forethought.state.context import Context


class CollectOptions(TrialOptions):
    """The flags of `collect`."""

    tasks: Annotated[
        Path,
        typer.Argument(
            help="JSON Lines: {id, task, files, expected | checker: MODULE:NAME} a line.", metavar="TASKS"
        ),
    ]
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the trajectories; goes on there.", metavar="DIR")
    ]
    trials: Annotated[int, typer.Option("--trials", help="Runs a task.", min=1, max=50, metavar="N")] = 3
    parallel: Annotated[
        int, typer.Option("--parallel", help="Runs side by side.", min=1, max=64, metavar="N")
    ] = 4
    budget: Annotated[
        float | None,
        typer.Option("--budget", help="Dollars after which no further run begins.", min=0, metavar="USD"),
    ] = None
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Go on after the estimate without asking.")] = False
    model: Model = None
    base_url: BaseUrl = None
    sets: Sets = None


def collect(options: CollectOptions) -> int:
    """Run each of TASKS several times and keep the trajectories, to learn from mixed outcomes."""
    from forethought.app.collection import Collection, show_collection
    from forethought.app.runner import open_runner

    settings = settings_from(options)
    context = context_of(Context, options, settings)
    tasks = options.read_tasks(options.tasks)
    with open_runner(options.as_json) as runner:
        collector = runner.open(open_collector(options, tasks, options.out, settings, context))
        collection = Collection(options, tasks, collector, runner)
        ending = runner.attempt(collection.carry_out)
        result = collection.report()
        collector.folder.summarise(result)
        show_collection(result, runner.console)
        runner.print_json(result)
        if result["status"] == "waits":
            echo("nothing further was run; go on with the same command and --yes")
            return WAITS
        if result["status"] == "finished":
            return runner.exit_code(ending, ANSWERED if result["mixed"] else NOT_PASSED)
        if not (ending.error or ending.stopped):
            echo("the same command runs what is missing")
        return runner.exit_code(ending, NOT_PASSED if collection.trials else FAILED)
