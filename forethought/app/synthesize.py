"""synthesize: multi-level reflections from tasks or trajectories, as records to train a model on."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from forethought.app.command_flags import ModelOptions, argument, flag
from forethought.app.errors import ANSWERED, NOT_PASSED, CliError, echo
from forethought.app.options import context_of, settings_from
from forethought.app.trials import TrialOptions, open_collector
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.state.synthesizer import SynthesizerContext
from forethought.storage import address_of

if TYPE_CHECKING:
    from forethought.app.runner import Session
    from forethought.trajectories.tasks import CollectTask

Json = dict[str, Any]
DATABASE = "syntheses.sqlite"
TRIALS = "syntheses"
"""Folder of the data folder: the trials of each synthesis, as `collect` keeps its runs."""
_EXIT_CODES = {"synthesized": ANSWERED, "stopped": NOT_PASSED}
_WORDS = {
    "trials": "tried",
    "reflections": "reflected",
    "labels": "labelled",
    "error_reflections": "reflected",
    "merged": "merged",
}
_CHANNELS: Json = {
    **{name: {} for name in ("tasks", "reflections", "labels", "merged", "problems", "error_reflections")},
    "taxonomy": [],
}


class SynthesizeOptions(TrialOptions, ModelOptions):
    """The flags of `synthesize`."""

    paths: list[Path] = argument(
        help="Tasks as for `collect`, folders from it, or trajectories with outcomes.",
        metavar="TASKS|TRAJECTORIES...",
    )
    out: Path | None = flag(help="Output file; experience needs none.", metavar="FILE")
    into: Literal["records", "guidance", "experience", "planning-errors"] = flag(
        help="What to write; `records` are for `train export`.",
        default="records",
    )
    trials: int | None = flag(help="Maximum trials per task.", metavar="K", min=1, max=20, show_default="3")
    fresh: bool = flag(help="Start over.", default=False)


def synthesize(options: SynthesizeOptions) -> int:
    """Reflect on failed trials at three levels."""
    from forethought.app.offline import OfflineRun, finish, material_id, read_runs
    from forethought.app.runner import open_runner

    if options.out is None and options.into != "experience":
        raise CliError(f"--into {options.into} writes a file: name it with --out FILE")
    if options.out and (
        options.out.is_dir() or options.out.resolve() in {path.resolve() for path in options.paths}
    ):
        raise CliError(f"--out {options.out} is a folder or an input: name another file")
    settings = settings_from(options)
    agent, context = _contexts(options, settings)
    tasks = _tasks(options)
    runs = [] if tasks else [run.loaded for run in read_runs(options.paths)]
    choices: list[Any] = [context.model_dump(exclude={"max_parallel", "max_tokens", "max_usd"})]
    if tasks:
        choices += [agent.model_dump(mode="json"), options.success, options.judge_model]
    id = material_id("synthesize", choices, [*tasks, *runs])
    graph_input = {
        "tasks_file": [task.model_dump(mode="json") for task in tasks],
        "trajectories": [loaded.model_dump(mode="json") for loaded in runs],
    }
    with open_runner(options.as_json) as runner:
        session = _open_session(id, options, settings, context, agent, tasks)
        run = OfflineRun("synthesis", session, graph_input, _CHANNELS, _WORDS)
        result, ending = run.carry_out(runner, options.fresh)
        values = ending.snapshot.values if ending.snapshot else {}
        trials = values.get("trials") or {}
        result["trials"] = {key: {**trial, "stored": None} for key, trial in trials.items()}
        result["outcomes"] = dict(Counter(trial["outcome"] for trial in trials.values()))
        if result["status"] == "synthesized":
            use = _Use(options, settings, agent.experience_namespace, values, id)
            result["out"], next_step = runner.run(use.put())
            if not options.as_json:
                echo(next_step)
        levels = ("reflections", "taxonomy", "error_reflections", "merged")
        counts = {**result["outcomes"], **{name: len(result[name]) for name in levels}}
        return finish(runner, result, ending, counts, _EXIT_CODES)


def _contexts(options: SynthesizeOptions, settings: Settings) -> tuple[Context, SynthesizerContext]:
    """The agent's and the synthesizer's: a --set of the synthesizer's settings is for it, any other for the
    agent. Raises CliError.
    """
    sets = options.sets or []
    own = [item for item in sets if item.partition("=")[0].strip() in SynthesizerContext.model_fields]
    others = [item for item in sets if item not in own]
    agent = context_of(Context, options.model_copy(update={"sets": others}), settings)
    flags = options.model_copy(update={"model": agent.model, "sets": own})
    trials = {} if options.trials is None else {"trials": options.trials}
    return agent, context_of(SynthesizerContext, flags, settings, overrides=trials)


def _tasks(options: SynthesizeOptions) -> Sequence[CollectTask]:
    """The tasks where a tasks file is given, else none. Raises CliError."""
    of_tasks = [path for path in options.paths if _is_tasks_file(path)]
    if not of_tasks:
        return []
    if len(options.paths) > 1:
        raise CliError(f"{of_tasks[0]} is a tasks file: give only this file, or only trajectories")
    return options.read_tasks(of_tasks[0])


def _is_tasks_file(path: Path) -> bool:
    """Whether the first record of a file is a task that can be judged, not a run of one."""
    if path.suffix.lower() == ".csv":
        return True
    try:
        with path.open(encoding="utf-8-sig") as file:
            first = json.loads(next((line for line in file if line.strip()), ""))
    except (OSError, ValueError):
        return False
    runs = {"steps", "trajectory", "messages", "progress"}
    return (
        isinstance(first, dict)
        and isinstance(first.get("task") or first.get("question"), str)
        and not runs & set(first)
    )


@asynccontextmanager
async def _open_session(
    id: str,
    options: SynthesizeOptions,
    settings: Settings,
    context: SynthesizerContext,
    agent: Context,
    tasks: Sequence[CollectTask],
) -> AsyncIterator[Session]:
    """The synthesis's thread, claimed by this process. Raises CliError, ConfigurationError, StorageError."""
    from forethought.app.runner import Session, claimed_threads
    from forethought.graph.synthesizer import build_synthesizer
    from forethought.models import Models

    attempt, folder = None, settings.data_dir / TRIALS / id.partition(":")[2]
    Models(settings).verify([context.model])
    async with AsyncExitStack() as stack:
        opening = claimed_threads(address_of(settings).beside(DATABASE), settings.key, id)
        saver = await stack.enter_async_context(opening)
        if tasks:
            if options.fresh:
                shutil.rmtree(folder, ignore_errors=True)
            trials = open_collector(options, tasks, folder, settings, agent)
            attempt = (await stack.enter_async_context(trials)).attempt
        yield Session(id, saver, build_synthesizer(settings, saver, attempt=attempt), context)


@dataclass(frozen=True)
class _Use:
    """What becomes of a finished synthesis."""

    options: SynthesizeOptions
    settings: Settings
    namespace: str
    """Of the advice."""
    values: Json
    id: str

    async def put(self) -> tuple[str, str]:
        """Write what is asked for; the file ('' for none), and what to do with it. Raises CliError."""
        from forethought.app.synthesis_use import guidance_text, write_planning_errors
        from forethought.json_files import FileError, write_text

        into, out, values = self.options.into, self.options.out, self.values
        if into != "records" and not values.get("error_reflections"):
            raise CliError(
                "no error type recurred in two tasks, so nothing applies to other tasks: add tasks"
            )
        if into == "experience" or out is None:
            return "", await self._keep_advice()
        if into == "records":
            _write_records(out, self.settings, values)
            return str(out), f"next: forethought train export {out} --out DATASET"
        try:
            if into == "guidance":
                write_text(out, guidance_text(values))
                return str(out), f'next: forethought run TASK --guidance "$(cat {out})"'
            written, left_out = write_planning_errors(out, values, self.id)
        except (OSError, FileError) as error:
            raise CliError(f"{out} cannot be written ({error}); repeat the command") from error
        for line in left_out:
            echo(f"left out: {line}")
        if written is None:
            raise CliError("no planning error could be derived from the error types: add tasks")
        return str(written), f"next: read {written}, then set FORETHOUGHT_PLANNING_ERRORS_FILE to it"

    async def _keep_advice(self) -> str:
        from forethought.app.synthesis_use import keep_advice
        from forethought.experience.advice import now_utc
        from forethought.experience.book import Book, namespace_of
        from forethought.redaction import scrubber
        from forethought.storage import open_experience
        from forethought.users import LOCAL_USER

        async with open_experience(address_of(self.settings)) as store:
            book = Book(store, namespace_of(LOCAL_USER, self.namespace))
            kept = await keep_advice(self.values, self.id, book, scrubber(self.settings), now_utc())
        for one in kept:
            echo(f"{one.name} is in quarantine; release it: forethought experience confirm {one.id}")
        return "next: confirm the advice, then forethought run TASK"


def _write_records(out: Path, settings: Settings, values: Json) -> None:
    """Write a record for each merged reflection. Raises CliError; no half-written file is left."""
    from forethought.json_files import write_records
    from forethought.tools.files import FileStore
    from forethought.training.from_synthesis import reflection_records

    try:
        write_records(out, reflection_records(values, FileStore.of(settings)))
    except OSError as error:
        reason = f"{out} cannot be written ({error.strerror or error})"
        raise CliError(f"{reason}; the reflections are saved: repeat the command") from error
