"""What one debugging may choose: the debugger graph's `context_schema` (AgentDebug 4.1, 4.2)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from forethought.state.context import ModelName

Method = Literal["agentdebug", "direct", "brute_force", "binary_search", "counterfactual"]
Rerun = Literal["off", "agentdebug", "self_refine", "vanilla", "best_of_n", "tree_of_thoughts"]
Judge = Literal["gold", "model", "person", "environment", "none"]


class DebuggerContext(BaseModel):
    """Choices of one debugging. Frozen; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: ModelName = Field(
        "openai:gpt-4.1",
        description="Model that labels, finds and refines, as provider:name.",
        json_schema_extra={
            "langgraph_type": "model",
            "langgraph_nodes": ["label_step", "find_critical", "refine_guidance"],
        },
    )
    judge_model: ModelName | None = Field(None, description="Model that judges answers; empty: `model`.")
    method: Method = Field("agentdebug", description="How the critical error is found.")
    rerun: Rerun = Field("off", description="Whether and how the run is made again.")
    judge: Judge = Field(
        "gold",
        description="Who says whether a run succeeded: the expected answer, a model that knows it, a person, "
        "the environment, or nobody (only without re-runs).",
    )
    fine_grained: bool = Field(
        True,
        description="Stage 1, labels of every step; off: its ablation, the critical error from the bare run.",
    )
    max_reruns: int = Field(5, ge=1, le=20, description="Re-runs, each with refined guidance (N = 5).")
    trials: int = Field(3, ge=1, le=50, description="Continuations a step in counterfactual mode.")
    flip_rate: float = Field(
        0.5, gt=0, le=1, description="Share of continuations that must succeed for a step to be critical."
    )
    max_parallel: int = Field(16, ge=1, le=64, description="Calls side by side.")
    window: int = Field(
        40, ge=5, le=200, description="Steps shown whole in one prompt; a longer run is shown by windows."
    )
    max_observation_chars: int = Field(
        4_000, ge=200, le=100_000, description="Characters of an observation that a prompt shows."
    )
    max_tokens: int | None = Field(
        2_000_000, ge=1_000, description="Tokens of one debugging, re-runs included."
    )
    max_usd: float | None = Field(None, gt=0, allow_inf_nan=False, description="Dollars of one debugging.")


def debugger_context_from(value: DebuggerContext | dict[str, Any] | None) -> DebuggerContext:
    """The debugging's context, whether a client sent a model, a dict or nothing."""
    return value if isinstance(value, DebuggerContext) else DebuggerContext.model_validate(value or {})
