"""Supervised fine-tuning of the retrospective model with LoRA (SAMULE 3.2.2, appendix A).

The loss is on the reflection alone. A run that was broken off goes on from its last whole checkpoint. What is
kept: the adapter and the tokenizer, what it was made with (training.json), its losses and their picture.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from forethought.json_files import write_json
from forethought.training.dataset import Dataset, Row, load_dataset
from forethought.training.errors import TrainingError, needs_extra
from forethought.training.fit import Fitted, TooLong, fit
from forethought.training.run_folder import PICTURE, RECORD, check_same_run, last_checkpoint, write_losses

BASE = "Qwen/Qwen2.5-3B-Instruct"


class TrainOptions(BaseModel):
    """What decides how a model comes out, besides the data. Defaults are the paper's where it states them
    (SAMULE, appendix A)."""

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


@dataclass(frozen=True)
class TrainSummary:
    """A finished run."""

    out: Path
    rows: int
    steps: int
    first_loss: float
    last_loss: float
    picture: Path


def train(data: Path, options: TrainOptions, out: Path, say: Callable[[str], None]) -> TrainSummary:
    """Train on `data` and keep the adapter in `out`; goes on with a run that was broken off there.

    Raises TrainingError: an extra, the base model or the data is missing, no row fits, or the folder holds
    another run.
    """
    dataset = load_dataset(data)
    # Of several processes the first alone writes, and what it wrote must not stop the others.
    first = os.environ.get("RANK", "0") == "0"
    if first:
        check_same_run(out, options.model_dump(), dataset.sha256)
    try:
        import peft  # noqa: F401
        import torch
        import trl  # noqa: F401
    except ImportError as error:
        raise needs_extra(error) from error
    tokenizer, limit = _load_tokenizer(options)
    tokens = partial(count_tokens, tokenizer)
    train_rows = fit(dataset.train, tokens, limit, options.too_long)
    away = fit(dataset.held_out, tokens, limit, "cut") if dataset.held_out else Fitted([])
    if line := train_rows.line():
        say(line)
    checkpoint = last_checkpoint(out)
    record = _record(options, dataset)
    if first:
        write_json(out / RECORD, record)
        if checkpoint:
            say(f"going on from {checkpoint.name}")
    trainer = _trainer(options, out, tokenizer, train_rows.rows, away.rows)
    _show_loss_in_the_bar(trainer)
    try:
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    except torch.OutOfMemoryError as error:
        raise TrainingError(
            f"the device's memory is full at rows of up to {train_rows.longest} tokens: lower --max-length "
            "(with --too-long cut), take a smaller base, or more GPUs (--gpus)"
        ) from error
    trainer.save_model(str(out))
    losses = [line["loss"] for line in trainer.state.log_history if "loss" in line] or [float("nan")]
    if first:
        write_losses(out, trainer.state.log_history)
        write_json(out / RECORD, {**record, "finished": True, "steps": trainer.state.global_step})
    return TrainSummary(
        out, len(train_rows.rows), trainer.state.global_step, losses[0], losses[-1], out / PICTURE
    )


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
        raise TrainingError(f"--base {options.base} has no chat template: take an instruction-tuned model")
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
        per_device_train_batch_size=options.batch_size,
        per_device_eval_batch_size=1,
        gradient_accumulation_steps=1,
        max_length=None,
        completion_only_loss=True,
        bf16=bf16,
        model_init_kwargs={"dtype": "bfloat16" if bf16 else "float32"},
        save_strategy="steps" if options.save_steps else "epoch",
        save_steps=options.save_steps or 500,
        save_total_limit=2,
        eval_strategy="epoch" if away else "no",
        logging_steps=1,
        seed=options.seed,
        data_seed=options.seed,
        report_to="none",
        disable_tqdm=None,
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


def _show_loss_in_the_bar(trainer: Any) -> None:
    """Show the last loss beside the progress bar instead of printing a line for each."""
    from transformers import PrinterCallback, ProgressCallback

    class Bar(ProgressCallback):  # type: ignore[misc]
        """The progress bar, on stderr."""

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **rest: Any) -> None:
            if self.training_bar is not None and "loss" in (logs or {}):
                self.training_bar.set_postfix(loss=logs["loss"])

    for printing in (PrinterCallback, ProgressCallback):
        trainer.remove_callback(printing)
    trainer.add_callback(Bar())


def _record(options: TrainOptions, dataset: Dataset) -> dict[str, Any]:
    """What a run is continued by, and what the gate checks held-out tasks against."""
    return {
        "choices": options.model_dump(),
        "dataset": dataset.sha256,
        "task_ids": sorted({row.task_id for row in dataset.train}),
        "tasks": sorted({row.task for row in dataset.train}),
        "finished": False,
    }
