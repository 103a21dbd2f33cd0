"""AgentErrorBench: failed runs whose critical error people have labelled (AgentDebug 2.2, 4.1, Table 1).

A sample asks for the critical error of one run. The methods `debugger*` answer with this project's debugger
and the baselines of Table 1; any other method can be asked too.

A file of labels is a list of {trajectory_id, critical_failure_step, critical_failure_module,
step_annotations: [{step, MODULE: {failure_type, reasoning}}]}; a run in any other known format may hold its
annotation itself. Step: the step agrees. Step and module: both agree. All correct: step, module and error
type agree. Where nothing was found, nothing agrees.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from forethought.evals import critical_error_task
from forethought.evals.benchmarks.reading import Source, check_unique
from forethought.evals.types import Attempt, Benchmark, DataError, Sample, Score, Services
from forethought.knowledge.error_taxonomy import Taxonomy, load_taxonomy
from forethought.state.debugger import DEBUGGING_TOKENS
from forethought.trajectories.agent_error_bench import STEP_KEYS, is_labels
from forethought.trajectories.read import candidates, read_json, read_trajectories
from forethought.trajectories.types import Annotation, Loaded
from forethought.trajectories.values import Json, first, items, mapping, text

SOURCE = Source(
    "AgentErrorBench (MIT licence) is on the Google Drive that https://github.com/ulab-uiuc/AgentDebug links "
    "to: put its trajectories and label files into that folder"
)
MEASURES = ("step", "step_and_module", "all_correct")
_MODULE_KEYS = ("critical_failure_module", "critical_module")
_TYPE_KEYS = ("failure_type", "critical_failure_type", "error_type")


class AgentErrorBench(Benchmark):
    """See the module."""

    name = "agent-error-bench"
    title = "AgentErrorBench"
    about = (
        "200 failed runs of ALFWorld, WebShop and GAIA with their critical errors; MIT; AgentDebug Table 1"
    )
    main_metric = "all_correct"
    options: Mapping[str, str] = {"environment": "alfworld, gaia or webshop (default: all)"}
    tokens = DEBUGGING_TOKENS

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """See `Benchmark`."""
        try:
            runs = _annotated_runs(data, load_taxonomy())
        except ValueError as error:
            raise DataError(f"{error}. {SOURCE.where}") from error
        samples = [_sample(loaded) for loaded in runs]
        check_unique([sample.id for sample in samples], data, SOURCE)
        wanted = options.get("environment")
        known = sorted({sample.groups["environment"] for sample in samples})
        if wanted is not None and wanted not in known:
            raise DataError(f"option environment={wanted}: the data has {', '.join(known)}")
        return [sample for sample in samples if wanted in (None, sample.groups["environment"])]

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """Table 1's three measures, each 0 or 1."""
        taxonomy = load_taxonomy()
        known = Annotation.model_validate(sample.target)
        annotation = critical_error_task.read_answer(attempt.answer, taxonomy)
        values = {name: float(agrees) for name, agrees in _agreement(annotation, known, taxonomy).items()}
        return Score(values, f"found: {_short(annotation)}; labelled: {_short(known)}")

    def summary(self, scored: Sequence[tuple[Sample, Sequence[Score]]]) -> Mapping[str, float]:
        """Table 1's Average: the mean over environments, whatever their sizes."""
        by_environment: dict[str, list[Score]] = {}
        for sample, scores in scored:
            by_environment.setdefault(sample.groups["environment"], []).extend(scores)
        rows = [scores for scores in by_environment.values() if scores]
        return {
            f"average_{measure}": sum(_mean(measure, scores) for scores in rows) / len(rows)
            for measure in MEASURES
            if rows
        }


def _mean(measure: str, scores: Sequence[Score]) -> float:
    return sum(score.values[measure] for score in scores) / len(scores)


def _sample(loaded: Loaded) -> Sample:
    assert loaded.reference.annotation is not None
    run = loaded.trajectory
    return Sample(
        id=re.sub(r"[^A-Za-z0-9._-]+", "-", run.id)[:150],
        task=critical_error_task.question(run, load_taxonomy()),
        answer_format=critical_error_task.ANSWER_FORMAT,
        target=loaded.reference.annotation.model_dump(),
        groups={"environment": run.environment.casefold() or "unknown"},
    )


def _short(found: Annotation | None) -> str:
    return f"step {found.critical_step}, {found.critical_module} {found.error_type}" if found else "nothing"


def _annotated_runs(folder: Path, taxonomy: Taxonomy) -> list[Loaded]:
    """The runs in `folder` that are annotated. Raises ValueError, in one line that says what to do."""
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such folder; give one with trajectories and their annotations")
    known: dict[str, Annotation] = {}
    for file in candidates(folder, (".json", ".jsonl")):
        value = read_json(file)
        if is_labels(value):
            for number, row in enumerate(map(mapping, items(value)), 1):
                try:
                    known[text(row.get("trajectory_id"))] = _annotation(row, taxonomy)
                except ValueError as error:
                    raise ValueError(f"{file}: label {number}: {error}") from error
    runs = [_with_label(loaded, known) for loaded in read_trajectories(folder)]
    annotated = [loaded for loaded in runs if loaded.reference.annotation]
    if not annotated:
        raise ValueError(
            f"{folder}: no trajectory has an annotation; add a JSON list of trajectory_id (its id or file's "
            "name), critical_failure_step, ..."
        )
    return annotated


def _with_label(loaded: Loaded, known: Mapping[str, Annotation]) -> Loaded:
    annotation = known.get(loaded.trajectory.id)
    if annotation is None:
        return loaded
    numbers = {step.number for step in loaded.trajectory.steps}
    if annotation.critical_step not in numbers:
        there = f"correct its label: it has {len(numbers)} steps"
        raise ValueError(f"{loaded.trajectory.id}: no step {annotation.critical_step} to annotate; {there}")
    reference = loaded.reference.model_copy(update={"annotation": annotation})
    return loaded.model_copy(update={"reference": reference})


def _annotation(row: Json, taxonomy: Taxonomy) -> Annotation:
    """A label, in the taxonomy's names where it knows them. Raises ValueError."""
    step, named = text(first(row, *STEP_KEYS)).strip(), text(first(row, *_MODULE_KEYS)).strip()
    if not re.fullmatch(r"[1-9]\d{0,8}", step):
        raise ValueError(f"{STEP_KEYS[0]} must be a step's number from 1, not {step[:40]!r}")
    module = taxonomy.module(named)
    if module is None:
        raise ValueError(
            f"{_MODULE_KEYS[0]} {named[:40]!r} is not a module; use memory, reflection, planning, "
            "action or system"
        )
    notes = map(mapping, items(row.get("step_annotations")))
    details = [row, *(mapping(each.get(named)) for each in notes if text(each.get("step")) == step)]
    kind = next((name for each in details if (name := text(first(each, *_TYPE_KEYS)).strip())), "")
    # A type that the taxonomy does not know is kept as it is: it counts as a label that nobody can meet.
    canonical = taxonomy.resolve(named, kind) or kind
    return Annotation(critical_step=int(step), critical_module=module, error_type=canonical)


def _agreement(found: Annotation | None, known: Annotation, taxonomy: Taxonomy) -> dict[str, bool]:
    """Table 1's measures of what was found (None: nothing). Two spellings of one error type agree."""
    step = found is not None and found.critical_step == known.critical_step
    module = found is not None and step and found.critical_module == known.critical_module
    kind = found is not None and module and _type(found, taxonomy) == _type(known, taxonomy)
    return dict(zip(MEASURES, (step, module, kind), strict=True))


def _type(annotation: Annotation, taxonomy: Taxonomy) -> str:
    name = annotation.error_type.strip().casefold()
    return taxonomy.resolve(annotation.critical_module, name) or name


BENCHMARK = AgentErrorBench()
