"""The replies of StableToolBench's judge. Field names are a contract, as in `replies`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from forethought.prompts.replies import Reply, Text


def _lower(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


class AnswerStatus(Reply):
    """Whether an answer solves its query."""

    reason: Text = Field(
        "", description="One to three sentences: what the query asks and what the answer gives."
    )
    status: Annotated[Literal["solved", "unsolved", "unsure"], BeforeValidator(_lower)]


class BetterAnswer(Reply):
    """Which of two answers to a query is better."""

    reason: Text = Field("", description="One to three sentences: what decides.")
    better: Annotated[Literal["first", "second", "neither"], BeforeValidator(_lower)]
