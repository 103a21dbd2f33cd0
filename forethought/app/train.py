"""train export, run and gate: a retrospective model, from synthesized reflections to its gate."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from forethought.app.command_flags import CommandOptions, argument, flag, typer_command
from forethought.app.errors import ANSWERED, NOT_PASSED, CliError, echo, input_errors
from forethought.app.options import settings_from

if TYPE_CHECKING:
    from forethought.training.gate import Retry

train_app = typer.Typer(
    help="Train a small model on reflections, and evaluate it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class ExportOptions(CommandOptions):
    """The flags of `train export`."""

    records: list[Path] = argument(
        help="Files from `synthesize`, or an evaluation's learned/samule.json.", metavar="RECORDS"
    )
    out: Path = flag(help="Output folder.", metavar="DIR", default=...)
    format: Literal["local", "openai"] = flag(help="Dataset format.", default="local")
    held_out: float = flag(help="Share of tasks to hold out.", metavar="S", default=0.1, min=0, max=0.9)
    seed: int = flag(help="Random seed.", metavar="N", default=0)


class TrainRunOptions(CommandOptions):
    """The flags of `train run`; what is not given is as the paper has it."""

    data: Path = argument(help="Folder from `train export`.", metavar="DATA")
    out: Path = flag(help="Output folder, new or to continue.", metavar="DIR", default=...)
    base: str | None = flag(help="Base model: folder or Hub name.", metavar="MODEL_OR_PATH")
    epochs: int | None = flag(help="Passes over the rows.", metavar="N", min=1)
    learning_rate: float | None = flag(help="Initial learning rate.", metavar="R")
    max_length: int | None = flag(help="Maximum tokens per row.", metavar="N", min=64)
    seed: int = flag(help="Random seed.", metavar="N", default=0)


class GateOptions(CommandOptions):
    """The flags of `train gate`."""

    folder: Path = argument(help="Trained model's folder.", metavar="MODEL")
    evaluation: Path = flag(
        help="Folder from `eval run --method error-reduction`.", metavar="DIR", default=...
    )
    seed: int = flag(help="Random seed.", metavar="N", default=0)


class ReductionOptions(CommandOptions):
    """The flags of `train reduction`."""

    evaluation: Path = argument(help="Folder from `eval run --method error-reduction`.", metavar="DIR")


def export(options: ExportOptions) -> int:
    """Turn records into a chat dataset, without secrets or duplicates."""
    from forethought.redaction import scrubber
    from forethought.training.dataset import HELD_OUT, TRAIN, export

    scrub = scrubber(settings_from(options))
    hosted, folder = options.format == "openai", options.out
    split: dict[str, Any] = {"held_out": options.held_out, "seed": options.seed}
    summary = export(options.records, folder, scrub, hosted=hosted, **split)
    use = (
        f"next: upload {folder / TRAIN} (at least 10 rows) and {folder / HELD_OUT} with purpose fine-tune, "
        "start a job, and name its model with --set retrospective_model=openai:MODEL"
    )
    lines = [
        f"{summary.read} records read; {summary.scrubbed} had secrets redacted",
        f"{summary.duplicates} duplicates left out",
        f"{summary.train} rows of {summary.tasks[0]} tasks to train on",
        f"{summary.held_out} rows of {summary.tasks[1]} tasks held out",
        use if hosted else f"next: forethought train run {folder} --out MODEL",
    ]
    options.print_result(asdict(summary), lines)
    return ANSWERED


def run(options: TrainRunOptions) -> int:
    """Train a LoRA adapter, or continue an interrupted training."""
    from forethought.training.train import TrainOptions, train

    with input_errors():
        chosen = TrainOptions.model_validate(
            options.model_dump(include=set(TrainOptions.model_fields), exclude_none=True)
        )
    summary = train(options.data, chosen, options.out, echo)
    if os.environ.get("RANK", "0") != "0":
        return ANSWERED
    lines = [
        f"{summary.rows} rows, {summary.steps} steps",
        f"loss on the reflections: {summary.first_loss:.3f} at the start, {summary.last_loss:.3f} at the end",
        f"next: FORETHOUGHT_MODELS_DIR={summary.out.parent} FORETHOUGHT_ALLOW_UNGATED_MODELS=true "
        "forethought eval run BENCHMARK --method error-reduction "
        f"--set retrospective_model=local:{summary.out.name} --out DIR",
        f"then: forethought train gate {summary.out} --evaluation DIR",
    ]
    options.print_result({**asdict(summary), "out": str(summary.out)}, lines)
    return ANSWERED


def gate(options: GateOptions) -> int:
    """Adopt a model if its reflections beat prompted ones."""
    from forethought.training.gate import check_held_out, check_weights, compare, write_result
    from forethought.training.train import RECORD, trained_on

    check_weights(options.folder)
    retries = _retries(options.evaluation)
    prompted, trained = ([retry for retry, _ in retries.get(name, [])] for name in ("samule", "trained"))
    if not trained:
        raise CliError(
            f"{options.evaluation} has no retries after a trained model's reflections: run `eval run "
            "BENCHMARK --method error-reduction --set retrospective_model=...`"
        )
    record = options.folder / RECORD
    if record.is_file():
        check_held_out([*prompted, *trained], *trained_on(options.folder))
    else:
        echo(f"{record} is missing, so nothing shows that the tasks were held out")
    result = compare(prompted, trained, options.seed)
    path = write_result(options.folder, result)
    value, low, high = result.difference
    lines = [
        f"prompted: {result.prompted.rate:.2f} of {result.prompted.identified} errors prevented",
        f"trained: {result.trained.rate:.2f} of {result.trained.identified} errors prevented",
        f"difference: {value:+.2f} (95 %: {low:+.2f} to {high:+.2f}), {result.tasks} tasks",
        f"{'adopted' if result.adopted else 'not adopted'}: {result.reason}",
        f"verdict written to {path}",
    ]
    if result.adopted:
        use = f"--set round_reflection=true --set retrospective_model=local:{options.folder.name}"
        lines.append(f"next: FORETHOUGHT_MODELS_DIR={options.folder.parent} forethought run TASK {use}")
    options.print_result(result.model_dump(), lines)
    return ANSWERED if result.adopted else NOT_PASSED


def reduction(options: ReductionOptions) -> int:
    """Show each reflector's error reduction rate."""
    from forethought.training.gate import rate_of

    rows = {
        name: {
            **rate_of([retry for retry, _ in pairs]).model_dump(),
            "retries": len(pairs),
            "solved": sum(solved for _, solved in pairs),
        }
        for name, pairs in _retries(options.evaluation).items()
    }
    lines = [
        f"{name}: {row['rate']:.2f} of {row['identified']} errors prevented, {row['new']} new; "
        f"{row['solved']} of {row['retries']} retries solved the task"
        for name, row in rows.items()
    ]
    options.print_result(rows, lines)
    return ANSWERED


def _retries(folder: Path) -> dict[str, list[tuple[Retry, bool]]]:
    """By reflector, the retries of an evaluation and whether each solved the task. Raises CliError."""
    from forethought.evals.results import read_evaluation
    from forethought.training.gate import Retry

    found: dict[str, list[tuple[Retry, bool]]] = {}
    with input_errors():
        for result in read_evaluation(folder).results:
            for item in result.retries:
                retry = Retry.model_validate({name: item[name] for name in Retry.model_fields})
                found.setdefault(item["reflector"], []).append((retry, item["solved"]))
    if not found:
        raise CliError(
            f"{folder} has no retries: run `eval run BENCHMARK --method error-reduction --out {folder}`"
        )
    return found


for command in (export, run, gate, reduction):
    train_app.command()(typer_command(command))
