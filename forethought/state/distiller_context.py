"""What one distillation may choose: the distiller graph's `context_schema` (PreFlect 3.2.1, B.1)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from forethought.state.context import ModelName


class DistillerContext(BaseModel):
    """Choices of one distillation. Frozen; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: ModelName = Field(
        "openai:gpt-4.1",
        description="Model that diagnoses, aggregates and writes the patterns, as provider:name.",
        json_schema_extra={
            "langgraph_type": "model",
            "langgraph_nodes": ["diagnose_task", "aggregate", "write_patterns"],
        },
    )
    review: bool = Field(False, description="A person keeps, edits, merges or drops each error at the end.")
    max_runs: int = Field(
        6, ge=2, le=20, description="Runs of a task that are compared; of more, failed and successful ones."
    )
    max_failures: int = Field(6, ge=2, le=20, description="Failure patterns of an error.")
    max_successes: int = Field(5, ge=1, le=20, description="Success patterns of an error.")
    max_cases: int = Field(12, ge=1, le=50, description="Findings that an error's patterns are written from.")
    max_parallel: int = Field(8, ge=1, le=64, description="Calls side by side.")
    max_observation_chars: int = Field(
        2_000, ge=200, le=100_000, description="Characters of an observation that a prompt shows."
    )
    max_tokens: int | None = Field(None, ge=1_000, description="Tokens of one distillation.")
    max_usd: float | None = Field(None, gt=0, allow_inf_nan=False, description="Dollars of one distillation.")
