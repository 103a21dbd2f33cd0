"""What one run may choose: the graph's `context_schema`, drawn as a form by LangGraph Studio.

Any client of a server can set it, so it holds nothing that could harm: no secret, address, path or module
name. What only the operator may choose is in `forethought.settings`, and so are the bounds on what a Context
may ask for, which `bounded` applies.

Defaults are the papers': thresholds 9 of 10 and 5 rounds (MIRROR 3.4, 4.1), 20 calls and forced re-plans by
calls 6 and 12 (PreFlect A.1), 3 attempts a subtask (MIRROR's published settings). Moves, revisions,
reflections, re-plans and the tool floor are ours.
"""

from __future__ import annotations

import difflib
import inspect
import textwrap
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from forethought.approval_rules import ApprovalRule, parse_rules
from forethought.settings import LEAST_TOKENS, MODEL_NAME, NAME, Effort, Settings
from forethought.sizes import LEAST_WINDOW_TOKENS, WINDOW_TOKENS, Sizes
from forethought.text import one_line

Role = Literal["planner", "reflector", "tool", "vision", "reader", "answer", "retrospective", "consent"]
Approval = Literal["never", "tainted", "always"]
Foresight = Literal["off", "tools", "user", "both"]
Namespace = Annotated[str, Field(max_length=64, pattern=NAME)]
Score = Annotated[int, Field(ge=1, le=10)]
ModelName = Annotated[str, Field(max_length=200, pattern=MODEL_NAME)]
Mechanism = Literal["prospective_reflection", "plan_intra", "tool_intra", "answer_intra"]
"""The switches that `effort` decides where a run does not."""


class Context(BaseModel):
    """Choices of one run. Frozen; validation refuses unknown keys.

    Each is a keyword here, `--set NAME=VALUE` on the command line and a field of Studio's form:
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: ModelName = Field(
        default="openai:gpt-4.1", description="Model of every role without its own: provider:name."
    )
    planner_model: ModelName | None = Field(default=None, description="Planner's model.")
    reflector_model: ModelName | None = Field(default=None, description="Reflector's model.")
    tool_model: ModelName | None = Field(default=None, description="Tool agent's model.")
    vision_model: ModelName | None = Field(
        default=None, description="Model for images; default: `tool_model`."
    )
    reader_model: ModelName | None = Field(
        default=None, description="Model that reads many files (read_each); default: `tool_model`."
    )
    answer_model: ModelName | None = Field(default=None, description="Answer agent's model.")
    retrospective_model: ModelName | None = Field(
        default=None,
        description="Model for round reflections.",
    )
    consent_model: ModelName | None = Field(
        default=None,
        description="Model that reads which calls you asked for; default: `retrospective_model`.",
    )

    fallback_model: ModelName | None = Field(
        default=None,
        description="Model to ask if another one fails.",
    )

    plan_threshold: Score = Field(
        default=9,
        description="Revise a plan that scores lower (10: no defects, 9: slight, 5-8: risky, 1-4: wrong).",
    )
    tool_threshold: Score = Field(default=9, description="Revise a move that scores lower.")
    answer_threshold: Score = Field(
        default=9,
        description="Revise an answer that scores lower, or start a round if it lacks facts.",
    )
    tool_floor: Score = Field(default=5, description="Discard a move that scores lower after revisions.")

    effort: Effort = Field(
        default="auto",
        description="Run mechanisms as in their papers (paper), if they can change something (auto), or "
        "rarely (low).",
    )

    max_rounds: int = Field(
        default=5, ge=1, le=20, description="Maximum rounds of plan, execution and answer."
    )
    max_steps: int = Field(default=20, ge=1, le=2000, description="Maximum tool calls.")
    max_moves: int | None = Field(
        default=None,
        ge=1,
        le=6000,
        description="Maximum calls, finished subtasks, re-plan requests and refused moves; default: three "
        "times `max_steps`.",
    )
    max_revisions: int = Field(
        default=2, ge=0, le=10, description="Maximum revisions of a low-scoring plan, move or answer."
    )
    max_reflections: int = Field(
        default=2, ge=1, le=10, description="Maximum plan revisions by the reflector."
    )
    max_replans: int = Field(default=6, ge=0, le=50, description="Maximum re-plans.")
    max_attempts: int = Field(
        default=3, ge=1, le=10, description="Failed attempts at a subtask before a re-plan."
    )
    max_parallel: int = Field(default=16, ge=1, le=32, description="Maximum parallel subtasks.")
    max_read_each_files: int = Field(
        default=500, ge=1, le=100_000, description="Maximum files that one call reads without asking you."
    )
    forced_replans: tuple[Annotated[int, Field(ge=1)], ...] | None = Field(
        default=None,
        max_length=20,
        description="Re-plan by these tool calls; default: 6,12 with effort paper, else none.",
    )

    max_tokens: int | None = Field(default=400_000, ge=LEAST_TOKENS, description="Token budget.")
    context_tokens: int | None = Field(
        default=None,
        ge=LEAST_WINDOW_TOKENS,
        description="Context window; default: the model's, else 128,000 tokens.",
    )
    max_usd: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="Dollar budget; needs models with a known price.",
    )
    max_seconds: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="Time budget in seconds, without waiting for a person.",
    )
    answer_format: str = Field(
        default="",
        max_length=300,
        description="Form of the answer, such as 'a number only'.",
    )

    # The next three: not in the papers, and without effect with effort paper
    first_look: bool = Field(default=True, description="Look at the files before the first plan.")
    signs: bool = Field(default=True, description="Point at lines that may change the answer.")
    answer_checks: bool = Field(default=True, description="Check the answer before it is given.")
    # PreFlect 3.2.2
    prospective_reflection: bool | None = Field(
        default=None,
        description="Examine plans before execution; default: by `effort`.",
    )
    # PreFlect 3.2.1
    planning_errors: bool = Field(default=True, description="Check plans against known planning errors.")
    # PreFlect 3.3
    replanning: bool = Field(default=True, description="Change the plan during execution.")
    # The next three: MIRROR 3.4
    plan_intra: bool | None = Field(
        default=None,
        description="The planner evaluates plans; default: by `effort`.",
    )
    tool_intra: bool | None = Field(
        default=None,
        description="The tool agent evaluates moves; default: by `effort`.",
    )
    answer_intra: bool | None = Field(
        default=None,
        description="The answer agent evaluates answers; default: by `effort`.",
    )
    # The next two: MIRROR 3.5
    short_term_memory: bool = Field(
        default=True, description="Show a subtask's failures to its next attempt."
    )
    long_term_memory: bool = Field(
        default=True,
        description="Show failed rounds to planner, reflector and answer agent.",
    )
    # SAMULE 3.2.2
    round_reflection: bool = Field(default=False, description="Reflect on each failed round.")
    # SAMULE 3.2.3
    foresight: Foresight = Field(
        default="tools",
        description="Predict and compare tool results (tools), the user's replies (user) or both.",
    )
    foresight_judgement: bool = Field(
        default=False,
        description="Ask a model about results that rules cannot compare.",
    )
    experience: bool = Field(
        default=True, description="Show what you and failures have taught; needs a store."
    )
    experience_namespace: Namespace = Field(
        default="default",
        description="Collection of advice, such as one per project.",
    )
    # MIRROR 4.4
    proposals: Literal["json", "functions"] = Field(
        default="json",
        description="Write moves as JSON, or as function calls.",
    )
    approve_plan: bool = Field(default=False, description="Ask a person before executing a plan.")
    approve_tools: Approval = Field(
        default="tainted",
        description="Ask a person before a tool writes or sends: always; if you did not ask for it, "
        "once outside text came in (tainted); or only before it sends, once private data was read (never).",
    )
    approvals: Annotated[tuple[ApprovalRule, ...], BeforeValidator(parse_rules)] = Field(
        default=(), description="Approval rules, first match wins; `--approval-policy FILE` sets them."
    )

    @model_validator(mode="before")
    @classmethod
    def _names_the_nearest(cls, values: Any) -> Any:
        if isinstance(values, dict) and cls.model_config["extra"] == "forbid":
            for key in (key for key in values if key not in cls.model_fields):
                raise PydanticCustomError("unknown_setting", "{why}", {"why": unknown_setting(key, cls)})
        return values

    def wants(self, mechanism: Mechanism) -> bool | None:
        """Whether a mechanism runs; None: the rules of `nodes.support.effort` decide each time."""
        switch: bool | None = getattr(self, mechanism)
        return switch if switch is not None or self.effort == "auto" else self.effort == "paper"

    @property
    def replan_calls(self) -> tuple[int, ...]:
        """Calls by which a new plan is forced (PreFlect A.1)."""
        if self.forced_replans is not None:
            return self.forced_replans
        return (6, 12) if self.effort == "paper" else ()

    @property
    def foresees_tools(self) -> bool:
        """Whether what a call shows is predicted and compared."""
        return self.foresight in ("tools", "both")

    @property
    def foresees_user(self) -> bool:
        """Whether what the person says is predicted and compared."""
        return self.foresight in ("user", "both")

    @property
    def sizes(self) -> Sizes:
        """How much prompts show and tools return."""
        return Sizes(self.context_tokens or WINDOW_TOKENS)

    @property
    def most_moves(self) -> int:
        """Moves that a task may take."""
        return self.max_moves or 3 * self.max_steps

    def model_for(self, role: Role) -> str:
        """The model of `role`, as provider:name."""
        own: str | None = getattr(self, f"{role}_model")
        if own is None and role in _LIKE:
            own = getattr(self, _LIKE[role])
        return own or self.model


def _described(context: type[BaseModel]) -> str:
    """A line or two for each field: its name, default and meaning."""
    return "\n".join(
        textwrap.fill(f"{name} ({field.default!r}): {field.description}", width=100, subsequent_indent="    ")
        for name, field in context.model_fields.items()
    )


Context.__doc__ = f"{inspect.cleandoc(Context.__doc__ or '')}\n\n{_described(Context)}\n"


class UnknownSetting(ValueError):
    """A key that is no setting: one line that names the nearest."""


def unknown_setting(key: str, of: type[BaseModel]) -> str:
    """One line on a key that is no field of a context: the nearest field, or all."""
    fields = of.model_fields
    close = difflib.get_close_matches(key, fields, n=1, cutoff=0.6)
    hint = (
        f"did you mean {close[0]}? see docs/reference/context.md" if close else f"known: {', '.join(fields)}"
    )
    return f"unknown setting {one_line(key, 100)!r}; {hint}"


C = TypeVar("C", bound=BaseModel)
_LIKE = {"vision": "tool_model", "reader": "tool_model", "consent": "retrospective_model"}
"""The field that a role without a model of its own takes its model from."""


def as_sent(context: type[C]) -> type[C]:
    """A context as clients send it: a key that is no setting is kept, for the first node to refuse."""
    headline = (context.__doc__ or "").split("\n")[0]
    return create_model(
        context.__name__, __base__=context, __doc__=headline, __cls_kwargs__={"extra": "allow"}
    )


_BUDGETS = ("max_tokens", "max_usd", "max_seconds")
_APPROVALS: tuple[Approval, ...] = get_args(Approval)
"""From the least to the most."""


def bounded(context: C, settings: Settings) -> C:
    """`context`, of any graph, with the operator's default model and effort and within the operator's bounds.

    A budget above the operator's is lowered to it, since a smaller budget harms nobody, and approval below
    the operator's is raised to it; a model that is not allowed is refused with a ValueError, since another
    one would silently change what was asked for, and a key that is no setting with UnknownSetting.
    """
    for key in context.model_extra or ():
        raise UnknownSetting(unknown_setting(key, type(context)))
    changes: dict[str, Any] = {}
    if settings.model and "model" not in context.model_fields_set:
        changes["model"] = settings.model
    for name in _BUDGETS:
        highest, wanted = getattr(settings, name), getattr(context, name, 0)
        if highest is not None and (wanted is None or wanted > highest):
            changes[name] = highest
    if isinstance(context, Context):
        if settings.effort and "effort" not in context.model_fields_set:
            changes["effort"] = settings.effort
        if settings.require_plan_approval:
            changes["approve_plan"] = True
        if _APPROVALS.index(context.approve_tools) < _APPROVALS.index(settings.least_approval):
            changes["approve_tools"] = settings.least_approval
        if settings.least_approval != "never":
            kept = tuple(rule for rule in context.approvals if rule.decision != "allow")
            changes["approvals"] = kept
    result = context.model_copy(update=changes)
    _check_models(result, settings)
    return result


def bounds_budgets(settings: Settings) -> bool:
    """Whether the operator bounds what a run may spend."""
    return any(getattr(settings, name) is not None for name in _BUDGETS)


def models_of(context: BaseModel) -> tuple[str, ...]:
    """The distinct models that a run with `context` may call; for the agent by role, last the fallback."""
    if not isinstance(context, Context):
        fields = [name for name in type(context).model_fields if name.split("_")[-1] == "model"]
        return tuple(dict.fromkeys(name for field in fields if (name := getattr(context, field))))
    called = {
        "consent": context.approve_tools != "always",
        "reflector": context.wants("prospective_reflection") is not False,
        "retrospective": context.round_reflection,
    }
    roles: tuple[Role, ...] = get_args(Role)
    named = [context.model_for(role) for role in roles if called.get(role, True)]
    return tuple(dict.fromkeys([*named, *([context.fallback_model] if context.fallback_model else [])]))


def _check_models(context: BaseModel, settings: Settings) -> None:
    for model in models_of(context) if settings.allowed_models else ():
        if model not in settings.allowed_models:
            allowed = ", ".join(settings.allowed_models)
            raise ValueError(f"model {model} is not allowed here; allowed: {allowed}")
