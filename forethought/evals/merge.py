"""Several evaluations of one benchmark side by side: other methods, another model, another budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forethought.evals.results import Evaluation, ResultsError, read_evaluation

_TOLD = (
    "model", "options", "budget", "seconds", "context", "trials", "judge_model", "user_model", "seed",
    "version",
)  # fmt: skip


def read_all(paths: Sequence[Path]) -> list[Evaluation]:
    """The evaluations at `paths`: folders, or an inspect log within one. Raises ResultsError."""
    folders = dict.fromkeys(_folder(path) for path in paths)
    evaluations = [read_evaluation(folder) for folder in folders]
    for evaluation in evaluations:
        if not evaluation.results:
            raise ResultsError(
                f"{evaluation.folder}: no finished sample yet; go on with the same `eval run` command"
            )
    return evaluations


def _folder(path: Path) -> Path:
    return path.parent.parent if path.suffix == ".eval" and path.parent.name == "logs" else path


def merged(evaluations: Sequence[Evaluation]) -> tuple[Evaluation, list[str]]:
    """One evaluation with the methods of all, and what differs between them, a line each.

    A method that several have is named with its folder. Raises ResultsError where they are of different
    benchmarks or metrics, or where a sample's text is not the same in all.
    """
    first, *others = evaluations
    for other in others:
        if (other.run.benchmark, other.run.main_metric) != (first.run.benchmark, first.run.main_metric):
            raise ResultsError(
                f"{other.folder} is of {other.run.benchmark} ({other.run.main_metric}), {first.folder} of "
                f"{first.run.benchmark} ({first.run.main_metric}): compare evaluations of one benchmark"
            )
        known, theirs = first.run.samples, other.run.samples
        if changed := next((id for id in known if theirs.get(id, known[id]) != known[id]), None):
            raise ResultsError(
                f"{other.folder}: the sample {changed} has another text than in {first.folder}: compare "
                "evaluations of the same data"
            )
    names = _names(evaluations)
    results = tuple(
        result.model_copy(update={"method": names[at][result.method]})
        for at, evaluation in enumerate(evaluations)
        for result in evaluation.results
    )
    methods = [names[at][name] for at, evaluation in enumerate(evaluations) for name in evaluation.methods]
    trials = max(evaluation.run.trials for evaluation in evaluations)
    scripted = any(evaluation.run.scripted for evaluation in evaluations)
    models = ", ".join(dict.fromkeys(evaluation.run.model for evaluation in evaluations))
    run = first.run.model_copy(
        update={"methods": methods, "trials": trials, "scripted": scripted, "model": models}
    )
    return Evaluation(first.folder, run, results), _differences(evaluations)


def _names(evaluations: Sequence[Evaluation]) -> list[dict[str, str]]:
    """For each evaluation, what its methods are called beside the others'."""
    used = [name for evaluation in evaluations for name in evaluation.methods]
    labels = [evaluation.folder.resolve().name for evaluation in evaluations]
    if len(set(labels)) < len(labels):
        labels = [str(evaluation.folder) for evaluation in evaluations]
    return [
        {name: name if used.count(name) == 1 else f"{name} ({label})" for name in evaluation.methods}
        for evaluation, label in zip(evaluations, labels, strict=True)
    ]


def _differences(evaluations: Sequence[Evaluation]) -> list[str]:
    """What was not the same, so that a reader knows what else a difference may come from."""
    told = []
    for field in _TOLD:
        values = [getattr(evaluation.run, field) for evaluation in evaluations]
        if any(value != values[0] for value in values):
            shown = "; ".join(
                f"{evaluation.folder.name}: {value}"
                for evaluation, value in zip(evaluations, values, strict=True)
            )
            told.append(f"{field} differs: {shown}")
    return told
