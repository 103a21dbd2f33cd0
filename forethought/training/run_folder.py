"""The folder of a training run: its record, its checkpoints, its losses, and whether it can be continued."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forethought.json_files import FileError, read_object, write_records
from forethought.training.errors import TrainingError, needs_extra

RECORD = "training.json"
LOSSES, PICTURE = "loss.jsonl", "loss.svg"
_CHECKPOINT = re.compile(r"checkpoint-(\d+)")


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
    return record["task_ids"], record["tasks"]


def write_losses(out: Path, history: Sequence[dict[str, Any]]) -> None:
    """Write loss.jsonl from a trainer's log and draw loss.svg.

    Raises TrainingError where there is nothing to draw with.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise needs_extra(error) from error
    lines = [line for line in history if "loss" in line or "eval_loss" in line]
    write_records(out / LOSSES, lines)
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
    figure.savefig(out / PICTURE, metadata={"Date": None})
