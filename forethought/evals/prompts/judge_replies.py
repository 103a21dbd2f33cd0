"""Replies of judges and of simulated customers. Field names are a contract with the prompts."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from forethought.prompts.replies import ListOf, Reply, Text


def _lower(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _dash(value: object) -> object:
    return "-" if value is None else value


class FactGrade(Reply):
    """SimpleQA: the grade of an answer to a question of fact."""

    reasoning: Text = ""
    grade: Literal["correct", "incorrect", "not_attempted"]


class AnswerStatus(Reply):
    """Whether an answer solves its query."""

    reason: Text = Field(
        default="", description="One to three sentences: what the query asks and what the answer gives."
    )
    status: Annotated[Literal["solved", "unsolved", "unsure"], BeforeValidator(_lower)]


Planned = Annotated[str, BeforeValidator(_dash)]


class TravelDay(Reply):
    """One day of a plan, as the evaluation of TravelPlanner reads it."""

    current_city: str = Field(description="The city, or 'from A to B' on a day of travel.")
    transportation: Planned = "-"
    breakfast: Planned = "-"
    attraction: Planned = "-"
    lunch: Planned = "-"
    dinner: Planned = "-"
    accommodation: Planned = "-"


class TravelPlan(Reply):
    """A plan day by day."""

    days: ListOf[TravelDay] = Field(
        default_factory=list, description="In order; empty if the text holds no plan."
    )


class CustomerReply(Reply):
    """The customer's next message (tau-bench, section 3: the simulated user)."""

    thought: Text = Field(
        default="", description="What was said or asked, and what is still to be said or got."
    )
    state: Literal["continues", "done", "transferred", "stuck"] = Field(
        description="Whether the conversation goes on, and if not, why."
    )
    message: Text = Field(
        default="", description="What the customer writes; may be empty if the conversation ends."
    )

    @model_validator(mode="after")
    def _says_something(self) -> CustomerReply:
        if self.state == "continues" and not self.message:
            raise ValueError("message is empty, although the conversation continues")
        return self
