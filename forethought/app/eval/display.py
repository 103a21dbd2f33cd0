"""Shows an evaluation: a line a run, the table at its end, and where everything is."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from forethought.app.eval.report import show
from forethought.app.eval.state import Underway
from forethought.app.text import one_line
from forethought.evals.report.write import summary_of, write_tables
from forethought.evals.results import Result, read_evaluation

Json = dict[str, Any]
_LISTED = 10


def result_line(result: Result) -> str:
    """A finished run in a few words."""
    came = f"{result.score:.2f}" if result.score is not None else result.label or "not tried"
    why = one_line(result.error, 120) if result.error else result.status
    return f"{result.method} {result.sample}--{result.trial}: {came} ({why})"


def show_ended(underway: Underway, waits: bool, as_json: bool) -> Json:
    """Write table.md and results.json, and show them, what is to be mended, and where to look on. Returns it
    all as plain JSON. Raises OSError."""
    evaluation = read_evaluation(underway.bench.folder.root)
    figures = write_tables(evaluation, summary_of(underway.choices.benchmark))
    if not as_json:
        show(evaluation.run, figures)
    told = _told(underway, waits)
    _show_failed(underway.console, told["failed"])
    if told["capped"]:
        line = f"the cap is reached: {told['open']} runs have no score yet"
        underway.console.print(Text(line, style="yellow"))
    out = shlex.quote(told["out"])
    underway.console.print(Text(f"logs: inspect view --log-dir {out}/logs"))
    underway.console.print(Text(f"report: forethought eval report {out}"))
    return {**told, **figures.as_json()}


def _told(underway: Underway, waits: bool) -> Json:
    return {
        "out": str(underway.bench.folder.root),
        "status": "waits" if waits else "incomplete" if underway.left else "finished",
        "open": underway.left,
        "failed": {
            f"{result.method}--{result.sample}--{result.trial}": result.error
            for result in underway.wanted
            if not result.tried
        },
        "capped": underway.control.capped,
        "cost": underway.spent().as_json(),
        "estimate": underway.estimate.as_json() if underway.estimate else None,
    }


def _show_failed(console: Console, failed: Mapping[str, str]) -> None:
    for name, why in list(failed.items())[:_LISTED]:
        console.print(Text(f"not tried: {name}: {one_line(why, 300)}", style="yellow"))
    if len(failed) > _LISTED:
        console.print(Text(f"not tried: {len(failed) - _LISTED} more", style="yellow"))
