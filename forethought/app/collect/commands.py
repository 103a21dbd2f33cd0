"""The flags of `forethought collect`. What it does is in the module that it calls."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from forethought.app.command_flags import BaseUrl, Checkers, Debug, Json, Model, Sets, begin


def collect(
    tasks: Annotated[
        Path,
        typer.Argument(
            help="JSON Lines: {id, task, files, expected | checker: MODULE:NAME} a line.", metavar="TASKS"
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the trajectories; goes on there.", metavar="DIR")
    ],
    trials: Annotated[int, typer.Option("--trials", help="Runs a task.", min=1, max=50, metavar="N")] = 3,
    success: Annotated[
        str, typer.Option("--success", help="How `expected` judges: exact, f1 or model.", metavar="HOW")
    ] = "exact",
    least_f1: Annotated[
        float, typer.Option("--least-f1", help="F1 of a success.", min=0.05, max=1, metavar="X")
    ] = 0.8,
    judge_model: Annotated[
        str | None,
        typer.Option("--judge-model", help="Model that judges; by default that of the runs.", metavar="M"),
    ] = None,
    checkers: Checkers = None,
    parallel: Annotated[
        int, typer.Option("--parallel", help="Runs side by side.", min=1, max=64, metavar="N")
    ] = 4,
    budget: Annotated[
        float | None,
        typer.Option("--budget", help="Dollars after which no further run begins.", min=0, metavar="USD"),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Go on after the estimate without asking.")
    ] = False,
    model: Model = None,
    base_url: BaseUrl = None,
    sets: Sets = None,
    tools: Annotated[
        str | None,
        typer.Option("--tools", help="Module whose functions are offered as tools too.", metavar="MODULE"),
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Run each of TASKS several times and keep the trajectories, to learn from mixed outcomes."""
    begin(debug)
    from forethought.app.collect import collecting
    from forethought.app.collect.state import Asked
    from forethought.app.options import Flags

    named = tuple(checkers or ())
    asked = Asked(tasks, out, trials, success, least_f1, judge_model, parallel, budget or None, yes, named)
    return collecting.collect(asked, Flags(model, base_url, None, tuple(sets or ()), tools), as_json)
