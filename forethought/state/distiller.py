"""The state of the distiller's graph: plain JSON, as the online graph's is (PreFlect 3.2.1).

Trajectories are kept by content hash, not in channels: a checkpoint is written with every call.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from forethought.state.offline import Job, LearningOutput, OfflineContext
from forethought.state.reducers import merge

Json = dict[str, Any]
DistillStatus = Literal["running", "distilled", "no_mixed", "no_errors", "stopped"]
"""distilled: there are errors. no_mixed: no task had both outcomes. no_errors: none was found in those that
had. stopped: a budget is spent; the same thread goes on with a larger one."""


class Run(TypedDict):
    """One run of a task that is compared with its others."""

    label: str
    """F1, F2, ... for failed ones, S1, ... for successful ones."""
    id: str
    """The trajectory's."""
    outcome: Literal["failure", "success"]
    file: str
    """Where it was read from ('' unknown)."""
    source: str
    """The format that it was in."""
    stored: str
    """Hash of its trajectory."""


class MixedTask(TypedDict):
    """A task whose runs had both outcomes."""

    task: str
    runs: list[Run]


class Evidence(TypedDict):
    """A passage of a run, checked to stand there."""

    run: str
    step: int
    quote: str


class Entry(TypedDict):
    """One diagnosed error of one task."""

    key: str
    """Task's key, dot, number: t3.1."""
    task: str
    error_type: str
    description: str
    impact: str
    avoided: str
    failure_evidence: list[Evidence]
    success_evidence: list[Evidence]


class Diagnosis(TypedDict):
    """What the comparison of a task's runs came to."""

    comparison: str
    entries: list[Entry]


class Decision(TypedDict):
    """What became of one entry in the aggregation."""

    entry: str
    decision: Literal["new", "merge", "discard", "failed"]
    name: str
    reasoning: str


class GrownError(TypedDict):
    """An error of the growing set."""

    name: str
    description: str
    entries: list[str]
    """Keys of the entries that it was made of, in their order."""


class WrittenExample(TypedDict):
    """A pattern with where it was observed."""

    text: str
    task: str
    """Key of the task; '' for one that a person wrote."""
    run: str
    """Label of the run within the task."""


class Patterns(TypedDict):
    """An error's patterns, as generated."""

    failures: list[WrittenExample]
    successes: list[WrittenExample]


class DistillerInput(TypedDict, total=False):
    """What a client may send. Nothing of it: go on with the thread's distillation."""

    trajectories: list[Json]
    """Recorded runs with outcomes."""
    files: dict[str, str]
    """Each trajectory's file."""
    exclude: list[str]
    """Evaluation tasks, to refuse."""


class DistillerOutput(LearningOutput, total=False):
    """What a finished distillation returns."""

    seen: dict[str, int]
    """Counts of trajectories and tasks."""
    excluded: list[str]
    """Refused tasks."""
    tasks: dict[str, MixedTask]
    """Tasks whose runs had both outcomes."""
    diagnoses: Annotated[dict[str, Diagnosis], merge]
    """By task."""
    decisions: list[Decision]
    """Whether each error is new, merged or discarded."""
    errors: dict[str, GrownError]
    """By name, in order of appearance."""
    patterns: Annotated[dict[str, Patterns], merge]
    """By error."""
    final: dict[str, Json]
    """By generated name: {name, description, failures, successes, entries}."""
    status: DistillStatus


class DistillerState(DistillerInput, DistillerOutput, total=False):
    """All channels of the distiller's graph. The input's are emptied once they have been taken in."""

    wave: list[Job]
    """Tasks or errors to work on next, in parallel."""


class DistillerContext(OfflineContext):
    """Choices of one distillation."""

    max_runs: int = Field(
        default=6,
        ge=2,
        le=20,
        description="Maximum runs compared per task.",
    )
    max_failures: int = Field(default=6, ge=2, le=20, description="Maximum failure patterns per error.")
    max_successes: int = Field(default=5, ge=1, le=20, description="Maximum success patterns per error.")
    max_cases: int = Field(
        default=12, ge=1, le=50, description="Maximum findings behind an error's patterns."
    )
