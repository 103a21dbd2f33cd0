"""The loss of a training run: one JSON line a logging step, and a picture of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from forethought.training.errors import TrainingError, needs_extra
from forethought.training.jsonl import write_text

LOSSES, PICTURE = "loss.jsonl", "loss.svg"
_KEPT = ("loss", "eval_loss", "learning_rate", "grad_norm", "mean_token_accuracy", "num_tokens")


class Losses:
    """The lines of a run's loss.jsonl. A resumed run drops those of steps that it does again."""

    def __init__(self, out: Path, resumed_at: int = 0) -> None:
        self.path = out / LOSSES
        kept = [line for line in read_losses(out) if line["step"] <= resumed_at] if resumed_at else []
        write_text(self.path, "".join(f"{json.dumps(line)}\n" for line in kept))

    def add(self, step: int, epoch: float | None, logs: dict[str, Any]) -> None:
        """Append what the trainer logged, if there is a loss in it."""
        if "loss" not in logs and "eval_loss" not in logs:
            return
        line = {"step": step, "epoch": epoch, **{key: logs[key] for key in _KEPT if key in logs}}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def read_losses(out: Path) -> list[dict[str, Any]]:
    """The lines of loss.jsonl, a last one that was broken off left out."""
    path = out / LOSSES
    found = []
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    return found


def plot(out: Path) -> Path:
    """Draw loss.svg from loss.jsonl: the loss of training, and of held-out rows where it was measured.

    Raises TrainingError where there is no loss yet, or nothing to draw with.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise needs_extra(error) from error
    lines = read_losses(out)
    if not lines:
        raise TrainingError(f"{out / LOSSES} holds no loss yet")
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for key, name in (("loss", "training"), ("eval_loss", "held out")):
        points = [(line["step"], line[key]) for line in lines if key in line]
        if points:
            steps, values = zip(*points, strict=True)
            axes.plot(steps, values, marker="." if len(points) < 50 else None, label=name)
    axes.set_xlabel("step")
    axes.set_ylabel("loss (nats a token of the reflection)")
    axes.set_ylim(bottom=0)
    axes.legend()
    picture = out / PICTURE
    figure.savefig(picture, metadata={"Date": None})
    return picture
