"""The flags of `forethought eval report` and `forethought eval compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from forethought.app.command_flags import Debug, Json, begin

Logs = Annotated[
    list[Path],
    typer.Argument(help="Folders that `eval run` wrote, or inspect logs in them.", metavar="LOG..."),
]
Benchmark = Annotated[
    str | None,
    typer.Option(help="An own benchmark, whose figures are wanted: it is imported.", metavar="MODULE:OBJECT"),
]


def report(
    logs: Logs,
    html: Annotated[bool, typer.Option("--html", help="Draw the plots and write report.html too.")] = False,
    benchmark: Benchmark = None,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Show an evaluation's tables and write them into its folder."""
    begin(debug)
    from forethought.app.eval import report as eval_report

    return eval_report.report(logs, html, as_json, benchmark)


def compare(
    logs: Logs,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page of the comparison.", metavar="FILE")
    ] = None,
    benchmark: Benchmark = None,
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Hold methods, or several evaluations of one benchmark, against the first one, sample by sample."""
    begin(debug)
    from forethought.app.eval import report as eval_report

    return eval_report.compare(logs, html, as_json, benchmark)
