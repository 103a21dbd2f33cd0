"""The state of the synthesizer's graph: plain JSON, as the online graph's is (SAMULE 3.2.1, Algorithm 1).

Trajectories are kept by content hash, not in channels: a checkpoint is written with every call. References
(the accepted results) have a channel of their own, so that what a prompt is made of does not hold them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from forethought.state.offline import Job, LearningOutput, OfflineContext
from forethought.state.reducers import merge

Json = dict[str, Any]
SynthesisStatus = Literal["running", "synthesized", "no_failures", "no_reflections", "stopped"]
"""synthesized: there are final reflections. no_failures: no trial failed. no_reflections: none came of those
that did. stopped: a budget is spent; the same thread goes on with a larger one."""


class TaskRecord(TypedDict):
    """A task whose trials are learned from."""

    task: str
    task_id: str
    """As its source names it; its key where that has no name for it."""


class TrialRecord(TypedDict):
    """One trial of a task, judged as far as it could be."""

    task: str
    """Key of the task."""
    number: int
    """From 1."""
    id: str
    """The trajectory's; unique."""
    outcome: Literal["success", "failure", "unknown"]
    reason: str
    """Why it was judged so ('' where it was read)."""
    background: str
    stored: str
    """Hash of the trajectory."""
    steps: list[int]
    """Numbers of its steps."""


class ErrorType(TypedDict):
    """An entry of the error taxonomy."""

    name: str
    definition: str
    task: str
    """Key of the task whose trials brought it up."""


class Finding(TypedDict):
    """An error type that one step shows, and why."""

    error_type: str
    critique: str


class Labelled(TypedDict):
    """The labels of a stretch of a trial's steps: part of its error path, with the rationale."""

    trial: str
    steps: dict[str, list[Finding]]
    """By the step's number; empty where a step shows no error."""


class ErrorReflection(TypedDict):
    """What recurs in the trajectories of different tasks that show one error type."""

    reflection: str
    cites: list[str]
    """Ids of the trajectories that it rests on: of two tasks or more."""


class SynthesizerInput(TypedDict, total=False):
    """What a client may send: tasks to try, or trajectories. Nothing of it: go on with the thread's
    synthesis."""

    tasks_file: list[Json]
    """Records of a tasks file, as `forethought.trajectories.tasks.CollectTask`; they need a graph that was
    built with a way to try them."""
    trajectories: list[Json]
    """With outcomes and accepted answers, as `forethought.trajectories.types.Loaded`, or in any format that
    can be read."""


class SynthesizerOutput(LearningOutput, total=False):
    """What a finished synthesis returns."""

    seen: dict[str, int]
    """Counts of what was given: tasks, trajectories, unjudged."""
    tasks: dict[str, TaskRecord]
    trials: Annotated[dict[str, TrialRecord], merge]
    """By trial key: the task's key, dot, number (t3.1)."""
    reflections: Annotated[dict[str, str], merge]
    """Micro level, by trial key."""
    taxonomy: list[ErrorType]
    typed: dict[str, str]
    """By task key: what its trials showed about errors, the rationale of its types."""
    labels: Annotated[dict[str, Labelled], merge]
    """Meso level, by trial key, colon, first and last step: t3.1:1-10."""
    error_reflections: Annotated[dict[str, ErrorReflection], merge]
    """Macro level, by the type's name."""
    merged: Annotated[dict[str, str], merge]
    """The final reflections, by trial key."""
    status: SynthesisStatus


class SynthesizerState(SynthesizerInput, SynthesizerOutput, total=False):
    """All channels of the synthesizer's graph. The input's are emptied once they have been taken in."""

    given: dict[str, Json]
    """By task key: the record of the tasks file. Like `references`, for no prompt but the reflection's."""
    references: dict[str, list[str]]
    """By task key: what a right result is. None may stand in a reflection."""
    wave: list[Job]
    """What is worked on next, side by side."""
    pool: list[str]
    """Keys of the trials that the levels above were made from."""


class SynthesizerContext(OfflineContext):
    """Choices of one synthesis."""

    trials: int = Field(
        default=3, ge=1, le=20, description="Trials of a task at most; the first success ends them."
    )
    meso_reference: bool = Field(
        default=False, description="Ablation: the error types and labels are made with the reference in view."
    )
    steps_per_call: int = Field(
        default=10, ge=1, le=100, description="Steps of a trial that one call labels."
    )
    max_cases: int = Field(
        default=12, ge=2, le=50, description="Trajectories that an error type's reflection is written from."
    )
