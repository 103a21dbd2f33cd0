"""Replies of the baseline agents. Field names are a contract with the prompts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from forethought.models.schema import drop_nulls
from forethought.models.types import ReplySpec
from forethought.prompts.replies import Flag, ListOf, Reply, Text
from forethought.prompts.tool_choice import argument_schemas, call_properties, closed, object_of
from forethought.tools.base import Tool

Json = dict[str, Any]


class ReactMove(Reply):
    """ReAct: a thought, and one action: a tool's call or the end (Yao et al. 2023)."""

    thought: Text = ""
    action: Literal["call", "finish"]
    tool: str | None = None
    arguments: dict[str, Any] = Field(default_factory=dict)
    answer: Text = ""


class StepPlan(Reply):
    """Plan-and-act: the steps that are left, or the answer where none is."""

    thought: Text = Field(default="", description="What is known, and what is still missing.")
    steps: ListOf[str] = Field(
        default_factory=list, description="The steps from here on, in order; empty where the task is done."
    )
    answer: Text = Field(default="", description="The answer, only where no step is left.")

    @model_validator(mode="after")
    def _one_of_both(self) -> StepPlan:
        if bool([step for step in self.steps if step.strip()]) == bool(self.answer):
            raise ValueError("give either steps or, if none is left, the answer")
        return self


class ClosingAnswer(Reply):
    """The answer from what there is, when the budget is spent."""

    answer: str = Field(min_length=1)


class SelfJudgement(Reply):
    """Whether a try solved its task, where nobody else says (Reflexion)."""

    reasoning: Text = Field(default="", description="What speaks for and against it.")
    solved: bool


class SelfReflection(Reply):
    """What a failed try teaches the next one (Reflexion)."""

    reflection: str = Field(min_length=1)


class DraftFeedback(Reply):
    """Feedback on a draft (Self-Refine)."""

    feedback: str = Field(min_length=1, description="What is wrong or missing, and how to mend it.")
    good: Flag = Field(default=False, description="Whether nothing needs to be mended.")


class Selection(Reply):
    """The best of several tries (Best-of-N)."""

    reasoning: Text = Field(default="", description="How the tries compare.")
    choice: int = Field(ge=1, description="The number of the try.")


class DeepCall(Reply):
    """A tool call of a deep agent."""

    tool: str
    arguments: str = Field(description="The arguments as a JSON object.")

    @field_validator("arguments")
    @classmethod
    def _object(cls, value: str) -> str:
        if not isinstance(json.loads(value), dict):
            raise ValueError("arguments must be a JSON object")
        return value


class DeepTurn(Reply):
    """A turn of a deep agent: tool calls, or its last word."""

    text: Text = ""
    calls: ListOf[DeepCall] = Field(default_factory=list)

    @model_validator(mode="after")
    def _something(self) -> DeepTurn:
        if not (self.text.strip() or self.calls):
            raise ValueError("give calls, or the final answer in text")
        return self


class InsightOperation(Reply):
    """One change of the list of insights (ExpeL)."""

    operation: Literal["ADD", "EDIT", "AGREE", "REMOVE"]
    number: int | None = Field(default=None, description="The insight's number; null for ADD.")
    text: Text = Field(default="", description="For ADD and EDIT: the whole insight in its new words.")

    @model_validator(mode="after")
    def _complete(self) -> InsightOperation:
        if self.operation in ("ADD", "EDIT") and not self.text:
            raise ValueError(f"{self.operation} needs the text of the insight")
        if self.operation != "ADD" and self.number is None:
            raise ValueError(f"{self.operation} needs the number of an insight")
        return self


class InsightOperations(Reply):
    """What trials teach, as changes of the list of insights (ExpeL)."""

    operations: ListOf[InsightOperation] = Field(default_factory=list)


def react_spec(tools: Mapping[str, Tool], thoughts: bool = True) -> ReplySpec[ReactMove]:
    """The spec of a ReactMove over `tools`; without any, the only action is to finish. Without `thoughts` no
    thought is asked for."""
    schemas, strict = argument_schemas(tools)
    thought = {"type": "string", "description": "The situation, and why this action."}
    properties: Json = {
        **({"thought": thought} if thoughts else {}),
        "action": {"type": "string", "enum": ["call", "finish"] if tools else ["finish"]},
        **(call_properties(schemas) if tools else {}),
        "answer": {"type": ["string", "null"], "description": "For finish."},
    }

    def parse(value: Any) -> ReactMove:
        reply = {key: item for key, item in dict(value).items() if item is not None}
        if isinstance(reply.get("arguments"), str):
            reply["arguments"] = object_of(reply["arguments"])
        move = ReactMove.model_validate(reply)
        tool = tools.get(move.tool or "")
        if move.action == "finish" or tool is None:
            return move
        arguments = drop_nulls(move.arguments, tool.arguments.model_json_schema())
        return move.model_copy(update={"arguments": arguments})

    return ReplySpec("ReactMove", closed(properties), parse, strict=strict)
