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

    judge_model: ModelName | None = Field(
        default=None, description="Model that judges answers; empty: `model`."
    )
    actor_model: ModelName | None = Field(
        default=None, description="Model that acts in re-runs in an environment; empty: `model`."
    )
    method: SearchMethod = Field(default="triage", description="How the critical error is found.")
    rerun: RerunMethod = Field(default="off", description="Whether and how the run is made again.")
    judge: JudgeName = Field(
        default="gold",
        description="Who says whether a run succeeded: the expected answer, a model that knows it, a person, "
        "the environment, or nobody (only without re-runs).",
    )
    fine_grained: bool = Field(
        default=True,
        description="Stage 1, labels of steps; off: its ablation, the critical error from the bare run.",
    )
    max_reruns: int = Field(
        default=5, ge=1, le=20, description="Re-runs, each after a new look for the error (N = 5)."
    )
    trials: int = Field(
        default=4,
        ge=1,
        le=50,
        description="Continuations a step in counterfactual mode; fewer than 4 prove nothing.",
    )
    flip_rate: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description="Share of continuations that must succeed for a step to be critical.",
    )
    max_parallel: int = Field(default=16, ge=1, le=64, description="Calls side by side.")
    window: int = Field(
        default=40,
        ge=5,
        le=200,
        description="Steps shown whole in one prompt; a longer run is shown by windows.",
    )
    max_observation_chars: int = Field(
        default=4_000, ge=200, le=100_000, description="Characters of an observation that a prompt shows."
    )
    max_tokens: int | None = Field(
        default=DEBUGGING_TOKENS,
        ge=1_000,
        description="Tokens of it, re-runs included; cached ones count at what they cost.",
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
    """How it was found: triage, agentdebug, direct, brute_force, binary_search, counterfactual."""
    proven: bool
    """Of counterfactual: whether the interval of the corrected runs lies above that of the control."""


class Probe(TypedDict, total=False):
    """One step that brute force, binary search or counterfactual mode tried."""

    step: int
    substitution: str
    """What stood in the place of the step's action; for a control, that action itself."""
    control: bool
    """Whether nothing was corrected: how often the run turns out well by chance."""
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
    """Its name for good, such as the id of its last checkpoint."""
    from_step: int
    module: str
    guidance: list[str]
    kept: int
    """Steps of the original that were not executed again."""
    steps: list[Json]
    """Steps after the kept ones, as TrajectoryStep writes them."""
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
    """A thread of the agent's, on the same server or in the same database."""
    trajectory: Json
    """A trajectory: the validated form, or any format that can be read."""
    expect: str
    """The answer that a right run would have given; kept from every model but the judge."""


class DebuggerOutput(TypedDict, total=False):
    """What a finished debugging returns."""

    subject: Json
    """The validated trajectory (`forethought.trajectories.types.Trajectory`)."""
    verdict: Json
    """What the evaluator said of it: {success, reason, by}."""
    labels: Annotated[dict[str, dict[str, Label]], merge]
    """By step number, by module (stage 1)."""
    label_problems: Annotated[dict[str, str], merge]
    """Steps that were not examined, and why."""
    suspects: list[Json]
    """The steps that the triage has labelled: {reason, step}; empty where all are."""
    critical: Critical
    probes: Annotated[list[Probe], extend]
    branches: Annotated[list[Branch], extend]
    usage: Annotated[dict[str, Usage], add_usage]
    notes: Annotated[list[str], extend]
    """What a reader should know, such as a replay that diverged."""
    problem: str
    """Why the debugger could not do its work."""
    status: DebugStatus


class DebuggerState(DebuggerInput, DebuggerOutput, total=False):
    """All channels of the debugger's graph."""

    thread: str
    """The thread that is debugged, where it is one."""
    accepted: list[str]
    """Answers of a right run, from `expect` or the trajectory's file; kept from every model but the judge."""
    wave: list[Job]
    """The steps that are labelled next, side by side."""
    guidance: list[str]
    """Guidance of the next re-run."""
    attempt: Branch
    """The re-run that waits for its verdict; empty when none does."""
    tree: list[Json]
    """Tree of Thoughts: the candidates of each state that it came to, over all attempts."""
