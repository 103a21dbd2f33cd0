"""What the states of the debugger, the distiller and the synthesizer have in common."""

from __future__ import annotations

from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict, get_type_hints

from forethought.models.types import Usage
from forethought.state.context import ModelName
from forethought.state.reducers import CLEAR, add_usage, merge


class Job(TypedDict):
    """What a node of a wave is started with; it reads the rest of the state itself."""

    node: str
    key: str


class OfflineContext(BaseModel):
    """Choices of one run of a graph. Frozen; validation refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: ModelName = Field(
        default="openai:gpt-4.1",
        description="Model of every role without its own: provider:name.",
        json_schema_extra={"langgraph_type": "model"},
    )
    max_parallel: int = Field(
        default=8, ge=1, le=64, description="Maximum parallel calls, re-runs or trials."
    )
    max_observation_chars: int = Field(
        default=2_000, ge=200, le=100_000, description="Characters of each observation in prompts."
    )
    max_tokens: int | None = Field(
        default=None, ge=1_000, description="Token budget, with re-runs and trials."
    )
    max_usd: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="Dollar budget, with re-runs and trials.",
    )


class LearningOutput(TypedDict, total=False):
    """What distillations and syntheses return alike."""

    problems: Annotated[dict[str, str], merge]
    """By node and key: why there is no result."""
    notes: list[str]
    models: dict[str, str]
    """{model} that made it."""
    usage: Annotated[dict[str, Usage], add_usage]
    problem: str
    """Why it ended without a result."""


def empty_channels(state: type) -> dict[str, Any]:
    """The update that empties all channels of `state` but its status: a thread may be used again."""
    update: dict[str, Any] = {}
    for name, hint in get_type_hints(state, include_extras=True).items():
        if name != "status":
            has_reducer = hasattr(hint, "__metadata__")
            kind = get_args(hint)[0] if has_reducer else hint
            empty = (get_origin(kind) or kind)()
            update[name] = ({CLEAR: None} if empty == {} else [CLEAR]) if has_reducer else empty
    return update
