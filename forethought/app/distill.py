"""distill: planning errors from trajectories of mixed outcome, into a file that people review."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.app.command_flags import ModelOptions, argument, flag
from forethought.app.errors import ANSWERED, NOT_PASSED, WAITS, CliError, echo, input_errors
from forethought.app.options import context_of, settings_from
from forethought.settings import Settings
from forethought.state.distiller import DistillerContext
from forethought.storage import address_of

if TYPE_CHECKING:
    from forethought.app.runner import Session

Json = dict[str, Any]
DATABASE = "distillations.sqlite"
_EXIT_CODES = {"distilled": ANSWERED, "stopped": NOT_PASSED, "interrupted": WAITS}
_WORDS = {"diagnoses": "diagnosed", "errors": "aggregated", "patterns": "patterns"}
_CHANNELS: Json = {
    **{name: {} for name in ("diagnoses", "tasks", "problems", "reviews")},
    **{name: [] for name in ("decisions", "excluded")},
}


class DistillOptions(ModelOptions):
    """The flags of `distill`."""

    paths: list[Path] = argument(
        help="Folders from `collect`, or trajectories with outcomes.", metavar="DIR|FILE..."
    )
    out: Path = flag(help="Output file.", metavar="FILE", default=Path("planning_errors.yaml"))
    review: bool = flag(help="Review each error in the terminal.", default=False)
    exclude: list[Path] | None = flag(
        help="Refuse trajectories of these evaluation tasks (repeatable).", metavar="FILE"
    )
    source: str | None = flag(help="Origin of the trajectories, for the provenance.", metavar="TEXT")
    fresh: bool = flag(help="Start over.", default=False)
    yes: bool = flag("--yes", "-y", help="Do not ask for confirmation.", default=False)


def distill(options: DistillOptions) -> int:
    """Distill planning errors from failed and successful runs."""
    from forethought.app.distill_file import counts
    from forethought.app.distill_review import ask_review
    from forethought.app.offline import OfflineRun, finish, material_id, read_runs
    from forethought.app.runner import open_runner
    from forethought.models import Models
    from forethought.nodes.distiller.take import estimate
    from forethought.trajectories.questions import read_questions

    settings = settings_from(options)
    context = context_of(DistillerContext, options, settings, overrides={"review": options.review})
    runs = read_runs(options.paths)
    with input_errors():
        exclude = [text for path in options.exclude or () for text in read_questions(path)]
    graph_input: Json = {
        "trajectories": [run.loaded.model_dump(mode="json") for run in runs],
        "files": {run.loaded.trajectory.id: run.file for run in runs},
        "exclude": exclude,
    }
    choices = context.model_dump(exclude={"review", "max_parallel", "max_tokens", "max_usd"})
    id = material_id("distill", [choices, sorted(exclude)], [run.loaded for run in runs])
    with open_runner(options.as_json) as runner:
        session = _open_session(id, settings, context)
        trajectories = graph_input["trajectories"]
        costs = "" if options.yes else estimate(trajectories, exclude, context, Models(settings))
        run = OfflineRun("distillation", session, graph_input, _CHANNELS, _WORDS, ask_review, costs)
        result, ending = run.carry_out(runner, options.fresh)
        values = ending.snapshot.values if ending.snapshot else {}
        errors = list((values.get("final") or {}).values())
        result |= {"errors": errors, "counts": counts(values), "provenance": ""}
        result["open"] = [name for name in values.get("patterns") or {} if name not in result["reviews"]]
        if result["status"] == "distilled":
            result |= _write(result["distillation"], values, options)
            echo(f"next: read {result['out']}, then set FORETHOUGHT_PLANNING_ERRORS_FILE to it")
        elif result["status"] == "interrupted":
            echo(f"{len(result['open'])} errors await review; repeat the command in a terminal")
        return finish(runner, result, ending, result["counts"], _EXIT_CODES)


def _write(id: str, values: Json, options: DistillOptions) -> Json:
    """Write the errors; where they and their provenance are. Raises CliError."""
    from forethought.app.distill_file import write_distilled
    from forethought.json_files import FileError
    from forethought.knowledge.provenance import provenance_path

    try:
        written = write_distilled(options.out, values, id, options.source)
    except FileError as error:
        line = f"{error}; progress is saved: fix the problem, then repeat the command"
        raise CliError(line) from error
    return {"out": str(written), "provenance": str(provenance_path(written))}


@asynccontextmanager
async def _open_session(id: str, settings: Settings, context: DistillerContext) -> AsyncIterator[Session]:
    """The distillation's thread, claimed by this process. Raises ConfigurationError, StorageError."""
    from forethought.app.runner import Session, claimed_threads
    from forethought.graph.distiller import build_distiller
    from forethought.models import Models

    Models(settings).verify([context.model])
    async with claimed_threads(address_of(settings).beside(DATABASE), settings.key, id) as saver:
        yield Session(id, saver, build_distiller(settings, saver), context)
