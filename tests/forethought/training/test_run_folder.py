"""A run's folder: what can be gone on with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forethought.training.errors import TrainingError
from forethought.training.run_folder import check_same_run, last_checkpoint
from forethought.training.train import TrainOptions

OPTIONS = TrainOptions().model_dump()


def begun(out: Path, **changes: object) -> None:
    """What a run that was broken off leaves."""
    record = {"choices": OPTIONS, "dataset": "d", "finished": False, **changes}
    (out / "training.json").write_text(json.dumps(record))


def test_defaults_are_the_papers() -> None:
    asked = TrainOptions()
    assert asked.base == "Qwen/Qwen2.5-3B-Instruct"
    assert (asked.learning_rate, asked.epochs, asked.batch_size) == (5e-5, 15, 1)


def test_only_the_same_run_is_gone_on_with(tmp_path: Path) -> None:
    check_same_run(tmp_path, OPTIONS, "d")
    begun(tmp_path)
    check_same_run(tmp_path, OPTIONS, "d")
    with pytest.raises(TrainingError, match="other data"):
        check_same_run(tmp_path, OPTIONS, "e")
    with pytest.raises(TrainingError, match="epochs was 15"):
        check_same_run(tmp_path, {**OPTIONS, "epochs": 3}, "d")
    begun(tmp_path, finished=True)
    with pytest.raises(TrainingError, match="finished"):
        check_same_run(tmp_path, OPTIONS, "d")


def test_a_folder_of_other_things_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("x")
    with pytest.raises(TrainingError, match="holds no training run"):
        check_same_run(tmp_path, OPTIONS, "d")


def test_the_last_whole_checkpoint_counts_by_number(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path) is None
    for name, text in {
        "checkpoint-9": "{}",
        "checkpoint-10": "{}",
        "checkpoint-11": "{",
        "checkpoint-x": "{}",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "trainer_state.json").write_text(text)
    (tmp_path / "checkpoint-12").mkdir()
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"
