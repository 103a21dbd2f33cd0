"""The flags of `forethought threads`. What it does is in the modules that it calls."""

from __future__ import annotations

from typing import Annotated

import typer

from forethought.app.command_flags import Db, Debug, Json, begin


def threads(
    db: Db = None,
    limit: Annotated[int, typer.Option("--limit", help="How many, newest first.", min=1, metavar="N")] = 50,
    every: Annotated[bool, typer.Option("--all", help="Debuggings (`forethought debug`) too.")] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete old threads for good, with what only they use.")
    ] = False,
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than", help="With --prune: last written to so long ago (m, h, d, w).", metavar="30d"
        ),
    ] = None,
    status: Annotated[
        str | None,
        typer.Option(
            "--status",
            help="With --prune: of these statuses, by default answered,best_effort,budget_exhausted.",
            metavar="S,...",
        ),
    ] = None,
    keep: Annotated[
        int, typer.Option("--keep", help="With --prune: the newest N stay.", min=0, metavar="N")
    ] = 0,
    keep_files: Annotated[
        bool, typer.Option("--keep-files", help="With --prune: stored files stay.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --prune: do not ask.")] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """List the threads, newest first; or delete old ones."""
    begin(debug)
    from forethought.app.errors import CliError
    from forethought.app.options import Flags

    if prune:
        from forethought.app.threads import pruning

        choice = pruning.choice_of(older_than, status, keep, keep_files)
        return pruning.prune(Flags(db=db), choice, yes, as_json)
    if older_than is not None or status is not None or keep or keep_files or yes:
        raise CliError("--older-than, --status, --keep, --keep-files and --yes go with --prune")
    from forethought.app.threads import showing

    return showing.threads(Flags(db=db), limit, every, as_json)
