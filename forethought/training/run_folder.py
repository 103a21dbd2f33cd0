"""The folder of a training run: its record, its checkpoints, and whether it can be gone on with."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forethought.training.choices import Choices
from forethought.training.errors import TrainingError

RECORD = "training.json"
_CHECKPOINT = re.compile(r"checkpoint-(\d+)")


def last_checkpoint(out: Path) -> Path | None:
    """The latest whole checkpoint: one that was being written when the run was broken off is passed over."""
    found = [
        (int(match[1]), path)
        for path in out.glob("checkpoint-*")
        if (match := _CHECKPOINT.fullmatch(path.name))
    ]
    whole = (path for _, path in sorted(found, reverse=True) if _reads(path / "trainer_state.json"))
    return next(whole, None)


def _reads(path: Path) -> bool:
    """Whether the file, written last of a checkpoint, is there and whole."""
    try:
        json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return True


def check_same_run(out: Path, choices: Choices, dataset: str) -> None:
    """Raises TrainingError where `out` holds a finished run, or another one than is asked for."""
    path = out / RECORD
    if not path.is_file():
        if out.is_dir() and any(out.iterdir()):
            raise TrainingError(
                f"{out} is not empty and holds no training run: name another folder with --out"
            )
        return
    old = read_record(out)
    if old.get("finished"):
        raise TrainingError(f"{out} holds a finished training run: name another folder with --out")
    if old.get("dataset") != dataset:
        raise TrainingError(f"{out} holds a run on other data: go on with that data, or name another --out")
    was = old.get("choices") or {}
    changed = [
        f"{key} was {was.get(key)}" for key, value in choices.model_dump().items() if was.get(key) != value
    ]
    if changed:
        raise TrainingError(
            f"{out} holds a run with other settings ({', '.join(changed)}): use those, or name another --out"
        )


def read_record(out: Path) -> Mapping[str, Any]:
    """What training.json says. Raises TrainingError."""
    path = out / RECORD
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise TrainingError(f"{path} is missing or damaged") from error
    if not isinstance(value, dict):
        raise TrainingError(f"{path} is damaged")
    return value


def trained_on(out: Path) -> tuple[list[str], list[str]]:
    """The ids and the normalised texts of the tasks that a model was trained on. Raises TrainingError."""
    record = read_record(out)
    ids, tasks = record.get("task_ids"), record.get("tasks")
    if not (isinstance(ids, list) and isinstance(tasks, list)):
        raise TrainingError(f"{out / RECORD} is damaged: it does not say what was trained on")
    return ids, tasks
