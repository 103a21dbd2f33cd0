"""learn PATH: advice from recorded runs, or from trials of tasks, by the papers' algorithms.

Tasks that some runs solved and others did not are distilled (PreFlect 3.2.1). All failed runs are synthesized
(SAMULE 3.2.1, Algorithm 1) if none are mixed, or if `--method` says so.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.app.errors import ANSWERED, NOT_PASSED, CliError, echo, input_errors
from forethought.app.offline import OfflineRun, finish, material_id, read_runs
from forethought.app.options import context_of, settings_from
from forethought.app.runner import Session, claimed_threads, open_runner
from forethought.app.trials import open_collector
from forethought.experience.advice import Advice, advice_id, name_of, now_utc
from forethought.json_files import write_records
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.state.distiller import DistillerContext
from forethought.state.synthesizer import SynthesizerContext
from forethought.storage import address_of
from forethought.text import cut, one_line
from forethought.trajectories.questions import read_questions

if TYPE_CHECKING:
    from forethought.app.learn import LearnOptions
    from forethought.trajectories.tasks import CollectTask

Json = dict[str, Any]
DATABASE = "learnings.sqlite"
TRIALS = "syntheses"
"""Folder of the data folder: the trials of each synthesis, as `collect` keeps its runs."""
_CODES = {"distilled": ANSWERED, "synthesized": ANSWERED, "stopped": NOT_PASSED}
_WORDS = {
    "trials": "tried",
    "reflections": "reflected",
    "labels": "labelled",
    "merged": "merged",
    "error_reflections": "reflected",
    "diagnoses": "diagnosed",
    "errors": "aggregated",
    "patterns": "patterns",
}
_SOURCE = "trajectories"
"""The origin of such advice, which a person has to confirm."""
_TASK_CHARS, _PART_CHARS = 300, 1_000


def learn_runs(paths: Sequence[Path], options: LearnOptions) -> int:
    """Learn from the records at these paths, and keep the advice in quarantine."""
    settings = settings_from(options)
    tasks = _tasks(paths, options)
    runs = [] if tasks else read_runs(paths)
    outcomes: dict[str, set[str]] = {}
    for run in runs:
        outcomes.setdefault(run.loaded.trajectory.task_key, set()).add(run.loaded.reference.outcome)
    is_mixed = any({"success", "failure"} <= seen for seen in outcomes.values())
    method = options.method or ("distill" if is_mixed else "synthesize")
    agent, context = _contexts(options, settings, method)
    if options.records and (options.records.is_dir() or options.records in paths):
        raise CliError(f"--records {options.records} is a folder or an input: name another file")
    if method == "distill" and (tasks or options.records):
        raise CliError("--method distill needs recorded runs, and writes no --records")
    material = [*tasks, *(run.loaded for run in runs)]
    with input_errors():
        exclude = [text for path in options.exclude or () for text in read_questions(path)]
    choices: list[Any] = [
        context.model_dump(exclude={"max_parallel", "max_tokens", "max_usd"}),
        sorted(exclude),
    ]
    if tasks:
        choices += [agent.model_dump(mode="json"), options.success, options.judge_model]
    id = material_id(method, choices, material)
    trajectories = [run.loaded.model_dump(mode="json") for run in runs]
    given: Json = {"trajectories": trajectories}
    if method == "distill":
        given |= {"files": {run.loaded.trajectory.id: run.file for run in runs}, "exclude": exclude}
    else:
        given["tasks_file"] = [task.model_dump(mode="json") for task in tasks]
    with open_runner(options.as_json) as runner:
        session = _open(id, method, options, settings, context, agent, tasks)
        costs = "" if options.yes or method != "distill" else _estimate(given, context, settings)
        channels: Json = {name: {} for name in ("tasks", "merged", "problems", "error_reflections", "final")}
        learning = OfflineRun(method, session, given, channels, _WORDS, estimate=costs)
        result, ending = learning.carry_out(runner, options.fresh)
        values = ending.snapshot.values if ending.snapshot else {}
        advices: list[Advice] = []
        if result["status"] in ("distilled", "synthesized"):
            made = list(_distilled(values, id) if method == "distill" else _synthesized(values, id))
            advices = runner.run(_keep(made, settings, agent.experience_namespace))
            result["out"] = _write(values, options.records, settings) if options.records else ""
        result["advice"] = [advice.model_dump(mode="json") for advice in advices]
        for advice in advices:
            echo(f"{advice.name} is in quarantine; release it: forethought experience confirm {advice.id}")
        result["counts"] = {**_counts(values), "advice": len(advices)}
        return finish(runner, result, ending, result["counts"], _CODES)


def _contexts(options: LearnOptions, settings: Settings, method: str) -> tuple[Context, Any]:
    """The agent's context and the method's: --set goes to the method if it has the setting, else to the
    agent."""
    kind = DistillerContext if method == "distill" else SynthesizerContext
    own = [item for item in options.sets or [] if item.partition("=")[0].strip() in kind.model_fields]
    others = [item for item in options.sets or [] if item not in own]
    agent = context_of(Context, options.model_copy(update={"sets": others}), settings)
    return agent, context_of(kind, options.model_copy(update={"model": agent.model, "sets": own}), settings)


def _tasks(paths: Sequence[Path], options: LearnOptions) -> Sequence[CollectTask]:
    """The tasks if a file of tasks is given, else none."""
    of_tasks = [path for path in paths if path.suffix.lower() == ".csv" or _holds_tasks(path)]
    if of_tasks and len(paths) > 1:
        raise CliError(f"{of_tasks[0]} is a tasks file: give only this file, or only recorded runs")
    return options.read_tasks(of_tasks[0]) if of_tasks else []


def _holds_tasks(path: Path) -> bool:
    """Whether the first record of a file is a task that can be judged, not a run of one."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            first = json.loads(next((line for line in file if line.strip()), ""))
    except (OSError, ValueError):
        return False
    is_run = {"steps", "trajectory", "messages", "progress"} & set(first if isinstance(first, dict) else ())
    return isinstance(first, dict) and not is_run and bool({"task", "question"} & set(first))


def _estimate(given: Json, context: DistillerContext, settings: Settings) -> str:
    from forethought.models import Models
    from forethought.nodes.distiller.take import estimate

    return estimate(given["trajectories"], given["exclude"], context, Models(settings))


@asynccontextmanager
async def _open(
    id: str,
    method: str,
    options: LearnOptions,
    settings: Settings,
    context: Any,
    agent: Context,
    tasks: Sequence[CollectTask],
) -> AsyncIterator[Session]:
    """The thread of the method's graph, claimed by this process."""
    from forethought.graph.distiller import build_distiller
    from forethought.graph.synthesizer import build_synthesizer
    from forethought.models import Models

    Models(settings).verify([context.model])
    async with AsyncExitStack() as stack:
        opening = claimed_threads(address_of(settings).beside(DATABASE), settings.key, id)
        saver = await stack.enter_async_context(opening)
        if method == "distill":
            yield Session(id, saver, build_distiller(settings, saver), context)
            return
        attempt, folder = None, settings.data_dir / TRIALS / id.partition(":")[2]
        if tasks:
            if options.fresh:
                shutil.rmtree(folder, ignore_errors=True)
            trials = open_collector(options, tasks, folder, settings, agent)
            attempt = (await stack.enter_async_context(trials)).attempt
        yield Session(id, saver, build_synthesizer(settings, saver, attempt=attempt), context)


def _counts(values: Mapping[str, Any]) -> dict[str, int]:
    """How many there were at each stage."""
    decisions = [decision["decision"] for decision in values.get("decisions") or []]
    trials = [trial["outcome"] for trial in (values.get("trials") or {}).values()]
    stages = ("diagnoses", "final", "reflections", "taxonomy", "error_reflections", "merged")
    made = {name: len(values[name]) for name in stages if values.get(name)}
    return {**(values.get("seen") or {}), **Counter(trials), **Counter(decisions), **made}


def _distilled(values: Mapping[str, Any], id: str) -> Iterator[Advice]:
    """An advice of each planning error of a distillation."""
    for number, error in enumerate(values["final"].values(), 1):
        keys = dict.fromkeys(item["task"] for item in [*error["failures"], *error["successes"]])
        tasks = [values["tasks"][key]["task"] for key in keys if key in values["tasks"]]
        first = {kind: next((item["text"] for item in error[kind]), "") for kind in ("failures", "successes")}
        instead = first["successes"] or f"Avoid this: {error['description']}"
        yield _advice("distill", id, number, error["name"], tasks, error["description"], instead, first)


def _synthesized(values: Mapping[str, Any], id: str) -> Iterator[Advice]:
    """An advice of each error type that recurred in two tasks; most frequent first."""
    made = values.get("error_reflections") or {}
    types = [error for error in values.get("taxonomy") or [] if error["name"] in made]
    types.sort(key=lambda error: -len(made[error["name"]]["cites"]))
    for number, error in enumerate(types, 1):
        reflection = made[error["name"]]
        cited = [trial["task"] for trial in values["trials"].values() if trial["id"] in reflection["cites"]]
        tasks = [values["tasks"][key]["task"] for key in dict.fromkeys(cited)]
        yield _advice(
            "synthesize", id, number, error["name"], tasks, error["definition"], reflection["reflection"], {}
        )


def _advice(
    source: Any,
    id: str,
    number: int,
    name: str,
    tasks: Sequence[str],
    wrong: str,
    instead: str,
    examples: Mapping[str, str],
) -> Advice:
    return Advice(
        id=advice_id(id, number),
        name=name_of(name),
        kind="error",
        applies=one_line("; ".join(cut(task, _TASK_CHARS) for task in tasks) or name, _PART_CHARS),
        wrong=cut(wrong, _PART_CHARS),
        instead=cut(instead, _PART_CHARS),
        failure=cut(examples.get("failures", ""), _PART_CHARS),
        success=cut(examples.get("successes", ""), _PART_CHARS),
        state="quarantined",
        source=source,
        level="macro",
        thread=id,
        number=number,
        origin=_SOURCE,
        outside=[_SOURCE],
        made=now_utc(),
    )


async def _keep(made: Sequence[Advice], settings: Settings, namespace: str) -> list[Advice]:
    """Keep the advice that is new, without secrets."""
    from forethought.app.experience import open_own_book
    from forethought.redaction import scrubber

    scrub: Callable[[str], str] = scrubber(settings)
    kept = []
    async with open_own_book(settings, namespace) as book:
        for advice in made:
            if await book.get(advice.id) is None:
                parts = {name: scrub(getattr(advice, name)) for name in ("applies", "wrong", "instead")}
                parts |= {name: scrub(getattr(advice, name)) for name in ("failure", "success")}
                await book.put(advice := advice.model_copy(update=parts))
                kept.append(advice)
    return kept


def _write(values: Json, records: Path, settings: Settings) -> str:
    """Write a record for each merged reflection. Raises CliError."""
    from forethought.tools.files import FileStore
    from forethought.training.from_synthesis import reflection_records

    try:
        write_records(records, reflection_records(values, FileStore.of(settings)))
    except OSError as error:
        reason = f"{records} cannot be written ({error.strerror or error})"
        raise CliError(f"{reason}; the reflections are saved: repeat the command") from error
    echo(f"next: forethought train export {records} --out DATASET")
    return str(records)
