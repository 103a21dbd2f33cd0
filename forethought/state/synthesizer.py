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
    """Its id in the source, or its key."""


class TrialRecord(TypedDict):
    """One trial of a task, judged as far as it could be."""

    task: str
    """Key of the task."""
    number: int
    """From 1."""
    id: str
    """The trajectory's unique id."""
    outcome: Literal["success", "failure", "unknown"]
    reason: str
    """Why it was judged so ('' if the source recorded the outcome)."""
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
    """Records of a tasks file, to try."""
    trajectories: list[Json]
    """Recorded runs with outcomes and accepted answers."""


class SynthesizerOutput(LearningOutput, total=False):
    """What a finished synthesis returns."""

    seen: dict[str, int]
    """Counts of tasks and trajectories."""
    tasks: dict[str, TaskRecord]
    trials: Annotated[dict[str, TrialRecord], merge]
    """By task key, dot, number."""
    reflections: Annotated[dict[str, str], merge]
    """Micro level, by trial."""
    taxonomy: list[ErrorType]
    typed: dict[str, str]
    """Why these error types, by task."""
    labels: Annotated[dict[str, Labelled], merge]
    """Meso level, by trial and steps: t3.1:1-10."""
    error_reflections: Annotated[dict[str, ErrorReflection], merge]
    """Macro level, by error type."""
    merged: Annotated[dict[str, str], merge]
    """Final reflections, by trial."""
    status: SynthesisStatus


class SynthesizerState(SynthesizerInput, SynthesizerOutput, total=False):
    """All channels of the synthesizer's graph. The input's are emptied once they have been taken in."""

    given: dict[str, Json]
    """Records of the tasks file by task, only for the micro reflection's prompt."""
    references: dict[str, list[str]]
    """Right results by task. No reflection may contain one."""
    wave: list[Job]
    """What to work on next, in parallel."""
    pool: list[str]
    """Trials that the upper levels use."""


class SynthesizerContext(OfflineContext):
    """Choices of one synthesis."""

    trials: int = Field(
        default=3, ge=1, le=20, description="Maximum trials per task; the first success ends them."
    )
    meso_reference: bool = Field(
        default=False, description="Ablation: show the reference while making error types and labels."
    )
    steps_per_call: int = Field(default=10, ge=1, le=100, description="Steps to label per call.")
    max_cases: int = Field(
        default=12, ge=2, le=50, description="Maximum trajectories behind an error type's reflection."
    )
