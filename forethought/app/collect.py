"""collect: runs of the agent on a file of tasks, judged and kept, with an estimate of what they will cost."""

from __future__ import annotations

from pathlib import Path

from forethought.app.command_flags import argument, flag
from forethought.app.errors import ANSWERED, FAILED, NOT_PASSED, WAITS, echo
from forethought.app.options import context_of, settings_from
from forethought.app.trials import TrialOptions, open_collector
from forethought.state.context import Context


class CollectOptions(TrialOptions):
    """The flags of `collect`."""

    offers = "model base_url sets"

    tasks: Path = argument(
        help="JSON Lines of {id, task, files, expected|rubric|checker}, or CSV.",
        metavar="TASKS",
    )
    out: Path = flag(help="Output folder, new or to continue.", metavar="DIR", default=...)
    trials: int = flag(help="Runs per task.", metavar="N", default=3, min=1, max=50)
    parallel: int = flag(help="Maximum parallel runs.", metavar="N", default=4, min=1, max=64)
    budget: float | None = flag(help="Start no runs beyond this cost.", metavar="USD", min=0)
    yes: bool = flag("--yes", "-y", help="Do not ask for confirmation.", default=False)


def collect(options: CollectOptions) -> int:
    """Run each task several times and record the outcomes."""
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
        show_collection(result, runner.console)
        runner.print_json(result)
        if result["status"] == "waits":
            echo("no further runs were started; to continue, repeat the command with --yes")
            return WAITS
        if result["status"] == "finished":
            echo(f"next: forethought learn {options.out}")
            return runner.exit_code(ending, ANSWERED if result["mixed"] else NOT_PASSED)
        if not (ending.error or ending.stopped):
            echo("to run the rest, repeat the command")
        return runner.exit_code(ending, NOT_PASSED if collection.trials else FAILED)
