"""A run's folder: what can be gone on with, and its losses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forethought.json_files import FileError
from forethought.training.errors import TrainingError
from forethought.training.run_folder import Losses, check_same_run, last_checkpoint, read_losses, trained_on
from forethought.training.train import TrainOptions

OPTIONS = TrainOptions().model_dump()


def begun(out: Path, **changes: object) -> None:
    """What a run that was broken off leaves."""
    told = {"choices": OPTIONS, "dataset": "d", "finished": False, **changes}
    (out / "training.json").write_text(json.dumps(told))


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
    (tmp_path / "training.json").write_text("{")
    with pytest.raises(FileError, match="broken JSON"):
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


def test_a_resumed_run_drops_the_losses_it_does_again(tmp_path: Path) -> None:
    first = Losses(tmp_path)
    for step in range(1, 6):
        first.add(step, step / 5, {"loss": 1 / step, "other": 3})
    first.add(5, 1.0, {"train_runtime": 3})
    with (tmp_path / "loss.jsonl").open("a") as file:
        file.write('{"step": 6, "lo')
    Losses(tmp_path, resumed_at=3).add(4, 0.8, {"loss": 0.2})
    assert [(line["step"], line["loss"]) for line in read_losses(tmp_path)] == [
        (1, 1.0),
        (2, 0.5),
        (3, 1 / 3),
        (4, 0.2),
    ]
    assert "other" not in read_losses(tmp_path)[0]


@pytest.mark.parametrize("content", ["{}", "[]", "{", '{"task_ids": 1, "tasks": []}'])
def test_a_damaged_record_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "training.json").write_text(content)
    with pytest.raises(FileError, match=r"training\.json:? .*(damaged|broken JSON|no JSON object)"):
        trained_on(tmp_path)
