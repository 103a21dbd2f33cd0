"""What an evaluation left in its folder: run.json, and a line of results.jsonl for each trial of a sample."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forethought.json_files import read_object
from forethought.models.allowance import tokens_of, total
from forethought.models.types import Usage, no_usage
from forethought.state.cost import CostRow

RUN_FILE, RESULTS_FILE = "run.json", "results.jsonl"
UNSCORED = "unscored"
"""Label of a trial that cannot be scored here."""


class ResultsError(ValueError):
    """A folder that holds no evaluation, or a damaged one: one line that says what to do."""


class _Record(BaseModel):
    # What a later version adds is kept out, not refused: old folders can be read, and so can newer ones.
    model_config = ConfigDict(frozen=True, extra="ignore")


class RunBudget(_Record):
    """What one sample may cost."""

    max_steps: int
    max_tokens: int
    tries: int | None = None


class Run(_Record):
    """What was evaluated, and how."""

    benchmark: str
    title: str = ""
    main_metric: str
    options: dict[str, str] = Field(default_factory=dict)
    methods: list[str]
    trials: int = Field(default=1, ge=1)
    limit: int | None = None
    seed: int = 0
    model: str
    judge_model: str = ""
    user_model: str = ""
    budget: RunBudget
    seconds: float | None = None
    context: dict[str, Any] = Field(default_factory=dict)
    """What `--set` chose for our agent."""
    samples: dict[str, str] = Field(default_factory=dict, exclude=True)
    """The hash of each sample's text."""
    begun: str = ""
    scripted: bool = False
    learned_for: dict[str, int] = Field(default_factory=dict)
    """Tokens that each method used for learning from training samples."""
    """Whether the model was a script, so that the figures describe no model."""
    version: str = ""


class Result(_Record):
    """One trial of one sample with one method."""

    method: str
    sample: str
    trial: int = Field(ge=1)
    groups: dict[str, str] = Field(default_factory=dict)
    values: dict[str, float] = Field(default_factory=dict)
    score: float | None
    """The main metric; None if it could not run (`error` says why)."""
    label: str = ""
    explanation: str = ""
    answer: str = ""
    status: str = ""
    error: str = ""
    usage: Usage
    judge_usage: Usage = Field(default_factory=lambda: Usage())
    seconds: float = 0.0
    steps: int = 0
    reward: float | None = None
    tries: int = 1
    self_scores: dict[str, list[float]] = Field(default_factory=dict)
    plan_errors: list[list[str]] = Field(default_factory=list)
    retries: list[dict[str, Any]] = Field(default_factory=list)
    costs: list[CostRow] = Field(default_factory=list)
    floor: float | None = None
    thread: str = ""
    trajectory: str = ""
    asked_outcome: bool = False

    @property
    def tried(self) -> bool:
        """Whether the trial is over: it has a score, or can have none here."""
        return self.score is not None or self.label == UNSCORED

    @property
    def tokens(self) -> int:
        """Input and output tokens of the method's own calls."""
        return self.usage.get("input_tokens", 0) + self.usage.get("output_tokens", 0)

    @property
    def usd(self) -> float | None:
        """Dollars of the method's own calls; None where a call has no known price."""
        return None if self.usage.get("unpriced") else self.usage.get("usd", 0.0)


@dataclass(frozen=True)
class Evaluation:
    """A run and its results: of each (method, sample, trial) the last line counts."""

    folder: Path
    run: Run
    results: tuple[Result, ...]
    spent: Usage = field(default_factory=no_usage)
    """Usage of all trials, repeated ones included."""

    def of(self, method: str) -> list[Result]:
        """The results of a method that have a score."""
        return [result for result in self.results if result.method == method and result.score is not None]

    def failures(self, method: str) -> list[Result]:
        """The trials that could not be tried."""
        return [result for result in self.results if result.method == method and not result.tried]

    def unscored(self, method: str) -> list[Result]:
        """The trials that were tried, and that nobody here can score."""
        return [
            result
            for result in self.results
            if result.method == method and result.tried and result.score is None
        ]

    @property
    def methods(self) -> list[str]:
        """The methods with results, in the run's order."""
        seen = dict.fromkeys(result.method for result in self.results)
        return [*(name for name in self.run.methods if name in seen), *(seen.keys() - set(self.run.methods))]


def read_evaluation(folder: Path) -> Evaluation:
    """The evaluation in `folder`. Reads the disk. Raises ResultsError.

    A last line that was cut off by a kill is left out: its sample is run again when the evaluation goes on.
    """
    run_path, path = folder / RUN_FILE, folder / RESULTS_FILE
    if not run_path.exists():
        raise ResultsError(
            f"{folder}: no {RUN_FILE} in this folder; give one that `forethought eval run` wrote"
        )
    try:
        run = Run.model_validate_json(run_path.read_bytes())
        lines = path.read_bytes().split(b"\n") if path.exists() else []
    except OSError as error:
        raise ResultsError(f"{error.filename}: cannot be read ({error.strerror or error})") from error
    except ValidationError as error:
        raise ResultsError(
            f"{run_path}: {_first(error)}; the evaluation is damaged: name another folder"
        ) from error
    costs = {
        path.stem: tokens_of(read_object(path).get("usage") or {}) for path in folder.glob("learned/*.json")
    }
    run = run.model_copy(update={"learned_for": costs})
    latest: dict[tuple[str, str, int], Result] = {}
    spent = no_usage()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            result = Result.model_validate(json.loads(line))
        except (ValueError, RecursionError) as error:
            if number == len(lines) and not isinstance(error, ValidationError):
                continue
            why = _first(error) if isinstance(error, ValidationError) else "broken JSON"
            raise ResultsError(f"{path}:{number}: {why}; remove the line to repeat its trial") from error
        latest[result.method, result.sample, result.trial] = result
        spent = total(spent, result.usage, result.judge_usage)
    return Evaluation(folder, run, tuple(latest.values()), spent)


def read_evaluations(paths: Sequence[Path]) -> list[Evaluation]:
    """The evaluations at `paths`: folders, or an inspect log within one. Raises ResultsError."""
    folders = dict.fromkeys(
        path.parent.parent if path.suffix == ".eval" and path.parent.name == "logs" else path
        for path in paths
    )
    evaluations = [read_evaluation(folder) for folder in folders]
    for evaluation in evaluations:
        if not evaluation.results:
            raise ResultsError(
                f"{evaluation.folder}: no finished sample yet; repeat the `eval run` command to continue"
            )
    return evaluations


def _first(error: ValidationError) -> str:
    item = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, item['loc'])) or 'the record'}: {item['msg']}"


def by_sample(results: Iterable[Result]) -> dict[str, list[Result]]:
    """A method's results by sample, trials in order."""
    grouped: dict[str, list[Result]] = {}
    for result in sorted(results, key=lambda item: (item.sample, item.trial)):
        grouped.setdefault(result.sample, []).append(result)
    return grouped


def mean_by_sample(results: Iterable[Result], metric: str = "") -> dict[str, float]:
    """Each sample's mean over its trials of `metric` (the main one by default)."""
    means: dict[str, float] = {}
    for sample, trials in by_sample(results).items():
        values = [value_of(result, metric) for result in trials]
        known = [value for value in values if value is not None]
        if known:
            means[sample] = sum(known) / len(known)
    return means


def value_of(result: Result, metric: str = "") -> float | None:
    """The result's value of a metric; None where it has none."""
    return result.values.get(metric) if metric else result.score


def metrics_of(results: Sequence[Result]) -> list[str]:
    """The names of all metrics, in the order in which they are met."""
    return list(dict.fromkeys(name for result in results for name in result.values))


def as_json_text(value: Any) -> str:
    """Readable JSON that any reader takes."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


_COMPARED = (
    "model", "options", "budget", "seconds", "context", "trials", "judge_model", "user_model", "seed",
    "version",
)  # fmt: skip


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
                f"{other.folder}: the text of sample {changed} differs from that in {first.folder}: "
                "compare evaluations of the same data"
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
    learned = {
        names[at][name]: tokens
        for at, evaluation in enumerate(evaluations)
        for name, tokens in evaluation.run.learned_for.items()
        if name in names[at]
    }
    same = {"methods": methods, "trials": trials, "scripted": scripted, "model": models}
    run = first.run.model_copy(update={**same, "learned_for": learned})
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
    lines = []
    for name in _COMPARED:
        values = [getattr(evaluation.run, name) for evaluation in evaluations]
        if any(value != values[0] for value in values):
            shown = "; ".join(
                f"{evaluation.folder.name}: {value}"
                for evaluation, value in zip(evaluations, values, strict=True)
            )
            lines.append(f"{name} differs: {shown}")
    return lines
