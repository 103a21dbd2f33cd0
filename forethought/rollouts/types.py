"""The interfaces of re-rollouts: where they run, what one comes to, who judges it (AgentDebug 3.2, 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from forethought.models.types import Usage, no_usage
from forethought.trajectories.types import Module, Trajectory, TrajectoryStep


@dataclass(frozen=True)
class Verdict:
    """What an evaluator says of a finished trajectory."""

    success: bool
    reason: str = ""
    reward: float | None = None
    """The environment's reward, if it gives one."""
    share: float | None = None
    """Share of the requirements met, 0 to 1, if it can be measured."""
    usage: Usage = field(default_factory=no_usage)


@runtime_checkable
class Evaluator(Protocol):
    """Judges a trajectory by what the caller knows, never by what the run says of itself."""

    @property
    def name(self) -> str:
        """What it is called in a verdict."""
        ...

    async def judge(self, trajectory: Trajectory) -> Verdict:
        """Whether the task was solved. Raises ModelError where a model judges and cannot."""
        ...


@dataclass(frozen=True)
class Continuation:
    """One continuation of a trajectory."""

    branch: str
    """Its permanent name: a checkpoint id or an attempt's number."""
    trajectory: Trajectory
    """The whole run: the kept prefix and the steps after it."""
    kept: int
    """Number of original steps kept without execution (in an environment: replayed)."""
    reward: float | None = None
    diverged: str = ""
    """How the replayed prefix differs from the recorded one ('' if it does not)."""
    status: str = ""
    usage: Usage = field(default_factory=no_usage)
    seconds: float = 0.0


class Rollouts(Protocol):
    """Where a trajectory can be run again. Every branch is kept."""

    async def from_step(self, step: int, module: Module, guidance: Sequence[str]) -> Continuation:
        """Run on from just before `step`, with `guidance` in every later prompt.

        A planning error goes back to before the plan in force at that step was made. Raises RolloutError
        when there is no such step or its checkpoint is gone.
        """
        ...

    async def substituted(self, step: int, action: str, tool: str, arguments: dict[str, Any]) -> Continuation:
        """Run on from `step` with its action replaced by another (the counterfactual of 3.2). Raises
        RolloutError."""
        ...

    async def from_start(self, guidance: Sequence[str]) -> Continuation:
        """Run the task once more from its beginning, as the baselines do. Raises RolloutError."""
        ...

    async def restore(self) -> None:
        """Make the trajectory's own branch the head again, as it was before probes and failed re-runs."""
        ...


class RolloutError(ValueError):
    """A re-run that cannot be made; one line that says why and what to do."""


@dataclass(frozen=True)
class EnvironmentReply:
    """What an environment answers."""

    observation: str
    admissible: tuple[str, ...] = ()
    """Actions possible now; empty if any text is allowed."""
    reward: float = 0.0
    done: bool = False
    usage: Usage = field(default_factory=no_usage)
    """Usage of the environment's own models, such as a simulated user."""


class Environment(Protocol):
    """A world that a run changed and that can be put back: `reset` and the same actions must lead to the same
    observations."""

    name: str
    task: str

    async def reset(self) -> EnvironmentReply:
        """The world as it was before the first step."""
        ...

    async def step(self, action: str) -> EnvironmentReply:
        """Carry `action` out."""
        ...


@dataclass(frozen=True)
class Replay:
    """What replaying a prefix came to."""

    reply: EnvironmentReply
    diverged: str = ""
    """The first step whose observation differed, and how ('' if none did)."""
    usage: Usage = field(default_factory=no_usage)


@dataclass(frozen=True)
class Act:
    """A policy's output for one step, module by module (AgentDebug 3.1)."""

    action: str
    memory: str = ""
    reflection: str = ""
    planning: str = ""
    usage: Usage = field(default_factory=no_usage)


class Policy(Protocol):
    """Who acts in an environment."""

    async def act(
        self, task: str, steps: Sequence[TrajectoryStep], now: EnvironmentReply, guidance: Sequence[str]
    ) -> Act:
        """The next action, given the steps so far and the present observation. Raises ModelError."""
        ...
