"""The types of the model's replies. A schema is sent under its class's name; field names are a contract.

A model that is held to a schema writes the fields in their order and cannot go back: what it found stands
before what it concludes.

Every reply is lenient where a model is careless without harm (a missing optional list is empty, null counts
as missing, an unknown field is ignored) and strict where it matters. What one reply alone cannot tell (ids
exist, no cycle, the tool exists, its arguments fit) is checked by the node that asked.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    create_model,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from forethought.models.extract import find_object
from forethought.text import has_visible_text

E = TypeVar("E")


def _or(default: Any) -> BeforeValidator:
    """Null counts as missing."""
    return BeforeValidator(lambda value: default if value is None else value)


def _shown(value: str) -> str:
    if not has_visible_text(value):
        raise ValueError("nothing in it can be seen")
    return value


Text = Annotated[str, _or("")]
Shown = Annotated[str, Field(min_length=1), AfterValidator(_shown)]
Flag = Annotated[bool, _or(False)]
ListOf = Annotated[list[E], _or([])]


def _all_required(schema: dict[str, Any]) -> None:
    """A schema by which every field is written: one with nothing to say is empty, and need not be null."""
    schema["required"] = list(schema["properties"])
    for field in schema["properties"].values():
        field.pop("default", None)


class Reply(BaseModel):
    """Base of all replies."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True, json_schema_extra=_all_required)


class Flaw(Reply):
    """Something wrong with a reply, shown by its author."""

    evidence: Shown
    defect: Shown
    effect: Literal["wrong", "risky", "slight"]


class Defect(Flaw):
    """Something wrong with a plan or a move."""

    mend: Literal["now", "later"]


class AnswerDefect(Flaw):
    """Something wrong with an answer. `facts`: it takes some that nobody has looked for yet."""

    mend: Literal["now", "facts", "never"]


class PlannedCall(Reply):
    """A call that is made without asking a model."""

    tool: str
    arguments: dict[str, Any]


def _calls(value: Any) -> list[Any]:
    """What is no call is none: the worker chooses its own."""
    if not isinstance(value, list):
        return []
    calls = []
    for call in value:
        arguments = call.get("arguments") if isinstance(call, dict) else None
        if isinstance(arguments, str):
            with suppress(ValueError):
                arguments = find_object(arguments)
        if isinstance(arguments, dict) and isinstance(call.get("tool"), str):
            calls.append({"tool": call["tool"], "arguments": arguments})
    return calls


class PlannedSubtask(Reply):
    """A subtask as a model writes it, or a person who edits the state's. The schema of `calls` and `finishes`
    depends on the tools (`prompts.planned_calls`)."""

    id: str = Field(min_length=1)
    description: str = Field(min_length=1)
    depends_on: ListOf[str] = Field(default_factory=list)
    calls: SkipJsonSchema[Annotated[list[PlannedCall], BeforeValidator(_calls)]] = Field(default_factory=list)
    finishes: SkipJsonSchema[Annotated[bool, _or(True)]] = True
    """Whether what a call returns is the result; else a worker goes on from it."""
    expected: Text = ""

    @model_validator(mode="before")
    @classmethod
    def _from_state(cls, value: Any) -> Any:
        """The plan in force holds one call a subtask."""
        if isinstance(value, dict) and (call := value.get("call")) and not value.get("calls"):
            if not isinstance(call, dict):
                raise ValueError("call must be {tool, arguments}")
            return {**value, "calls": [call], "finishes": call.get("finishes", True)}
        return value


class Plan(Reply):
    """MIRROR 3.4: a decomposition and the planner's own evaluation of it. What is known and what is open
    comes first, as in the host of PreFlect. Not in the papers: the answer in place of a plan."""

    advice: ListOf[str] = Field(default_factory=list)
    known: ListOf[str] = Field(default_factory=list)
    open: ListOf[str] = Field(default_factory=list)
    subtasks: ListOf[PlannedSubtask] = Field(default_factory=list)
    answer: Text = ""
    discard: ListOf[str] = Field(default_factory=list)
    defects: ListOf[Defect]


class FoundError(Reply):
    """A planning error found in a plan."""

    evidence: Text = Field(default="", description="The part of the plan that shows it.")
    risk: Text = Field(default="", description="What will go wrong if the plan is executed as it is.")
    error_type: str = Field(min_length=1)


class PlanDiagnosis(Reply):
    """PreFlect 3.2.2, turn 1: the situation, the tools' behaviour, and the errors found (none: an empty
    list). Not in the paper: the revised plan, which saves turn 2."""

    situation: Text = Field(default="", description="What has been done and what is known.")
    tool_notes: Text = Field(default="", description="Which tools worked or failed here, and why.")
    errors: ListOf[FoundError] = Field(default_factory=list)
    subtasks: ListOf[PlannedSubtask] = Field(default_factory=list)


@lru_cache(maxsize=16)
def diagnosis_of(names: tuple[str, ...]) -> type[PlanDiagnosis]:
    """PlanDiagnosis whose error types are `names` only: the planning errors that the plan is held against.
    Made once, since pydantic takes as long over it as half a step takes."""
    kind: Any = Literal[names]
    model: Any = create_model("FoundError", __base__=FoundError, error_type=(kind, ...))
    errors: Any = ListOf[model]
    return create_model("PlanDiagnosis", __base__=PlanDiagnosis, errors=(errors, Field(default_factory=list)))


class PlanRevision(Reply):
    """PreFlect 3.2.2, turn 2: the whole plan, revised."""

    changes: Text = Field(default="", description="What changes and why.")
    subtasks: list[PlannedSubtask] = Field(min_length=1)


class ToolChoice(Reply):
    """MIRROR 3.4: the tool agent's move for one subtask, with its own evaluation."""

    thought: Text = ""
    surprise: Literal["none", "minor", "serious"] = "none"
    action: Literal["call", "finish", "replan"]
    tool: str | None = None
    arguments: dict[str, Any] = Field(default_factory=dict)
    finishes: Flag = False
    result: Text = ""
    reason: Text = ""
    expected: Text = ""
    defects: ListOf[Defect] = Field(default_factory=list)


def _yes_or_no(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value.strip(" .").lower() if isinstance(value, str) else value


class Check(Reply):
    """Whether something that could be wrong with the answer is."""

    about: Shown
    done: Text = ""
    ok: Annotated[Literal["yes", "no"], BeforeValidator(_yes_or_no)]


class AnswerCheck(Reply):
    """Not in the papers: the checks of an answer that another agent gives, and the work that is missing."""

    checks: ListOf[Check]
    work: Text = ""


class AnswerDraft(Reply):
    """MIRROR 3.4: the answer and the answer agent's own evaluation of it. Not in the paper: checks that come
    before the answer instead, and the work that they find missing."""

    checks: ListOf[Check] = Field(default_factory=list)
    findings: ListOf[str] = Field(default_factory=list)
    answer: Shown
    work: Text = ""
    advice: ListOf[str] = Field(default_factory=list)
    used_steps: ListOf[int] = Field(
        default_factory=list, description="Numbers of the steps that the answer rests on."
    )
    defects: ListOf[AnswerDefect]


class ForeseeingAnswer(AnswerDraft):
    """An AnswerDraft that foresees the person's next message (SAMULE 3.2.3); sent under the name
    AnswerDraft."""

    expected_reply: Text = Field(default="", description="What the person will probably say to this answer.")


class RoundReflection(Reply):
    """What went wrong in a failed round and what the next plan should do differently (MIRROR 3.5)."""

    reflection: str = Field(min_length=1)


class ForesightVerdict(Reply):
    """SAMULE 3.2.3, Algorithm 2: whether what came deviates from what was expected, and the reflection on
    it."""

    difference: Text = Field(default="", description="What came against what was expected, in a sentence.")
    deviation: Literal["none", "minor", "significant"]
    reflection: Text = Field(
        default="", description="Only for significant: what to do differently from here."
    )
    replan: Flag = Field(default=False, description="Only for significant: whether the plan rests on it.")

    @model_validator(mode="after")
    def _agrees(self) -> ForesightVerdict:
        if self.deviation == "significant" and not self.reflection:
            raise ValueError("deviation is significant, but reflection is empty")
        if self.deviation != "significant" and self.replan:
            raise ValueError(f"replan is true, but deviation is {self.deviation}")
        return self


class WordedAdvice(Reply):
    """What a person said, worded for later tasks."""

    kind: Literal["rule", "fact"]
    name: str = Field(pattern=r"^[a-z0-9_]{1,60}$", description="Two to five words in snake_case.")
    applies: str = Field(min_length=1, max_length=1_000)
    wrong: Text = Field(default="", max_length=1_000)
    instead: str = Field(min_length=1, max_length=240)
    replaces: ListOf[str] = Field(default_factory=list)


class DocumentAnswer(Reply):
    """PreFlect A.2: a document inspector's answer in three parts."""

    details: Text = Field(
        default="", description="What the document says on the question, with figures and names."
    )
    context: Text = Field(default="", description="Where in the document this stands, and what restricts it.")
    brief: str = Field(min_length=1, description="The short answer, or that the document does not say.")


class GrantedArgument(Reply):
    """An argument's allowed values."""

    name: str
    values: ListOf[str]


class GrantedCall(Reply):
    """A call that was ordered."""

    tool: str
    arguments: ListOf[GrantedArgument]
    times: int
    condition: Text = ""


class Grants(Reply):
    """The calls that a person's words order."""

    grants: ListOf[GrantedCall]
