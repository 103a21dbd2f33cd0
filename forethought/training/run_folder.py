"""The folder of a training run: its record, its checkpoints, its losses, and whether it can be continued."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forethought.json_files import FileError, read_object, write_text
from forethought.training.errors import TrainingError, needs_extra

RECORD = "training.json"
LOSSES, PICTURE = "loss.jsonl", "loss.svg"
_CHECKPOINT = re.compile(r"checkpoint-(\d+)")
_LOGGED = ("loss", "eval_loss", "learning_rate", "grad_norm", "mean_token_accuracy", "num_tokens")


def last_checkpoint(out: Path) -> Path | None:
    """The latest whole checkpoint: one that was being written when the run was broken off is passed over."""
    numbered = {
        int(match[1]): path
        for path in out.glob("checkpoint-*")
        if (match := _CHECKPOINT.fullmatch(path.name)) and _is_whole(path)
    }
    return numbered[max(numbered)] if numbered else None


def _is_whole(checkpoint: Path) -> bool:
    """Whether the file that is written last of a checkpoint is there and whole."""
    try:
        read_object(checkpoint / "trainer_state.json")
    except FileError:
        return False
    return True


def check_same_run(out: Path, options: Mapping[str, Any], dataset: str) -> None:
    """Raises TrainingError where `out` holds a finished run, or another one than is asked for."""
    if not (out / RECORD).is_file():
        if out.is_dir() and any(out.iterdir()):
            raise TrainingError(
                f"{out} is not empty and holds no training run: name another folder with --out"
            )
        return
    old = read_object(out / RECORD)
    if old.get("finished"):
        raise TrainingError(f"{out} holds a finished training run: name another folder with --out")
    if old.get("dataset") != dataset:
        raise TrainingError(f"{out} holds a run on other data: go on with that data, or name another --out")
    before = old.get("choices") or {}
    changed = [f"{key} was {before.get(key)}" for key, value in options.items() if before.get(key) != value]
    if changed:
        raise TrainingError(
            f"{out} holds a run with other settings ({', '.join(changed)}): use those, or name another --out"
        )


def trained_on(out: Path) -> tuple[list[str], list[str]]:
    """The ids and the normalised texts of the tasks that a model was trained on. Raises FileError."""
    record = read_object(out / RECORD)
    ids, tasks = record.get("task_ids"), record.get("tasks")
    if not (isinstance(ids, list) and isinstance(tasks, list)):
        raise FileError(f"{out / RECORD}: damaged, it does not say what was trained on")
    return ids, tasks


class Losses:
    """The lines of a run's loss.jsonl. A resumed run drops those of steps that it does again."""

    def __init__(self, out: Path, resumed_at: int = 0) -> None:
        self.path = out / LOSSES
        lines = [line for line in read_losses(out) if line["step"] <= resumed_at] if resumed_at else []
        write_text(self.path, "".join(f"{json.dumps(line)}\n" for line in lines))

    def add(self, step: int, epoch: float | None, logs: dict[str, Any]) -> None:
        """Append what the trainer logged, if there is a loss in it."""
        if "loss" not in logs and "eval_loss" not in logs:
            return
        line = {"step": step, "epoch": epoch, **{key: logs[key] for key in _LOGGED if key in logs}}
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
