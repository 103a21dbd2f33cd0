"""The flags of `forethought synthesize`. What it does is in the module that it calls."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from forethought.app.command_flags import BaseUrl, Checkers, Debug, Json, Model, Sets, begin


def synthesize(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="A tasks file (as for `collect`) whose tasks are tried; or folders of `collect` and files "
            "of trajectories with their outcomes.",
            metavar="TASKS|TRAJECTORIES...",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="File for the records, as `train export` reads.", metavar="FILE")
    ],
    trials: Annotated[
        int | None,
        typer.Option("--trials", help="Trials of a task at most (3).", min=1, max=20, metavar="K"),
    ] = None,
    success: Annotated[
        str, typer.Option("--success", help="How `expected` judges: exact, f1 or model.", metavar="HOW")
    ] = "exact",
    least_f1: Annotated[
        float, typer.Option("--least-f1", help="F1 of a success.", min=0.05, max=1, metavar="X")
    ] = 0.8,
    judge_model: Annotated[
        str | None,
        typer.Option("--judge-model", help="Model that judges; by default that of the trials.", metavar="M"),
    ] = None,
    checkers: Checkers = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin again instead of going on with the same synthesis.")
    ] = False,
    model: Model = None,
    base_url: BaseUrl = None,
    db: Annotated[
        str | None,
        typer.Option("--db", help="Database of threads; syntheses lie beside it.", metavar="URL"),
    ] = None,
    sets: Sets = None,
    tools: Annotated[
        str | None,
        typer.Option("--tools", help="Module whose functions are offered as tools too.", metavar="MODULE"),
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Reflect on failed trials at three levels, against references, into records to train a model on."""
    begin(debug)
    from forethought.app.options import Flags
    from forethought.app.synthesize import synthesizing
    from forethought.app.synthesize.choices import Asked

    asked = Asked(paths, out, trials, success, least_f1, judge_model, fresh, tuple(checkers or ()))
    return synthesizing.synthesize(asked, Flags(model, base_url, db, tuple(sets or ()), tools), as_json)
