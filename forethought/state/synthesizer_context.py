"""What one synthesis may choose: the synthesizer graph's `context_schema` (SAMULE 3.2.1)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from forethought.state.context import ModelName


class SynthesizerContext(BaseModel):
    """Choices of one synthesis. Frozen; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: ModelName = Field(
        "openai:gpt-4.1",
        description="Model that reflects, names errors, labels steps and merges, as provider:name.",
        json_schema_extra={
            "langgraph_type": "model",
            "langgraph_nodes": [
                "reflect_trial",
                "error_types",
                "label_steps",
                "reflect_error",
                "merge_reflections",
            ],
        },
    )
    trials: int = Field(3, ge=1, le=20, description="Trials of a task at most; the first success ends them.")
    meso_reference: bool = Field(
        False, description="Ablation: the error types and labels are made with the reference in view."
    )
    steps_per_call: int = Field(10, ge=1, le=100, description="Steps of a trial that one call labels.")
    max_cases: int = Field(
        12, ge=2, le=50, description="Trajectories that an error type's reflection is written from."
    )
    max_parallel: int = Field(8, ge=1, le=64, description="Calls, and trials, side by side.")
    max_observation_chars: int = Field(
        2_000, ge=200, le=100_000, description="Characters of an observation that a prompt shows."
    )
    max_tokens: int | None = Field(
        None, ge=1_000, description="Tokens of one synthesis, its trials included."
    )
    max_usd: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Dollars of one synthesis, its trials included."
    )
