"""collect: runs of the agent on a file of tasks, judged and kept, with an estimate of what they will cost."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from forethought.app.agreeing import agreed
from forethought.app.collect.display import show_collected, trial_line
from forethought.app.collect.state import Asked, Collection, collection_report
from forethought.app.display import make_console
from forethought.app.errors import (
    ANSWERED,
    DRAINED,
    FAILED,
    INTERRUPTED,
    NOT_PASSED,
    WAITS,
    CliError,
    explain,
)
from forethought.app.holding import claimed_threads, held
from forethought.app.leaving import event_loop
from forethought.app.options import Flags, context_from_flags, settings_from
from forethought.app.progress import Bar, cost_line
from forethought.app.tell import tell, tell_error
from forethought.app.text import one_line, to_json
from forethought.collecting.estimate import estimate, pilots, spent
from forethought.collecting.folder import Folder, Trial, key_of
from forethought.collecting.running import Collector, Run
from forethought.collecting.success import Method, RunJudge, check_named, judge_for
from forethought.settings import Settings
from forethought.state.bounds import bounded
from forethought.state.context import Context
from forethought.storage.address import file_address
from forethought.trajectories.tasks import read_tasks

if TYPE_CHECKING:
    from forethought.shutdown import Shutdown

Json = dict[str, Any]


def collect(asked: Asked, flags: Flags, as_json: bool) -> int:
    """Collect trajectories. Returns the exit code. Raises CliError."""
    from forethought.models import Models
    from forethought.nodes.support.task import models_used
    from forethought.shutdown import Shutdown, on_sigterm

    settings, context = _chosen(flags)
    method = _method(asked.success)
    console = make_console(sys.stderr if as_json else sys.stdout)
    interactive = not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    try:
        tasks = read_tasks(asked.tasks)
        check_named(tasks, asked.checkers)
        models = Models(settings)
        judge_model = asked.judge_model or context.model
        judges = {task.id: judge_for(task, method, asked.least_f1, models, judge_model) for task in tasks}
        judging = method == "model" and any(not task.checker for task in tasks)
        models.verify([*models_used(context), *([judge_model] if judging else [])])
        folder = Folder(asked.out)
        folder.open(tasks, _choices(asked, context))
        done = {key_of(trial["task"], trial["trial"]): trial for trial in folder.trials()}
    except ValueError as error:
        raise CliError(one_line(error, 1000)) from error
    drain = Shutdown()
    with (
        on_sigterm(drain),
        event_loop() as loop,
        _opened(loop, settings, context, folder, judges) as collector,
    ):
        collector.control = drain.control
        collection = Collection(asked, tasks, collector, console, interactive, done)
        return _driven(loop, collection, as_json, drain)


def _driven(loop: asyncio.Runner, collection: Collection, as_json: bool, drain: Shutdown) -> int:
    """Run it all, and report."""
    from forethought.shutdown import Halt

    error: Exception | None = None
    asked_first = False
    try:
        asked_first = not _carry_out(loop, collection, drain)
    except Halt:
        asked_first = False
    except KeyboardInterrupt:
        raise CliError("interrupted; the same command goes on with it", INTERRUPTED) from None
    except Exception as failure:
        if explain(failure).internal:
            raise
        error = failure
    result = collection_report(collection, waits=asked_first)
    collection.collector.folder.summarise(result)
    show_collected(result, collection.console)
    if as_json:
        print(to_json(result), flush=True)
    if drain.requested and result["status"] == "incomplete":
        tell("stopped by SIGTERM; the same command goes on with it")
        return DRAINED
    if error:
        code = tell_error(error)
        tell("what was done is kept; the same command goes on with it")
        return code
    if asked_first:
        tell("nothing further was run; go on with the same command and --yes")
        return WAITS
    if result["status"] == "incomplete":
        tell("the same command runs what is missing")
        return NOT_PASSED if collection.trials else FAILED
    return ANSWERED if result["mixed"] else NOT_PASSED


def _carry_out(loop: asyncio.Runner, collection: Collection, drain: Shutdown) -> bool:
    """Judge what could not be judged, run a few, estimate, run the rest; False where it is not to go on."""
    loop.run(_judge_again(collection))
    total = len(collection.tasks) * collection.asked.trials
    if not collection.trials:
        chosen = {task.id for task in pilots(collection.tasks)}
        first = [(task, trial) for task, trial in collection.open if task.id in chosen and trial == 1]
        _run(loop, collection, drain, first, f"first {len(first)} of {total} runs")
    if not collection.open or not collection.trials:
        return True
    left = Counter(task.id for task, _ in collection.open)
    collection.expected = estimate(collection.trials, left)
    so_far, whole = spent(collection.trials), collection.expected
    collection.console.print(f"so far {cost_line(so_far)}; estimate for all {cost_line(whole)}")
    with drain.idle():
        if not collection.asked.yes and not (collection.interactive and agreed("go on? [Y/n]")):
            return False
    _run(loop, collection, drain, collection.open, f"{total} runs")
    return True


def _run(
    loop: asyncio.Runner, collection: Collection, drain: Shutdown, runs: Sequence[Run], what: str
) -> None:
    """Carry out `runs` under a progress bar that tells the cost so far."""
    collector = collection.collector
    with Bar(collection.console, what, len(runs)) as bar:

        def finished(trial: Trial) -> None:
            collection.finished(trial)
            bar.tick(trial_line(trial), spent(collection.trials))

        collector.on_finished, collector.may_begin = finished, collection.affordable
        work = collector.collect(runs, collection.asked.parallel)
        loop.run(drain.finish(work, collector.settings.drain_s))


async def _judge_again(collection: Collection) -> None:
    tasks = {task.id: task for task in collection.tasks}
    for trial in collection.trials:
        if trial["outcome"] == "unknown":
            collection.finished(await collection.collector.judge_again(tasks[trial["task"]], trial))


@contextmanager
def _opened(
    loop: asyncio.Runner, settings: Settings, context: Context, folder: Folder, judges: Mapping[str, RunJudge]
) -> Iterator[Collector]:
    """The collector, over several runs of the loop; its folder is held for this process."""
    from forethought.graph.agent import build_agent

    if settings.tools and str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    opening = claimed_threads(file_address(folder.database), settings.key, "collection")
    with held(loop, opening) as saver:
        try:
            graph = build_agent(settings=settings, checkpointer=saver)
        except ValueError as error:
            raise CliError(one_line(error, 1000)) from error
        yield Collector(graph, context, settings, folder, judges)


def _chosen(flags: Flags) -> tuple[Settings, Context]:
    settings = settings_from(flags)
    try:
        return settings, bounded(context_from_flags(flags, settings), settings)
    except ValueError as error:
        raise CliError(str(error)) from error


def _method(name: str) -> Method:
    for method in get_args(Method):
        if name == method:
            return method  # type: ignore[no-any-return]
    raise CliError(f"--success {one_line(name, 40)}: choose exact, f1 or model; a task may name a checker")


def _choices(asked: Asked, context: Context) -> Json:
    """What all runs of a collection must have in common."""
    return {
        "model": context.model,
        "context": context.model_dump(mode="json"),
        "success": asked.success,
        "least_f1": asked.least_f1,
    }
