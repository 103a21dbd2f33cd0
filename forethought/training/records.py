"""What the synthesizer hands over: one failed trajectory and the final reflection on it (SAMULE Algorithm 1).

A file of these records, one JSON object a line, is what `forethought train export` reads.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from forethought.training.prompt import reflection_prompt, trajectory_text


class ReflectionRecord(BaseModel):
    """A failed trajectory of a task and the reflection that a model is to learn from it."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    task_id: Annotated[str, Field(min_length=1)]
    trajectory_id: Annotated[str, Field(min_length=1)]
    task: Annotated[str, Field(min_length=1)]
    """The query in full."""
    background: str = ""
    """The agent's other input: reference material, policies, the list of files."""
    plan: str = ""
    trajectory: Annotated[str, Field(min_length=1)]
    """The agent's steps as text."""
    answer: str = ""
    evaluation: str = ""
    """The agent's evaluation of its own answer, never a reference or a grader's verdict."""
    score: Annotated[int, Field(ge=1, le=10)] | None = None
    reflection: Annotated[str, Field(min_length=1)]
    """The target."""

    def prompt(self) -> tuple[str, str]:
        """The (system, user) texts that a model is asked with."""
        whole_try = trajectory_text(
            plan=self.plan,
            steps=self.trajectory,
            answer=self.answer,
            evaluation=self.evaluation,
            score=self.score,
        )
        return reflection_prompt(task=self.task, background=self.background, trajectory=whole_try)
