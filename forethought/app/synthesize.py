"""synthesize: multi-level reflections from tasks or trajectories, as records to train a model on.

A synthesis is kept in a database beside that of the threads, under an id derived from its material and its
settings: the same command continues it, and repeats no finished model call and no finished trial.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from forethought.app.command_flags import ModelOptions, argument, flag
from forethought.app.distill import begin_or_continue, material_id, read_runs
from forethought.app.errors import ANSWERED, FAILED, NOT_PASSED, CliError, echo
from forethought.app.options import context_of, settings_from
from forethought.app.text import one_line
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.state.synthesizer import SynthesizerContext
from forethought.storage import address_of
from forethought.storage.address import file_address

if TYPE_CHECKING:
    from forethought.app.runner import Session
    from forethought.trajectories.tasks import Attempt, CollectTask
    from forethought.trajectories.types import Loaded

Json = dict[str, Any]
DATABASE = "syntheses.sqlite"
TRIALS = "syntheses"
"""Folder beside the database: the trials of each synthesis, as `collect` keeps its runs."""
_EXIT_CODES = {"synthesized": ANSWERED, "stopped": NOT_PASSED}


class SynthesizeOptions(ModelOptions):
    """The flags of `synthesize`."""

    offers = (*ModelOptions.offers, "checkers", "tools")

    paths: list[Path] = argument(
        help="A tasks file (as for `collect`) whose tasks are tried; or folders of `collect` and files "
        "of trajectories with their outcomes.",
        metavar="TASKS|TRAJECTORIES...",
    )
    out: Path = flag(help="File for the records, as `train export` reads.", metavar="FILE", default=...)
    trials: int | None = flag(help="Trials of a task at most (3).", metavar="K", min=1, max=20)
    success: Literal["exact", "model"] = flag(help="How `expected` judges.", default="exact")
    judge_model: str | None = flag(help="Model that judges; by default that of the trials.", metavar="M")
    fresh: bool = flag(help="Begin again instead of continuing the same synthesis.", default=False)


@dataclass(frozen=True)
class Plan:
    """Everything that a synthesis is made with: tasks to try, or trajectories."""

    options: SynthesizeOptions
    settings: Settings
    context: SynthesizerContext
    agent: Context
    tasks: tuple[CollectTask, ...] = ()
    trajectories: tuple[Loaded, ...] = ()

    @property
    def id(self) -> str:
        """The thread's id: the same for the same material and settings."""
        choices: list[Any] = [self.context.model_dump(exclude={"max_parallel", "max_tokens", "max_usd"})]
        if self.tasks:
            choices += [self.agent.model_dump(mode="json"), self.options.success]
            choices.append(self.options.judge_model)
        return material_id("synthesize", choices, [*self.tasks, *self.trajectories])

    @property
    def folder(self) -> Path:
        """The folder of its trials."""
        path = address_of(self.settings).path
        parent = self.settings.data_dir if path is None else path.parent
        return parent / TRIALS / self.id.partition(":")[2]


def synthesize(options: SynthesizeOptions) -> int:
    """Reflect on failed trials at three levels, against references, into records to train a model on."""
    from forethought.app import synthesize_view as view
    from forethought.app.runner import open_runner

    plan = _plan(options)
    with open_runner(options.as_json) as runner:
        session = runner.open(_open_session(plan))
        graph_input: Json = {
            "tasks_file": [task.model_dump(mode="json") for task in plan.tasks],
            "trajectories": [loaded.model_dump(mode="json") for loaded in plan.trajectories],
        }
        first = runner.run(begin_or_continue(session, graph_input, options.fresh))
        ending = runner.drive(session, first, view.SynthesizeDisplay(runner.console))
        result = view.synthesis_report(session, ending)
        if result["status"] == "synthesized" and ending.snapshot:
            _write_records(plan, ending.snapshot.values)
            result["out"] = str(options.out)
        view.show_synthesis(result, runner.console)
        runner.print_json(result)
        if result["problem"]:
            echo(result["problem"])
        elif result["out"] and not options.as_json:
            echo(f"next: forethought train export {options.out} --out DATASET")
        return runner.exit_code(ending, _EXIT_CODES.get(result["status"], FAILED))


def _plan(options: SynthesizeOptions) -> Plan:
    """Read the settings and the material. Raises CliError.

    A --set of the synthesizer's settings is for it, any other for the agent.
    """
    settings, sets = settings_from(options), options.sets or []
    own = [item for item in sets if item.partition("=")[0].strip() in SynthesizerContext.model_fields]
    others = [item for item in sets if item not in own]
    agent = context_of(Context, options.model_copy(update={"sets": others}), settings)
    flags = options.model_copy(update={"model": agent.model, "sets": own})
    trials = {} if options.trials is None else {"trials": options.trials}
    context = context_of(SynthesizerContext, flags, settings, overrides=trials)
    return _with_material(Plan(options, settings, context, agent))


def _with_material(plan: Plan) -> Plan:
    """Read the tasks file, or the trajectories. Raises CliError."""
    from forethought.collecting.success import check_named
    from forethought.trajectories.tasks import read_tasks

    paths, out = plan.options.paths, plan.options.out
    if out.is_dir():
        raise CliError(f"--out {out}: this is a folder; name a file")
    if out.resolve() in {path.resolve() for path in paths}:
        raise CliError(f"--out {out}: this file is read from; name another one")
    of_tasks = [path for path in paths if _is_tasks_file(path)]
    if not of_tasks:
        return replace(plan, trajectories=tuple(run.loaded for run in read_runs(paths)))
    if len(paths) > 1:
        raise CliError(f"{of_tasks[0]} is a tasks file: give it alone, or trajectories only")
    try:
        tasks = tuple(read_tasks(of_tasks[0]))
        check_named(tasks, tuple(plan.options.checkers or ()))
    except ValueError as error:
        raise CliError(one_line(error, 1000)) from error
    return replace(plan, tasks=tasks)


def _is_tasks_file(path: Path) -> bool:
    """Whether the first record of a file is a task that can be judged, not a run of one."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            first = json.loads(next((line for line in file if line.strip()), ""))
    except (OSError, ValueError):
        return False
    runs = {"steps", "trajectory", "messages", "progress"}
    return isinstance(first, dict) and isinstance(first.get("task"), str) and not runs & set(first)


@asynccontextmanager
async def _open_session(plan: Plan) -> AsyncIterator[Session]:
    """The synthesis's thread, claimed by this process. Raises CliError, ConfigurationError, StorageError."""
    from forethought.app.runner import Session, claimed_threads
    from forethought.graph.synthesizer import build_synthesizer
    from forethought.models import Models

    settings = plan.settings
    Models(settings).verify([plan.context.model])
    async with AsyncExitStack() as stack:
        opening = claimed_threads(address_of(settings).beside(DATABASE), settings.key, plan.id)
        saver = await stack.enter_async_context(opening)
        attempt = await _attempts(plan, stack) if plan.tasks else None
        yield Session(plan.id, saver, build_synthesizer(settings, saver, attempt=attempt), plan.context)


async def _attempts(plan: Plan, stack: AsyncExitStack) -> Attempt:
    """Trials by this project's agent, each a thread in the synthesis's own folder. Raises CliError."""
    from forethought.collecting.folder import Folder
    from forethought.collecting.running import Collector
    from forethought.collecting.success import judge_for
    from forethought.graph.agent import build_agent
    from forethought.models import Models
    from forethought.state.bounds import models_of
    from forethought.storage import open_threads

    options, settings = plan.options, plan.settings
    if options.fresh:
        await asyncio.to_thread(shutil.rmtree, plan.folder, True)
    folder, models = Folder(plan.folder), Models(settings)
    judge_model = options.judge_model or plan.agent.model
    try:
        judges = {task.id: judge_for(task, options.success, models, judge_model) for task in plan.tasks}
        models.verify([*models_of(plan.agent), judge_model])
        folder.open(plan.tasks, {"model": plan.agent.model, "context": plan.agent.model_dump(mode="json")})
        saver = await stack.enter_async_context(open_threads(file_address(folder.database), settings.key))
        graph = build_agent(settings=settings, checkpointer=saver)
    except ValueError as error:
        raise CliError(one_line(error, 1000)) from error
    return Collector(graph, plan.agent, settings, folder, judges).attempt


def _write_records(plan: Plan, values: Json) -> None:
    """Write a record for each merged reflection. Raises CliError; no half-written file is left."""
    from forethought.json_files import write_records
    from forethought.tools.files import FileStore
    from forethought.training.from_synthesis import reflection_records
    from forethought.trajectories.types import Trajectory

    store = FileStore.of(plan.settings)
    trajectories = {
        key: Trajectory.model_validate_json(store.get(values["trials"][key]["stored"]))
        for key in values["merged"]
    }
    try:
        write_records(plan.options.out, reflection_records(values, trajectories))
    except OSError as error:
        reason = f"{plan.options.out} cannot be written ({error.strerror or error})"
        raise CliError(f"{reason}; the reflections are kept: run the same command again") from error
