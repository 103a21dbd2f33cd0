"""One validated form for every trajectory that is debugged or learned from (AgentDebug 3.1).

A step is what one agent decision came to: the outputs of its four modules (memory, reflection, planning,
action), what it had before it, and what the world answered. Labels, gold answers and rewards are kept apart
from the trajectory, in a `Reference`, so that nothing that is shown to a model can hold them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from forethought.trajectories.questions import normalised

Module = Literal["memory", "reflection", "planning", "action", "system"]
MODULES: tuple[Module, ...] = ("memory", "reflection", "planning", "action", "system")
Outcome = Literal["success", "failure", "unknown"]
Failure = Literal["", "step_limit", "tool_execution_error", "llm_limit", "environment_error"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class TrajectoryStep(_Record):
    """One step. A module that the agent did not have, or left out, is ''."""

    number: Annotated[int, Field(ge=1)]
    """The source's number, from 1, strictly increasing."""
    given: str = ""
    """What the step had before it besides the earlier steps: a subtask, results, admissible actions."""
    memory: str = ""
    reflection: str = ""
    planning: str = ""
    action: str = ""
    observation: str = ""
    """What came back, tool results and error texts included, whole."""
    failure: Failure = ""
    """A system error that the source records for this step."""
    tool: str = ""
    """The tool or kind of the action, if the source names it."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """The tool's arguments, if the source has them: a replay repeats them."""
    changes_world: bool = False
    """Whether the action changed something outside that a re-run must restore."""

    def texts(self) -> dict[str, str]:
        """What stands in the step, part by part; empty parts are left out."""
        names = ("given", "memory", "reflection", "planning", "action", "observation", "failure")
        return {name: text for name in names if (text := getattr(self, name))}


class Tool(_Record):
    """A tool that the agent was offered."""

    name: str = Field(min_length=1)
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """JSON Schema of its arguments, if the source has it."""


class Trajectory(_Record):
    """A run from its task to its end, without any label or gold answer."""

    id: str
    task: str = Field(min_length=1)
    task_id: str = ""
    """The source's name of the task, which all runs of it share ('' none: the text tells them apart)."""
    instructions: str = ""
    """The system prompt, whole."""
    tools: tuple[Tool, ...] = ()
    """The tools that the agent was offered, where the source lists them."""
    files: tuple[str, ...] = ()
    """Names of the files that came with the task."""
    environment: str = ""
    """Where it ran: alfworld, gaia, webshop, hotpotqa, forethought, ... ('' unknown)."""
    world: str = ""
    """What the agent could do there: its tools or actions and their rules, where the source tells."""
    source: str = ""
    """The source format."""
    steps: tuple[TrajectoryStep, ...] = ()
    answer: str = ""
    halted: bool = False
    """Whether a step, token, cost or time limit ended it."""
    limit: str = ""
    """Which limit, in the source's words: `message`, `exit_cost`, ... ('': unknown)."""
    notes: tuple[str, ...] = ()
    """Remarks of its reader, such as that a log ends early."""

    @model_validator(mode="after")
    def _numbered(self) -> Trajectory:
        numbers = [step.number for step in self.steps]
        if any(later <= earlier for earlier, later in pairwise(numbers)):
            raise ValueError("step numbers must increase")
        if self.limit and not self.halted:
            raise ValueError("a run with a limit must be halted")
        return self

    def origin(self) -> dict[str, Any]:
        """What a re-run shares with it: the task, and what the agent had."""
        return self.model_dump(exclude={"steps", "answer", "halted", "limit", "notes"})

    @property
    def task_key(self) -> str:
        """What runs of one task have in common: the source's id of it, or else the words of its text."""
        return f"{self.environment}:{self.task_id}" if self.task_id else normalised(self.task)

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
    """Accepted answers; each of them is right."""
    solution: str = ""
    """What a right run does or says, if no single answer can tell: required actions and outputs, a patch."""
    annotation: Annotation | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is known of a right run."""
        return tuple(text for text in (*self.gold, self.solution) if text.strip())


class Loaded(_Record):
    """A trajectory as read, and its reference beside it."""

    trajectory: Trajectory
    reference: Reference = Reference()
