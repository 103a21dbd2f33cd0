"""The state of the debugger's graph: plain JSON, as the online graph's is (AgentDebug, algorithm 1)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from typing_extensions import TypedDict

from forethought.models.types import Usage
from forethought.state.reducers import add_usage, extend, merge

Json = dict[str, Any]
DebugStatus = Literal["running", "fixed", "not_fixed", "found", "not_found", "successful", "failed"]
"""fixed: a re-run succeeded. not_fixed: all re-runs failed. found: a critical error, and no re-run was asked
for. not_found: no critical error. successful: nothing to debug. failed: it could not do its work."""


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
    """How it was found: agentdebug, direct, brute_force, binary_search, counterfactual."""


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


class LabelDispatch(TypedDict):
    """Which step a `label_step` is for; it reads the rest of the state itself."""

    step: int


class DebuggerInput(TypedDict, total=False):
    """What a client may send: a thread to be debugged, or a trajectory in any known format."""

    thread_id: str
    """A thread of the agent's, on the same server or in the same database."""
    trajectory: Json
    """A trajectory: the validated form, or any format that can be read."""
    expect: str
    """The answer that a right run would have given; kept from every model but the judge."""


class DebuggerState(DebuggerInput, total=False):
    """All channels of the debugger's graph."""

    thread: str
    """The thread that is debugged, where it is one."""
    subject: Json
    """The validated trajectory (`forethought.trajectories.types.Trajectory`)."""
    accepted: list[str]
    """Answers of a right run, from `expect` or the trajectory's file; kept from every model but the judge."""
    verdict: Json
    """What the evaluator said of it: {success, reason, by}."""
    wave: list[int]
    """Numbers of the steps that are labelled next, side by side."""
    labels: Annotated[dict[str, dict[str, Label]], merge]
    """By step number, by module (stage 1)."""
    label_problems: Annotated[dict[str, str], merge]
    """Steps that could not be labelled, and why."""
    critical: Critical
    probes: Annotated[list[Probe], extend]
    guidance: list[str]
    """Guidance of the next re-run."""
    attempt: Branch
    """The re-run that waits for its verdict; empty when none does."""
    tree: list[Json]
    """Tree of Thoughts: the candidates of each state that it came to, over all attempts."""
    branches: Annotated[list[Branch], extend]
    usage: Annotated[dict[str, Usage], add_usage]
    notes: Annotated[list[str], extend]
    """What a reader should know: windows, cut observations, a replay that diverged."""
    problem: str
    """Why the debugger could not do its work."""
    status: DebugStatus


class DebuggerOutput(TypedDict, total=False):
    """What a finished debugging returns."""

    subject: Json
    verdict: Json
    labels: dict[str, dict[str, Label]]
    label_problems: dict[str, str]
    critical: Critical
    probes: list[Probe]
    branches: list[Branch]
    usage: dict[str, Usage]
    notes: list[str]
    problem: str
    status: DebugStatus
