"""The gate before a trained model: adopted only if its reflections rid an agent of more errors than prompted
ones do, on held-out tasks (SAMULE 4.7).

The error-reduction rate is the share of the errors identified before a retry that are gone after it. New
errors do not count in it, as in the paper; they are reported beside it. The result is kept beside the model.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from forethought.json_files import read_object, write_json
from forethought.training.errors import TrainingError
from forethought.training.records import normalized

GATE_FILE = "gate.json"
WEIGHTS = "*.safetensors"
LEAST_TASKS = 5
"""With fewer, an interval over tasks says nothing."""
_RESAMPLES = 2_000
_SIDE = 0.025


class Retry(BaseModel):
    """A failed try and its retry after one reflection; the types of the errors found in each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task_id: str = Field(min_length=1)
    trajectory_id: str = Field(min_length=1)
    """The failed try that was reflected on."""
    task: str = ""
    """The task's text, if it is to be checked too against those that the model was trained on."""
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str]:
        """What the reflections of both models were written on."""
        return self.task_id, self.trajectory_id

    @property
    def gone(self) -> int:
        """Errors that the retry did not have any more."""
        return (Counter(self.before) - Counter(self.after)).total()

    @property
    def new(self) -> int:
        """Errors that only the retry had."""
        return (Counter(self.after) - Counter(self.before)).total()


class Rate(BaseModel):
    """An error-reduction rate with its 95 % bootstrap interval over tasks."""

    rate: float
    low: float
    high: float
    identified: int
    gone: int
    new: int


class GateResult(BaseModel):
    """What the gate found."""

    adopted: bool
    reason: str
    prompted: Rate
    trained: Rate
    difference: tuple[float, float, float]
    """Trained less prompted: value, low and high end of the 95 % interval."""
    tasks: int
    trials: int


@dataclass(frozen=True)
class _Task:
    """Of one task: errors identified, gone after the prompted and after the trained model's reflections."""

    before: int
    prompted: int
    trained: int


def compare(prompted: Sequence[Retry], trained: Sequence[Retry], seed: int = 0) -> GateResult:
    """The verdict on paired trials: the same failed tries, reflected on by either model, then retried.

    Whole tasks are resampled, since the trials of one task are not independent. Adopted if the difference of
    the rates is above 0 with the whole of its interval. Raises TrainingError where the trials are not paired.
    """
    tasks = _paired(prompted, trained)
    generator = random.Random(seed)
    draws = [generator.choices(tasks, k=len(tasks)) for _ in range(_RESAMPLES)]
    samples = [_rates(draw) for draw in draws if any(task.before for task in draw)]
    one, other = _rates(tasks)
    gap = other - one
    low, high = _interval([b - a for a, b in samples])
    reason = _reason(gap, low, len(tasks))
    return GateResult(
        adopted=not reason,
        reason=reason or "the trained model's reflections rid the agent of more errors",
        prompted=_rate(prompted, one, [a for a, _ in samples]),
        trained=_rate(trained, other, [b for _, b in samples]),
        difference=(gap, low, high),
        tasks=len(tasks),
        trials=len(trained),
    )


def check_held_out(trials: Sequence[Retry], task_ids: Sequence[str], tasks: Sequence[str]) -> None:
    """Raises TrainingError where a trial is of a task that the model was trained on."""
    ids, texts = set(task_ids), set(tasks)
    for trial in trials:
        if trial.task_id in ids or (trial.task and normalized(trial.task) in texts):
            raise TrainingError(
                f"task {trial.task_id} was trained on: the gate needs trials on held-out tasks"
            )


def _paired(prompted: Sequence[Retry], trained: Sequence[Retry]) -> list[_Task]:
    first, second = _by_key(prompted, "prompted"), _by_key(trained, "trained")
    if alone := first.keys() ^ second.keys():
        task, trajectory = min(alone)
        raise TrainingError(
            f"both models must be tried on the same failures: {task}, {trajectory} is in one file only"
        )
    sums: dict[str, list[int]] = {}
    for key, one in first.items():
        other = second[key]
        if Counter(one.before) != Counter(other.before):
            raise TrainingError(
                f"the errors before the retry differ between the files for {key[0]}, {key[1]}"
            )
        total = sums.setdefault(one.task_id, [0, 0, 0])
        for at, value in enumerate((len(one.before), one.gone, other.gone)):
            total[at] += value
    if not any(total[0] for total in sums.values()):
        raise TrainingError("no error was identified before the retries, so none can be gone after them")
    return [_Task(*sums[task]) for task in sorted(sums)]


def _by_key(trials: Sequence[Retry], name: str) -> dict[tuple[str, str], Retry]:
    found = {trial.key: trial for trial in trials}
    if len(found) < len(trials):
        raise TrainingError(f"the {name} trials name a failure twice: one retry a trajectory")
    return found


def _rates(tasks: Sequence[_Task]) -> tuple[float, float]:
    before = sum(task.before for task in tasks)
    return sum(task.prompted for task in tasks) / before, sum(task.trained for task in tasks) / before


def _rate(trials: Sequence[Retry], rate: float, samples: Sequence[float]) -> Rate:
    low, high = _interval(samples)
    gone, new = sum(trial.gone for trial in trials), sum(trial.new for trial in trials)
    return Rate(
        rate=rate, low=low, high=high, identified=sum(len(t.before) for t in trials), gone=gone, new=new
    )


def _interval(samples: Sequence[float]) -> tuple[float, float]:
    """The middle 95 % of the samples."""
    ordered = sorted(samples)
    last = len(ordered) - 1
    return ordered[round(_SIDE * last)], ordered[round((1 - _SIDE) * last)]


def _reason(gap: float, low: float, tasks: int) -> str:
    """Why the model is not adopted; '' if it is."""
    if tasks < LEAST_TASKS:
        return f"trials on {tasks} tasks are too few to tell: at least {LEAST_TASKS}"
    if gap <= 0:
        return "the trained model's reflections rid the agent of no more errors than prompted ones"
    if low <= 0:
        return "the difference could be chance: its 95 % interval holds 0; try more held-out tasks"
    return ""


def write_result(model: Path, result: GateResult) -> Path:
    """Write the result into the model's folder."""
    write_json(model / GATE_FILE, result.model_dump(mode="json"))
    return model / GATE_FILE


def check_adopted(model: Path) -> None:
    """Raises TrainingError where the model has not passed the gate."""
    if not (model / GATE_FILE).is_file():
        raise TrainingError("it has not passed the gate")
    result = GateResult.model_validate(read_object(model / GATE_FILE))
    if not result.adopted:
        raise TrainingError(f"the gate did not adopt it: {result.reason}")


def check_weights(model: Path) -> None:
    """Raises TrainingError where the folder holds no weights."""
    if not any(model.glob(WEIGHTS)):
        raise TrainingError(f"{model} holds no weights ({WEIGHTS}): name a trained adapter or a whole model")
