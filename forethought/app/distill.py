"""distill: planning errors from trajectories of mixed outcome, into a file that people review.

A distillation is kept in a database beside that of the threads, under an id derived from its trajectories
and its settings: the same command continues it, and repeats no finished model call.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from forethought.app.command_flags import ModelOptions, argument, flag
from forethought.app.errors import ANSWERED, FAILED, NOT_PASSED, WAITS, CliError, echo
from forethought.app.options import context_of, settings_from
from forethought.app.text import one_line
from forethought.settings import Settings
from forethought.state.distiller import DistillerContext
from forethought.storage import address_of

if TYPE_CHECKING:
    from forethought.app.runner import Session
    from forethought.trajectories.types import Loaded

Json = dict[str, Any]
DATABASE = "distillations.sqlite"
_EXIT_CODES = {"distilled": ANSWERED, "stopped": NOT_PASSED, "interrupted": WAITS}


class DistillOptions(ModelOptions):
    """The flags of `distill`."""

    paths: list[Path] = argument(
        help="Folders of `collect`, or files of trajectories with their outcomes.", metavar="DIR|FILE..."
    )
    out: Path = flag(
        help="File of planning errors to merge into.", metavar="FILE", default=Path("planning_errors.yaml")
    )
    review: bool = flag(help="Keep, edit, merge or drop each error in the terminal.", default=False)
    exclude: list[Path] | None = flag(
        help="Tasks of an evaluation, which are refused; may be repeated.", metavar="FILE"
    )
    source: str | None = flag(help="The trajectories' origin, for the provenance.", metavar="TEXT")
    fresh: bool = flag(help="Begin again instead of continuing the same distillation.", default=False)


@dataclass(frozen=True)
class RecordedRun:
    """A trajectory that was read, and the file or folder that it was read from."""

    loaded: Loaded
    file: str
    """From the folder on that holds all paths: enough to tell files apart, and nothing of this machine."""


def distill(options: DistillOptions) -> int:
    """Distill planning errors from tasks whose runs partly failed and partly succeeded."""
    from forethought.app import distill_view as view
    from forethought.app.runner import open_runner
    from forethought.trajectories.questions import read_questions

    settings = settings_from(options)
    context = context_of(DistillerContext, options, settings, overrides={"review": options.review})
    runs = read_runs(options.paths)
    try:
        exclude = [text for path in options.exclude or () for text in read_questions(path)]
    except ValueError as error:
        raise CliError(one_line(error, 1000)) from error
    graph_input: Json = {"trajectories": [run.loaded.model_dump(mode="json") for run in runs]}
    graph_input |= {"files": {run.loaded.trajectory.id: run.file for run in runs}, "exclude": exclude}
    choices = context.model_dump(exclude={"review", "max_parallel", "max_tokens", "max_usd"})
    id = material_id("distill", [choices, sorted(exclude)], [run.loaded for run in runs])
    with open_runner(options.as_json) as runner:
        session = runner.open(_open_session(id, settings, context))
        first = runner.run(begin_or_continue(session, graph_input, options.fresh))
        tasks = runner.run(session.snapshot()).values.get("tasks") or {}
        ending = runner.drive(session, first, view.DistillDisplay(runner.console, tasks), view.ask_review)
        result = view.distillation_report(session, ending, options.out)
        if ending.snapshot:
            _write(result, ending.snapshot.values, options)
        view.show_distillation(result, runner.console)
        runner.print_json(result)
        if result["status"] == "interrupted":
            echo(f"{len(result['open'])} errors wait for a review; run the same command in a terminal")
        elif result["problem"]:
            echo(result["problem"])
        return runner.exit_code(ending, _EXIT_CODES.get(result["status"], FAILED))


def _write(result: Json, values: Json, options: DistillOptions) -> None:
    """Write the errors, and put into `result` where. Raises CliError."""
    from forethought.app.distill_file import write_distilled
    from forethought.json_files import FileError
    from forethought.knowledge.provenance import provenance_path

    if result["status"] != "distilled":
        return
    try:
        written = write_distilled(options.out, values, result["distillation"], options.source)
    except FileError as error:
        line = f"{error}; what was distilled is kept: mend it and run the same command"
        raise CliError(line) from error
    result |= {"out": str(written), "provenance": str(provenance_path(written))}


def read_runs(paths: Sequence[Path]) -> list[RecordedRun]:
    """Read trajectories from folders of `collect` and from files, each under an id of its own.

    Raises CliError.
    """
    from forethought.trajectories.read import read_trajectories

    absolute = {path: path.absolute() for path in paths}
    common = os.path.commonpath([path.parent for path in absolute.values()])
    runs: dict[str, RecordedRun] = {}
    for path in absolute:
        collected = path / "trajectories"
        is_collection = (path / "collection.json").is_file() and collected.is_dir()
        try:
            trajectories = read_trajectories(collected if is_collection else path)
        except ValueError as error:
            raise CliError(one_line(error, 1000)) from error
        for loaded in trajectories:
            key, number = loaded.trajectory.id, 2
            while key in runs and runs[key].loaded.trajectory != _renamed(loaded, key).trajectory:
                key, number = f"{loaded.trajectory.id}~{number}", number + 1
            file = absolute[path].relative_to(common).as_posix()
            runs.setdefault(key, RecordedRun(_renamed(loaded, key), file))
    return list(runs.values())


def _renamed(loaded: Loaded, key: str) -> Loaded:
    return loaded.model_copy(update={"trajectory": loaded.trajectory.model_copy(update={"id": key})})


def material_id(kind: str, settings: Any, material: Sequence[BaseModel]) -> str:
    """A thread's id: the same for the same material and settings, so that a command continues its own."""
    text = json.dumps([settings, [item.model_dump_json() for item in material]], ensure_ascii=False)
    return f"{kind}:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


async def begin_or_continue(session: Session, graph_input: Json, fresh: bool) -> Json | None:
    """What the graph is given: `graph_input` at first, nothing where it continues.

    `fresh` forgets what was done. A finished thread is given empty input, for its last step alone.
    """
    if fresh:
        await session.saver.adelete_thread(session.id)
    snapshot = await session.snapshot()
    if snapshot.interrupts or snapshot.tasks:
        return None
    finished = bool(snapshot.values.get("tasks"))
    return {name: type(value)() for name, value in graph_input.items()} if finished else graph_input


@asynccontextmanager
async def _open_session(id: str, settings: Settings, context: DistillerContext) -> AsyncIterator[Session]:
    """The distillation's thread, claimed by this process. Raises ConfigurationError, StorageError."""
    from forethought.app.runner import Session, claimed_threads
    from forethought.graph.distiller import build_distiller
    from forethought.models import Models

    Models(settings).verify([context.model])
    async with claimed_threads(address_of(settings).beside(DATABASE), settings.key, id) as saver:
        yield Session(id, saver, build_distiller(settings, saver), context)
