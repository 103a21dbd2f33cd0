"""Supervised fine-tuning of the retrospective model with LoRA (SAMULE 3.2.2, appendix A).

The loss is on the reflection alone. A run that was broken off goes on from its last whole checkpoint. What is
kept: the adapter and the tokenizer, what it was made with (training.json) and its losses (loss.jsonl).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from forethought.extras import install_command
from forethought.json_files import read_object, write_json, write_records
from forethought.training.dataset import Dataset, Row, load_dataset
from forethought.training.errors import TrainingError
from forethought.training.prompt import shorten

BASE = "Qwen/Qwen2.5-3B-Instruct"
RECORD, LOSSES = "training.json", "loss.jsonl"


class TrainOptions(BaseModel):
    """What decides how a model comes out, besides the data. Defaults are the paper's where it states them
    (SAMULE, appendix A)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base: str = BASE
    """A model's name on the Hugging Face Hub, or a folder that holds one."""
    learning_rate: Annotated[float, Field(gt=0)] = 5e-5
    """Decreases linearly to 0."""
    epochs: Annotated[int, Field(ge=1)] = 15
    lora_rank: Annotated[int, Field(ge=1)] = 16
    """LoRA's rank, alpha and dropout are ours: the paper does not give them."""
    lora_alpha: Annotated[int, Field(ge=1)] = 32
    lora_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.05
    max_length: Annotated[int, Field(ge=64)] = 16_384
    """Tokens of a row, prompt and reflection; the paper's trajectories exceed 10,000."""
    seed: int = 0


@dataclass(frozen=True)
class TrainSummary:
    """A finished run."""

    out: Path
    rows: int
    steps: int
    first_loss: float
    last_loss: float


def train(data: Path, options: TrainOptions, out: Path, say: Callable[[str], None]) -> TrainSummary:
    """Train on `data` and keep the adapter in `out`; goes on with a run that was broken off there.

    Raises TrainingError: an extra, the base model or the data is missing, no row fits, or the folder holds
    another run.
    """
    dataset = load_dataset(data)
    record = _record(options, dataset)
    # Of several processes the first alone writes, and what it wrote must not stop the others.
    first = os.environ.get("RANK", "0") == "0"
    if first:
        _check_same_run(out, record)
    try:
        import peft  # noqa: F401
        import torch
        import trl  # noqa: F401
    except ImportError as error:
        raise TrainingError(f"{error.name} is not installed: {install_command('train')}") from error
    tokenizer, limit = _load_tokenizer(options)
    rows = fit(dataset.train, tokenizer, limit, say)
    checkpoint = last_checkpoint(out)
    if first:
        write_json(out / RECORD, record)
        if checkpoint:
            say(f"continuing from {checkpoint.name}")
    away = fit(dataset.held_out, tokenizer, limit, say) if dataset.held_out else []
    trainer = _trainer(options, out, tokenizer, rows, away)
    try:
        with redirect_stdout(sys.stderr):  # where the libraries tell of each step
            trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    except torch.OutOfMemoryError as error:
        raise TrainingError(
            "the device is out of memory: lower --max-length, or use a smaller base or more GPUs"
        ) from error
    trainer.save_model(str(out))
    history = trainer.state.log_history
    if first:
        write_records(out / LOSSES, [line for line in history if "loss" in line or "eval_loss" in line])
        write_json(out / RECORD, {**record, "finished": True, "steps": trainer.state.global_step})
    losses = [line["loss"] for line in history if "loss" in line] or [float("nan")]
    return TrainSummary(out, len(rows), trainer.state.global_step, losses[0], losses[-1])


def fit(rows: Sequence[Row], tokenizer: Any, limit: int, say: Callable[[str], None]) -> list[Row]:
    """The rows within `limit` tokens, long ones cut in the middle of their trajectory, as in a run.

    Raises TrainingError where none is left.
    """
    fitting, shortened = [], 0
    for row in rows:

        def fits(text: str, row: Row = row) -> bool:
            return count_tokens(tokenizer, row.with_user(text)) <= limit

        user = shorten(row.user, fits)
        if user is not None:
            fitting.append(row.with_user(user))
            shortened += user != row.user
    if not fitting:
        raise TrainingError(f"every row is longer than {limit} tokens: raise --max-length")
    if shortened:
        say(f"shortened the trajectories of {shortened} rows that were too long")
    if left_out := len(rows) - len(fitting):
        say(f"left out {left_out} rows that were too long")
    return fitting


def count_tokens(tokenizer: Any, row: Row) -> int:
    """Tokens of a row as it is trained on."""
    messages = [message.model_dump() for message in row.messages]
    return len(
        tokenizer(tokenizer.apply_chat_template(messages, tokenize=False), add_special_tokens=False).input_ids
    )


def _load_tokenizer(options: TrainOptions) -> tuple[Any, int]:
    """The base model's tokenizer, and the most tokens that a row may have."""
    from transformers import AutoConfig, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(options.base, trust_remote_code=False)
        config = AutoConfig.from_pretrained(options.base, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise TrainingError(
            f"--base {options.base}: no model there; name a folder that holds one, or a model of the Hugging "
            f"Face Hub ({str(error)[:200]})"
        ) from error
    if not tokenizer.chat_template:
        raise TrainingError(f"--base {options.base} has no chat template: use an instruction-tuned model")
    most = getattr(config, "max_position_embeddings", None) or options.max_length
    return tokenizer, min(options.max_length, most)


def _trainer(options: TrainOptions, out: Path, tokenizer: Any, rows: list[Row], away: list[Row]) -> Any:
    """trl's trainer. Its settings come before the model, so that ZeRO stage 3 can shard that as it loads."""
    import torch
    from peft import LoraConfig
    from trl import SFTConfig, SFTTrainer

    bf16 = torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    config = SFTConfig(
        output_dir=str(out),
        learning_rate=options.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=0,
        optim="adamw_torch",
        num_train_epochs=options.epochs,
        per_device_train_batch_size=1,
        per_device_eval_batch_size=1,
        gradient_accumulation_steps=1,
        max_length=None,
        completion_only_loss=True,
        bf16=bf16,
        model_init_kwargs={"dtype": "bfloat16" if bf16 else "float32"},
        save_strategy="epoch",
        save_total_limit=2,
        eval_strategy="epoch" if away else "no",
        logging_steps=1,
        seed=options.seed,
        data_seed=options.seed,
        report_to="none",
    )
    lora = LoraConfig(
        task_type="CAUSAL_LM",
        target_modules="all-linear",
        r=options.lora_rank,
        lora_alpha=options.lora_alpha,
        lora_dropout=options.lora_dropout,
    )
    return SFTTrainer(
        model=options.base,
        args=config,
        train_dataset=_as_dataset(rows),
        eval_dataset=_as_dataset(away) if away else None,
        processing_class=tokenizer,
        peft_config=lora,
    )


def _as_dataset(rows: list[Row]) -> Any:
    """The rows as prompt and completion, of which trl counts the completion's loss alone."""
    from datasets import Dataset as Table

    messages = [[message.model_dump() for message in row.messages] for row in rows]
    return Table.from_dict({"prompt": [m[:-1] for m in messages], "completion": [m[-1:] for m in messages]})


def _record(options: TrainOptions, dataset: Dataset) -> dict[str, Any]:
    """What a run is continued by, and what the gate checks held-out tasks against."""
    return {
        "choices": options.model_dump(),
        "dataset": dataset.sha256,
        "task_ids": sorted({row.task_id for row in dataset.train}),
        "tasks": sorted({row.task for row in dataset.train}),
        "finished": False,
    }


def _check_same_run(out: Path, record: dict[str, Any]) -> None:
    """Raises TrainingError where `out` holds a finished run, or another one than is asked for."""
    old = read_object(out / RECORD) if (out / RECORD).is_file() else {}
    if old.get("finished"):
        raise TrainingError(f"{out} has a finished training run: name another folder with --out")
    names = {"choices": "settings", "dataset": "data"}
    if changed := [name for key, name in names.items() if old and old.get(key) != record[key]]:
        raise TrainingError(
            f"{out} has a run with different {' and '.join(changed)}: use the same, or name another --out"
        )


def last_checkpoint(out: Path) -> Path | None:
    """The latest checkpoint that was written to its end: the trainer's state is its last file."""
    whole = [state.parent for state in out.glob("checkpoint-*/trainer_state.json") if state.stat().st_size]
    return max(whole, key=lambda path: int(path.name.rpartition("-")[2]), default=None)


def trained_on(out: Path) -> tuple[list[str], list[str]]:
    """The ids and the normalised texts of the tasks that a model was trained on. Raises FileError."""
    record = read_object(out / RECORD)
    return record["task_ids"], record["tasks"]
