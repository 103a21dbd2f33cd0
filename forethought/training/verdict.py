"""The verdict file beside a model: what the gate found, and of which weights.

A model that was trained again, or changed otherwise, has other weights than its verdict says, and is not
loaded.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from forethought.training.errors import TrainingError
from forethought.training.gate import Verdict
from forethought.training.jsonl import sha256, write_json

VERDICT = "gate.json"
WEIGHTS = "*.safetensors"


class Gated(BaseModel):
    """A verdict and the weights that it is about."""

    model_config = ConfigDict(extra="ignore")

    weights: str
    verdict: Verdict
    trials: dict[str, str]
    """The files of the trials, by what they are, as SHA-256."""


def write_verdict(model: Path, verdict: Verdict, prompted: Path, trained: Path) -> Path:
    """Keep the verdict beside the model. Raises TrainingError where there is no model."""
    trials = {"prompted": sha256(prompted), "trained": sha256(trained)}
    gated = Gated(weights=fingerprint(model), verdict=verdict, trials=trials)
    write_json(model / VERDICT, gated.model_dump(mode="json"))
    return model / VERDICT


def check_adopted(model: Path) -> Gated:
    """The verdict, if it is in the model's favour. Raises TrainingError that says what it is else."""
    path = model / VERDICT
    if not path.is_file():
        raise TrainingError("it has not passed the gate")
    try:
        gated = Gated.model_validate(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, ValidationError) as error:
        raise TrainingError(f"{path} is damaged") from error
    if not gated.verdict.adopted:
        raise TrainingError(f"the gate did not adopt it: {gated.verdict.reason}")
    return gated


def check_weights(model: Path, gated: Gated) -> None:
    """Raises TrainingError where the model is not the one that the gate tried."""
    if fingerprint(model) != gated.weights:
        raise TrainingError("its weights changed after it passed the gate")


def fingerprint(model: Path) -> str:
    """SHA-256 over the weights and what shapes them. Raises TrainingError where there are none."""
    weights = sorted(model.glob(WEIGHTS))
    if not weights:
        raise TrainingError(f"{model} holds no weights ({WEIGHTS}): name a trained adapter or a whole model")
    shapes = [path for name in ("adapter_config.json", "config.json") if (path := model / name).is_file()]
    whole = hashlib.sha256()
    for path in (*weights, *shapes):
        whole.update(f"{path.name}\0{sha256(path)}\0".encode())
    return whole.hexdigest()
