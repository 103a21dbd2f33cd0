"""One validated form for every trajectory that is debugged or learned from (AgentDebug 3.1).

A step is what one agent decision came to: the outputs of its four modules (memory, reflection, planning,
action), what it had before it, and what the world answered. Labels, gold answers and rewards are kept apart
from the trajectory, in a `Reference`, so that nothing that is shown to a model can hold them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Module = Literal["memory", "reflection", "planning", "action", "system"]
MODULES: tuple[Module, ...] = ("memory", "reflection", "planning", "action", "system")
Outcome = Literal["success", "failure", "unknown"]
Failure = Literal["", "step_limit", "tool_execution_error", "llm_limit", "environment_error"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TrajectoryStep(_Record):
    """One step. A module that the agent did not have, or left out, is ''."""

    number: Annotated[int, Field(ge=1)]
    """As its own source counts, from 1; strictly rising."""
    given: str = ""
    """What the step had before it besides the earlier steps: a subtask, results, admissible actions."""
    memory: str = ""
    reflection: str = ""
    planning: str = ""
    action: str = ""
    observation: str = ""
    """What came back, tool results and error texts included, whole."""
    failure: Failure = ""
    """A system error that the source itself records of this step."""
    tool: str = ""
    """The tool or kind of the action, where the source tells it apart."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """The tool's arguments, where the source tells them apart: what a replay repeats."""
    changes_world: bool = False
    """Whether the action changed something outside, so that a re-run has to restore it."""

    def texts(self) -> dict[str, str]:
        """What stands in the step, part by part; empty parts are left out."""
        names = ("given", "memory", "reflection", "planning", "action", "observation", "failure")
        return {name: text for name in names if (text := getattr(self, name))}


class Trajectory(_Record):
    """A run from its task to its end, without any label or gold answer."""

    id: str
    task: str = Field(min_length=1)
    environment: str = ""
    """Where it ran: alfworld, gaia, webshop, hotpotqa, forethought, ... ('' unknown)."""
    world: str = ""
    """What the agent could do there: its tools or actions and their rules, where the source tells."""
    source: str = ""
    """The format that it was read from."""
    steps: tuple[TrajectoryStep, ...] = ()
    answer: str = ""
    halted: bool = False
    """Whether a step or token limit ended it."""
    notes: tuple[str, ...] = ()
    """What its reader wants known, such as that a log ends early."""

    @model_validator(mode="after")
    def _numbered(self) -> Trajectory:
        numbers = [step.number for step in self.steps]
        if any(later <= earlier for earlier, later in pairwise(numbers)):
            raise ValueError("the numbers of the steps must rise")
        return self

    def step(self, number: int) -> TrajectoryStep:
        """The step `number`. Raises KeyError when there is none."""
        for step in self.steps:
            if step.number == number:
                return step
        raise KeyError(f"no step {number}")


class Annotation(_Record):
    """What a person labelled: the critical error of a failed trajectory (AgentErrorBench, 2.2)."""

    critical_step: int
    critical_module: Module
    error_type: str


class Reference(_Record):
    """What is known about a trajectory that no model may see."""

    outcome: Outcome = "unknown"
    gold: tuple[str, ...] = ()
    """Accepted answers."""
    annotation: Annotation | None = None


class Loaded(_Record):
    """A trajectory as read, and its reference beside it."""

    trajectory: Trajectory
    reference: Reference = Reference()
