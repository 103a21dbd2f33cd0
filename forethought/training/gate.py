"""The gate before a trained model: adopted only if its reflections rid an agent of more errors than prompted
ones do, on held-out tasks (SAMULE 4.7).

The error-reduction rate is the share of the errors identified before a retry that are gone after it. New
errors do not count in it, as in the paper; they are reported beside it. The result is kept beside the model.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from forethought.json_files import read_object, write_json
from forethought.training.errors import TrainingError
from forethought.trajectories.questions import normalised

GATE_FILE = "gate.json"
WEIGHTS = "*.safetensors"
LEAST_TASKS = 5
"""Minimum tasks for a meaningful interval."""
_RESAMPLES = 2_000
_SIDE = 0.025


class Retry(BaseModel):
    """A failed try and its retry after one reflection; the types of the errors found in each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task_id: str = Field(min_length=1)
    trajectory_id: str = Field(min_length=1)
    """The failed run that the reflection is about."""
    task: str = ""
    """The task's text, to compare it with the training tasks ('': compare the id only)."""
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def gone(self) -> int:
        """Errors that the retry did not have any more."""
        return (Counter(self.before) - Counter(self.after)).total()

    @property
    def new(self) -> int:
        """Errors that only the retry had."""
        return (Counter(self.after) - Counter(self.before)).total()


class Rate(BaseModel):
    """An error-reduction rate and its counts."""

    rate: float
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
    """Trained minus prompted: value, low and high end of the 95 % bootstrap interval over tasks."""
    tasks: int
    trials: int


def compare(prompted: Sequence[Retry], trained: Sequence[Retry], seed: int = 0) -> GateResult:
    """The verdict on paired trials: the same failed tries, reflected on by either model, then retried.

    Whole tasks are resampled, since the trials of one task are not independent. Adopted if the difference of
    the rates is above 0 with the whole of its interval. Raises TrainingError where the trials are not paired.
    """
    tasks = _sums_by_task(prompted, trained)
    generator = random.Random(seed)
    draws = [generator.choices(tasks, k=len(tasks)) for _ in range(_RESAMPLES)]
    gaps = sorted(_gap(draw) for draw in draws if any(before for before, _ in draw))
    gap, low = _gap(tasks), gaps[round(_SIDE * (len(gaps) - 1))]
    high = gaps[round((1 - _SIDE) * (len(gaps) - 1))]
    reason = _reason(gap, low, len(tasks))
    return GateResult(
        adopted=not reason,
        reason=reason or "the trained model's reflections prevent more errors",
        prompted=rate_of(prompted),
        trained=rate_of(trained),
        difference=(gap, low, high),
        tasks=len(tasks),
        trials=len(trained),
    )


def check_held_out(trials: Sequence[Retry], task_ids: Sequence[str], tasks: Sequence[str]) -> None:
    """Raises TrainingError where a trial is of a task that the model was trained on."""
    ids, texts = set(task_ids), set(tasks)
    for trial in trials:
        if trial.task_id in ids or (trial.task and normalised(trial.task) in texts):
            raise TrainingError(
                f"task {trial.task_id} is a training task: give the gate trials on held-out tasks"
            )


def _sums_by_task(prompted: Sequence[Retry], trained: Sequence[Retry]) -> list[tuple[int, int]]:
    """Of each task: errors identified, and how many more of them the trained model's reflections removed."""
    first, second = (
        {(trial.task_id, trial.trajectory_id): trial for trial in trials} for trials in (prompted, trained)
    )
    if len(first) < len(prompted) or len(second) < len(trained):
        raise TrainingError("the trials contain two retries of a trajectory: give one retry for each")
    if alone := first.keys() ^ second.keys():
        task, trajectory = min(alone)
        raise TrainingError(
            f"both files must contain the same failures, but {task}, {trajectory} is in only one of them"
        )
    sums: dict[str, tuple[int, int]] = {}
    for (task, _), one in sorted(first.items()):
        other = second[task, one.trajectory_id]
        if Counter(one.before) != Counter(other.before):
            raise TrainingError(
                f"the two files disagree on the errors before the retry of {task}, {one.trajectory_id}: "
                "make both from the same failures"
            )
        before, gain = sums.get(task, (0, 0))
        sums[task] = before + len(one.before), gain + other.gone - one.gone
    if not any(before for before, _ in sums.values()):
        raise TrainingError(
            "the trials have no errors before the retries, so there is nothing to compare: give others"
        )
    return list(sums.values())


def _gap(tasks: Sequence[tuple[int, int]]) -> float:
    return sum(gain for _, gain in tasks) / sum(before for before, _ in tasks)


def rate_of(trials: Sequence[Retry]) -> Rate:
    """The share of the errors that are gone; 0 where none was identified."""
    identified, gone = sum(len(trial.before) for trial in trials), sum(trial.gone for trial in trials)
    new = sum(trial.new for trial in trials)
    return Rate(rate=gone / identified if identified else 0.0, identified=identified, gone=gone, new=new)


def _reason(gap: float, low: float, tasks: int) -> str:
    """Why the model is not adopted; '' if it is."""
    if tasks < LEAST_TASKS:
        return f"trials on {tasks} tasks are too few; give trials on at least {LEAST_TASKS}"
    if gap <= 0:
        return "the trained model's reflections prevent no more errors than prompted ones"
    if low <= 0:
        return "the difference may be chance (its 95 % interval includes 0); try more held-out tasks"
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
        raise TrainingError(f"the gate rejected it: {result.reason}")


def check_weights(model: Path) -> None:
    """Raises TrainingError where the folder holds no weights."""
    if not any(model.glob(WEIGHTS)):
        raise TrainingError(f"{model} has no weights ({WEIGHTS}): name a trained adapter or a full model")
