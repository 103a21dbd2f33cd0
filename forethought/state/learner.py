"""The learner's context and state: from one failed task to one advice."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from forethought.models.types import Usage
from forethought.state.context import ModelName
from forethought.state.debugger import Critical
from forethought.state.offline import OfflineContext
from forethought.state.reducers import add_usage, extend

Json = dict[str, Any]
LearnStatus = Literal["running", "learned", "not_found", "failed"]
"""not_found: the run shows no error, and nobody gave a correction."""


class LearnerContext(OfflineContext):
    """Choices of one learning."""

    retrospective_model: ModelName | None = Field(
        default=None,
        description="Model that reflects on the run first, such as a trained one.",
    )
    runs: int = Field(
        default=3, ge=1, le=20, description="Re-runs of the step with the advice, and as many without it."
    )
    past: int = Field(default=3, ge=0, le=40, description="Past tasks whose plans are made again.")
    max_calls: int = Field(default=12, ge=4, description="Maximum model calls, with re-runs.")
    window: int = Field(default=40, ge=5, le=200, description="Steps that a prompt shows whole.")


class Trial(TypedDict):
    """One decision of the agent that was made again."""

    number: int
    of: Literal["failure", "kind", "success"]
    """The failed task, a past failure of its kind, or a past success."""
    guided: bool
    """Whether the agent had the advice."""
    thread: str
    task: str
    measure: str
    """The plan and the answer of a past success; '' otherwise."""
    text: str
    """The plan, the move or the answer that came of it."""


class Verdict(TypedDict):
    """The judge's verdict on a trial."""

    number: int
    right: bool
    reason: str


class LearnerInput(TypedDict, total=False):
    """What a learning begins with."""

    thread_id: str
    number: int
    """Which task of the thread, from 1."""
    correction: str
    """What a person says is wrong; '' if nobody did."""
    expect: str
    """The right answer, if it is known."""


class LearnerOutput(TypedDict, total=False):
    """What a finished learning returns."""

    critical: Critical
    trials: Annotated[list[Trial], extend]
    verdicts: list[Verdict]
    advice: Json
    """The advice: a draft first, at the end as it was kept."""
    usage: Annotated[dict[str, Usage], add_usage]
    notes: Annotated[list[str], extend]
    problem: str
    """Why it failed."""
    status: LearnStatus


class LearnerState(LearnerInput, LearnerOutput, total=False):
    """All channels of the learner's graph."""

    subject: Json
    """The failed run as a trajectory."""
    tries: list[str]
    """Other answers to the same task."""
    outside: list[str]
    """Origins in the run that somebody else may have written."""
    known: list[str]
    """Ids of earlier advice that the new one includes or contradicts."""
    reruns_left: int
    past: list[Json]
    """Past tasks whose plans are still to be made again."""
