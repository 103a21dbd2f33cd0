"""Training, done with a tiny model: what it learns from, how it goes on, what it leaves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forethought.json_files import sha256
from forethought.training.dataset import export
from forethought.training.errors import TrainingError
from forethought.training.train import TrainOptions, last_checkpoint, train
from tests.forethought.training.samples import record, write_records


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A dataset of six tasks, one of them held out."""
    source = write_records(tmp_path / "records.jsonl", [record(number) for number in range(6)])
    export([source], tmp_path / "data", lambda text: text, held_out=0.01)
    return tmp_path / "data"


def options(base: Path, **changes: Any) -> TrainOptions:
    return TrainOptions.model_validate(
        {
            "base": str(base),
            "epochs": 4,
            "learning_rate": 1e-2,
            "max_length": 2048,
            "lora_dropout": 0,
            **changes,
        }
    )


def losses(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "loss.jsonl").read_text().splitlines()]


def weights(out: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return dict(load_file(out / "adapter_model.safetensors"))


@pytest.mark.train
def test_the_loss_falls_and_the_run_leaves_all_that_it_was_made_with(
    data: Path, base_model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "model"
    made = train(data, options(base_model), out, print)
    rows = len((data / "train.jsonl").read_text().splitlines())
    assert made.steps == 4 * rows
    assert made.last_loss < made.first_loss / 2
    lines = losses(out)
    rates = [line["learning_rate"] for line in lines if "learning_rate" in line]
    assert rates[0] == pytest.approx(1e-2)
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] <= 1e-2 / made.steps * 1.01
    assert sum("eval_loss" in line for line in lines) == 4
    told = json.loads((out / "training.json").read_text())
    assert told["finished"]
    assert told["dataset"] == sha256(data / "train.jsonl")
    assert told["choices"] == options(base_model).model_dump()
    assert len(told["task_ids"]) == rows
    with pytest.raises(TrainingError, match="finished"):
        train(data, options(base_model), out, print)


@pytest.mark.train
def test_only_the_reflections_tokens_have_a_loss(data: Path, base_model: Path, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    from forethought.training.dataset import load_dataset
    from forethought.training.train import _trainer, count_tokens

    tokenizer = AutoTokenizer.from_pretrained(base_model)
    row = load_dataset(data).train[0]
    trainer = _trainer(options(base_model), tmp_path / "out", tokenizer, [row], [])
    batch = next(iter(trainer.get_train_dataloader()))
    learnt = batch["input_ids"][batch["labels"] != -100].tolist()
    assert tokenizer.decode(learnt).strip() == f"{row.messages[2].content}<|im_end|>"
    assert batch["input_ids"].shape == (1, count_tokens(tokenizer, row))


@pytest.mark.train
def test_a_run_that_was_broken_off_goes_on_to_the_same_weights(
    data: Path, base_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = options(base_model)
    train(data, asked, tmp_path / "whole", print)
    from trl import SFTTrainer

    step, taken = SFTTrainer.training_step, []

    def until(self: Any, *given: Any, **rest: Any) -> Any:
        taken.append(1)
        if len(taken) == 14:
            raise KeyboardInterrupt
        return step(self, *given, **rest)

    monkeypatch.setattr(SFTTrainer, "training_step", until)
    out = tmp_path / "broken"
    with pytest.raises(KeyboardInterrupt):
        train(data, asked, out, print)
    monkeypatch.setattr(SFTTrainer, "training_step", step)
    (out / "checkpoint-99").mkdir()  # as a kill while a checkpoint is written leaves it
    with pytest.raises(TrainingError, match="different settings"):
        train(data, options(base_model, seed=1), out, print)
    said: list[str] = []
    train(data, asked, out, said.append)
    assert said == ["continuing from checkpoint-10"]
    whole, broken = weights(tmp_path / "whole"), weights(out)
    assert whole.keys() == broken.keys()
    assert all(whole[name].allclose(broken[name], atol=1e-6) for name in whole)
    steps = [line["step"] for line in losses(out) if "loss" in line]
    assert steps == list(range(1, 21))


@pytest.mark.train
@pytest.mark.parametrize("make", [lambda base: base / "nowhere", lambda base: base.parent])
def test_a_base_that_is_no_model_is_one_line(make: Any, data: Path, base_model: Path, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="no model there") as caught:
        train(data, options(make(base_model)), tmp_path / "a", print)
    assert "\n" not in str(caught.value)


def test_defaults_are_the_papers() -> None:
    asked = TrainOptions()
    assert (asked.base, asked.learning_rate, asked.epochs) == ("Qwen/Qwen2.5-3B-Instruct", 5e-5, 15)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"finished": True}, "finished"),
        ({"dataset": "e"}, "different settings and data"),
        ({}, "different settings"),
    ],
)
def test_only_the_same_run_is_gone_on_with(
    data: Path, tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    record = {"choices": {"epochs": 3}, "dataset": sha256(data / "train.jsonl"), **changes}
    (tmp_path / "training.json").write_text(json.dumps(record))
    with pytest.raises(TrainingError, match=said):
        train(data, TrainOptions(), tmp_path, print)


def test_the_last_whole_checkpoint_counts_by_number(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path) is None
    for name, text in {"checkpoint-9": "{}", "checkpoint-10": "{}", "checkpoint-11": ""}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "trainer_state.json").write_text(text)
    (tmp_path / "checkpoint-12").mkdir()
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"
