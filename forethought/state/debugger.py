"""The debugger's context and state: plain JSON, as the online graph's is (AgentDebug, algorithm 1)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from forethought.models.types import Usage
from forethought.state.context import ModelName
from forethought.state.offline import Job, OfflineContext
from forethought.state.reducers import add_usage, extend, merge

Json = dict[str, Any]
SearchMethod = Literal["triage", "agentdebug", "direct", "brute_force", "binary_search", "counterfactual"]
RerunMethod = Literal["off", "agentdebug", "self_refine", "vanilla", "best_of_n", "tree_of_thoughts"]
JudgeName = Literal["gold", "model", "person", "environment", "none"]
LABELLED_METHODS: tuple[SearchMethod, ...] = ("triage", "agentdebug", "counterfactual")
"""Methods that stage 1 comes before; the baselines of 4.1 look at the bare run."""
BASELINES: tuple[RerunMethod, ...] = ("self_refine", "vanilla", "best_of_n", "tree_of_thoughts")
"""Downstream baselines of 4.2: they make the run again without a critical error."""
DebugStatus = Literal["running", "fixed", "not_fixed", "found", "not_found", "successful", "failed"]
"""fixed: a re-run succeeded. not_fixed: all re-runs failed. found: a critical error, and no re-run was asked
for. not_found: no critical error. successful: nothing to debug. failed: it could not do its work."""


DEBUGGING_TOKENS = 5_000_000
"""Enough to label 50 steps, the longest run of AgentErrorBench, from full prompts without a cache."""


class DebuggerContext(OfflineContext):
    """Choices of one debugging (4.1, 4.2)."""

    judge_model: ModelName | None = Field(default=None, description="Judge's model.")
    actor_model: ModelName | None = Field(
        default=None, description="Model that acts in an environment's re-runs."
    )
    method: SearchMethod = Field(default="triage", description="How to find the critical error.")
    rerun: RerunMethod = Field(default="off", description="How to run again.")
    judge: JudgeName = Field(
        default="gold",
        description="Who judges runs: the expected answer (gold), a model that knows it, a person, the "
        "environment, or nobody.",
    )
    fine_grained: bool = Field(
        default=True,
        description="Label steps first (stage 1).",
    )
    max_reruns: int = Field(default=5, ge=1, le=20, description="Maximum re-runs, each after a new search.")
    trials: int = Field(
        default=4,
        ge=1,
        le=50,
        description="Continuations per step with method counterfactual; fewer than 4 prove nothing.",
    )
    flip_rate: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description="Share of successful continuations that makes a step critical.",
    )
    max_parallel: int = Field(
        default=16, ge=1, le=64, description="Maximum parallel calls, re-runs or trials."
    )
    window: int = Field(
        default=40,
        ge=5,
        le=200,
        description="Steps per prompt; longer runs are shown in windows.",
    )
    max_observation_chars: int = Field(
        default=4_000, ge=200, le=100_000, description="Characters of each observation in prompts."
    )
    max_tokens: int | None = Field(
        default=DEBUGGING_TOKENS,
        ge=1_000,
        description="Token budget, with re-runs; cached tokens count at their price.",
    )


class Label(TypedDict):
    """One module of one step (stage 1)."""

    error_type: str
    evidence: str
    reasoning: str
    by: Literal["model", "rule"]


class Critical(TypedDict, total=False):
    """The critical error (stage 2), fields as in the reply CriticalError."""

    critical_step: int
    critical_module: str
    error_type: str
    root_cause: str
    evidence: str
    correction_guidance: str
    cascading_effects: list[Json]
    method: str
    """The method that found it."""
    proven: bool
    """Counterfactual only: whether the interval of the corrected runs lies above the control's."""


class Probe(TypedDict, total=False):
    """One step that brute force, binary search or counterfactual mode tried."""

    step: int
    substitution: str
    """The action tried instead; in a control, the original action."""
    control: bool
    """Whether nothing was corrected, to measure how often chance alone succeeds."""
    flips: int
    """Continuations that succeeded."""
    trials: int
    rate: float
    low: float
    high: float
    """95 % confidence interval of the rate (Wilson)."""
    reasoning: str
    diverged: str


class Branch(TypedDict, total=False):
    """One re-run (stage 3), or one attempt of a downstream baseline."""

    attempt: int
    """From 1."""
    branch: str
    """Its permanent name, such as the id of its last checkpoint."""
    from_step: int
    module: str
    guidance: list[str]
    kept: int
    """Steps of the original that were not repeated."""
    steps: list[Json]
    """Steps after those, as TrajectoryStep writes them."""
    answer: str
    status: str
    success: bool
    reason: str
    reward: float | None
    diverged: str
    usage: Usage
    seconds: float


class DebuggerInput(TypedDict, total=False):
    """What a client may send: a thread to be debugged, or a trajectory in any known format."""

    thread_id: str
    """A thread of the same database."""
    trajectory: Json
    """A recorded run in any known format."""
    expect: str
    """The right answer, only for the judge."""


class DebuggerOutput(TypedDict, total=False):
    """What a finished debugging returns."""

    subject: Json
    """The trajectory."""
    verdict: Json
    """{success, reason, by}."""
    labels: Annotated[dict[str, dict[str, Label]], merge]
    """By step number and module (stage 1)."""
    label_problems: Annotated[dict[str, str], merge]
    """Why steps were not labelled."""
    suspects: list[Json]
    """The triage's steps: {reason, step}; empty if all were labelled."""
    critical: Critical
    """The critical error (stage 2)."""
    probes: Annotated[list[Probe], extend]
    """Steps that a search method tried."""
    branches: Annotated[list[Branch], extend]
    """Re-runs (stage 3)."""
    usage: Annotated[dict[str, Usage], add_usage]
    notes: Annotated[list[str], extend]
    """Remarks, such as on a replay that diverged."""
    problem: str
    """Why debugging failed."""
    status: DebugStatus


class DebuggerState(DebuggerInput, DebuggerOutput, total=False):
    """All channels of the debugger's graph."""

    thread: str
    """The debugged thread, if there is one."""
    accepted: list[str]
    """Right answers, shown to the judge alone."""
    wave: list[Job]
    """Steps to label next, in parallel."""
    guidance: list[str]
    """Guidance for the next re-run."""
    attempt: Branch
    """The re-run that awaits its verdict."""
    tree: list[Json]
    """Tree of Thoughts: the candidates of each state, over all attempts."""
