"""The commands under `train` and their flags. What they do is in `forethought.app.train.training`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from forethought.app.command_flags import begin

train_app = typer.Typer(
    help="Train a retrospective model on synthesized reflections, and try it against prompted ones.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
Debug = Annotated[bool, typer.Option("--debug", help="Log the traceback of an error.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of all that is drawn.", metavar="N")]


@train_app.command()
def export(
    records: Annotated[
        list[Path], typer.Argument(help="Files of synthesized reflections (JSONL).", metavar="RECORDS")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for the dataset.", metavar="DIR")],
    held_out: Annotated[
        float,
        typer.Option("--held-out", help="Share of the tasks that is held out.", min=0, max=0.9, metavar="S"),
    ] = 0.1,
    seed: Seed = 0,
    similar: Annotated[
        float,
        typer.Option(
            "--similar", help="Share of text from which on two rows are alike.", min=0.5, max=1, metavar="S"
        ),
    ] = 0.9,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Make a chat dataset of RECORDS: scrubbed, without near-duplicates, split by task."""
    begin(debug)
    from forethought.app.train import training

    return training.export_dataset(records, out, training.Split(held_out, seed, similar), as_json)


@train_app.command()
def run(
    data: Annotated[
        Path, typer.Argument(help="Folder that `export` wrote, or a file of rows.", metavar="DATA")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for the adapter; goes on there.", metavar="DIR")],
    base: Annotated[
        str | None,
        typer.Option("--base", help="Base model: a folder, or a name on the Hub.", metavar="MODEL_OR_PATH"),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option("--epochs", help="Passes over the rows.", min=1, metavar="N")
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--learning-rate", help="At first; falls linearly to 0.", metavar="R")
    ] = None,
    max_length: Annotated[
        int | None, typer.Option("--max-length", help="Most tokens of a row.", min=64, metavar="N")
    ] = None,
    too_long: Annotated[
        str | None,
        typer.Option(
            "--too-long",
            help="Rows that are too long: drop, or cut in the trajectory's middle.",
            metavar="HOW",
        ),
    ] = None,
    save_steps: Annotated[
        int | None,
        typer.Option(
            "--save-steps", help="Steps between checkpoints; default: an epoch.", min=1, metavar="N"
        ),
    ] = None,
    gpus: Annotated[
        int, typer.Option("--gpus", help="GPUs, with DeepSpeed stage 3 from two on.", min=1, metavar="N")
    ] = 1,
    seed: Seed = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Train a LoRA adapter on DATA, or go on with a run that was broken off."""
    begin(debug)
    from forethought.app.train import training

    given = {
        "base": base,
        "epochs": epochs,
        "learning_rate": rate,
        "max_length": max_length,
        "too_long": too_long,
        "save_steps": save_steps,
        "seed": seed,
    }
    return training.run_training(data, out, given, gpus, as_json)


@train_app.command()
def gate(
    model: Annotated[Path, typer.Argument(help="Folder of the trained model.", metavar="MODEL")],
    prompted: Annotated[
        Path, typer.Option("--prompted", help="Trials after prompted reflections (JSONL).", metavar="FILE")
    ],
    trained: Annotated[
        Path, typer.Option("--trained", help="Trials after the model's reflections (JSONL).", metavar="FILE")
    ],
    seed: Seed = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Adopt MODEL if its reflections rid the agent of more errors than prompted ones (exit code 3 if not)."""
    begin(debug)
    from forethought.app.train import training

    return training.judge_model(model, prompted, trained, seed, as_json)
