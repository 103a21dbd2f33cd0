"""What the synthesizer hands over: one failed trajectory and the final reflection on it (SAMULE Algorithm 1).

A file of these records, one JSON object a line, is what `forethought train export` reads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from forethought.text import cut, one_line
from forethought.training.prompt import reflection_prompt, trajectory_text

HEAD_CHARS, OPEN_CHARS = 400, 3_000
"""Characters of an observation: in a step's line, and of what a subtask saw last, as in a run's prompts."""
_CALL = re.compile(r"[\w.-]+\(")
"""How the move of a step begins that called a tool."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class RecordStep(_Record):
    """One step of a trajectory."""

    number: Annotated[int, Field(ge=1)]
    subtask: str = ""
    move: str
    """The action: tool(arguments), or what was done in words."""
    ok: bool = True
    cause: str = ""
    """Why it failed, in a word."""
    surprise: str = ""
    """minor or serious, where the agent said that what came was not what it expected."""
    observation: str = ""

    def line(self, at_length: bool = False) -> str:
        """The step on a line of its own; `at_length` its observation is cut later, and not folded."""
        outcome = "ok" if self.ok else f"FAILED ({self.cause})"
        folded = one_line(cut(self.observation, HEAD_CHARS))
        seen = cut(self.observation, OPEN_CHARS) if at_length else folded
        surprise = f" [surprise: {self.surprise}]" if self.surprise else ""
        return f"step {self.number} [{self.subtask}] {self.move}: {outcome}{surprise}: {seen}"


def steps_text(steps: Sequence[RecordStep]) -> str:
    """The steps as a run shows them to the retrospective role (`steps_text` of nodes/support/prompt_text.py):
    at length what each subtask saw last."""
    telling = {step.subtask: step.number for step in steps if step.ok and _CALL.match(step.move)}
    return "\n".join(step.line(telling.get(step.subtask) == step.number) for step in steps)


class ReflectionRecord(_Record):
    """A failed trajectory of a task and the reflection that a model is to learn from it."""

    task_id: Annotated[str, Field(min_length=1)]
    trajectory_id: Annotated[str, Field(min_length=1)]
    task: Annotated[str, Field(min_length=1)]
    """The query, in full."""
    background: str = ""
    """What the agent was given besides: reference material, policies, the list of files."""
    plan: str = ""
    trajectory: Annotated[str, Field(min_length=1)] | Annotated[tuple[RecordStep, ...], Field(min_length=1)]
    """The steps; or the whole of what the agent did, as text."""
    answer: str = ""
    evaluation: str = ""
    """What the agent itself thought of its answer; never a reference or a grader's words."""
    score: Annotated[int, Field(ge=1, le=10)] | None = None
    reflection: Annotated[str, Field(min_length=1)]
    """The target."""

    def trajectory_text(self) -> str:
        """The whole try as the model is shown it."""
        own = self.trajectory
        steps = own if isinstance(own, str) else steps_text(own)
        return trajectory_text(
            plan=self.plan, steps=steps, answer=self.answer, evaluation=self.evaluation, score=self.score
        )

    def prompt(self) -> tuple[str, str]:
        """The (system, user) texts that a model is asked with."""
        return reflection_prompt(
            task=self.task, background=self.background, trajectory=self.trajectory_text()
        )


def normalized(task: str) -> str:
    """A task's text without what does not tell tasks apart: case, punctuation, spacing."""
    return " ".join(re.findall(r"\w+", task.casefold()))
