"""The flags of `forethought debug`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from forethought.app.command_flags import (
    AllowWrites,
    BaseUrl,
    Db,
    Debug,
    Environment,
    Json,
    Model,
    Sets,
    Tools,
    begin,
)

# As in forethought/state/debugger.py, which is not imported for the sake of `--help`.
Method = Literal["agentdebug", "direct", "brute_force", "binary_search", "counterfactual"]
Rerun = Literal["agentdebug", "self_refine", "vanilla", "best_of_n", "tree_of_thoughts"]
Judge = Literal["gold", "model", "person", "environment", "none"]


def with_rerun_method(arguments: Sequence[str]) -> list[str]:
    """The command line with the method that a bare --rerun means: the parser knows no optional values."""
    given = list(arguments)
    if not given or given[0] != "debug":
        return given
    end = given.index("--") if "--" in given else len(given)
    for at in range(end):
        if given[at] == "--rerun" and (at + 1 == len(given) or given[at + 1] not in get_args(Rerun)):
            given[at] = "--rerun=agentdebug"
    return given


def debug(
    thread: Annotated[
        str | None, typer.Argument(help="A thread, as `threads` lists it.", metavar="THREAD")
    ] = None,
    trajectory: Annotated[
        Path | None,
        typer.Option("--trajectory", help="A recorded trajectory instead.", metavar="FILE"),
    ] = None,
    pick: Annotated[
        str | None, typer.Option("--pick", help="Which one of the file's trajectories.", metavar="ID")
    ] = None,
    score: Annotated[
        bool, typer.Option("--score", help="Measure on all annotated trajectories of a file or folder.")
    ] = False,
    expect: Annotated[
        str | None, typer.Option("--expect", help="The answer of a right run.", metavar="TEXT")
    ] = None,
    rerun: Annotated[
        Rerun | None,
        typer.Option("--rerun", help="Run again from the critical step; alone it means agentdebug."),
    ] = None,
    method: Annotated[
        Method | None, typer.Option("--method", help="How the critical error is found (agentdebug).")
    ] = None,
    judge: Annotated[Judge | None, typer.Option("--judge", help="Who says whether a run succeeded.")] = None,
    max_reruns: Annotated[
        int | None, typer.Option("--max-reruns", help="Re-runs at most (5).", min=1, max=20, metavar="N")
    ] = None,
    environment: Environment = None,
    allow_writes: AllowWrites = False,
    model: Model = None,
    base_url: BaseUrl = None,
    db: Db = None,
    sets: Sets = None,
    tools: Tools = None,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Find the step that doomed a run and, with --rerun, run it again from there."""
    begin(debug)
    from forethought.app.debug import debugging
    from forethought.app.debug.choices import Asked
    from forethought.app.options import Flags

    asked = Asked(
        thread, trajectory, pick, score, expect, rerun, method, judge, max_reruns, environment, allow_writes
    )
    flags = Flags(
        model,
        base_url,
        db,
        tuple(sets or ()),
        tools,
        environment=environment,
        allow_writes=allow_writes,
    )
    return debugging.debug(asked, flags, as_json)
