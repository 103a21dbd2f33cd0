"""The choices of a training run. Defaults are the paper's where it states them (SAMULE, appendix A)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from forethought.training.fit import TooLong

BASE = "Qwen/Qwen2.5-3B-Instruct"


class Choices(BaseModel):
    """What decides how a model comes out, besides the data."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base: str = BASE
    """A model's name on the Hugging Face Hub, or a folder that holds one."""
    learning_rate: Annotated[float, Field(gt=0)] = 5e-5
    """Falls linearly to 0."""
    epochs: Annotated[int, Field(ge=1)] = 15
    batch_size: Annotated[int, Field(ge=1)] = 1
    """Rows a device and a step."""
    lora_rank: Annotated[int, Field(ge=1)] = 16
    """LoRA's rank, alpha and dropout are ours: the paper does not give them."""
    lora_alpha: Annotated[int, Field(ge=1)] = 32
    lora_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.05
    max_length: Annotated[int, Field(ge=64)] = 16_384
    """Tokens of a row, prompt and reflection; the paper's trajectories exceed 10,000."""
    too_long: TooLong = "drop"
    save_steps: Annotated[int, Field(ge=0)] = 0
    """Steps from one checkpoint to the next; 0: one an epoch."""
    seed: int = 0
