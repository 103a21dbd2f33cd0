"""`forethought eval report` and `eval compare`: what one or several evaluations came to."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from forethought.app.display import make_console
from forethought.app.errors import CliError, echo
from forethought.app.eval.extra import need_evals
from forethought.app.text import clean, one_line

if TYPE_CHECKING:
    from forethought.evals.report.rows import Figures, Summary
    from forethought.evals.results import Evaluation, Run


def report(logs: Sequence[Path], html: bool, as_json: bool, benchmark: str | None = None) -> int:
    """Write each evaluation's tables (and its page with plots) into its folder, and show them.

    Raises CliError for what is no evaluation, OSError where nothing can be written.
    """
    need_evals()
    from forethought.evals.merge import read_all
    from forethought.evals.report.write import write_page, write_tables

    told: list[Any] = []
    with _as_cli_errors():
        for evaluation in read_all(logs):
            found = write_tables(evaluation, summary_for(evaluation, benchmark))
            page = write_page(evaluation, found) if html else None
            told.append(_told(evaluation, found) | ({"page": str(page)} if page else {}))
            if not as_json:
                show(evaluation.run, found)
            if page:
                echo(f"page: {page}")
    if as_json:
        _print(told[0] if len(told) == 1 else told)
    return 0


def compare(logs: Sequence[Path], html: Path | None, as_json: bool, benchmark: str | None = None) -> int:
    """Hold the methods of all `logs` against the first one, on the samples that they share.

    Raises CliError for what cannot be compared, OSError where the page cannot be written.
    """
    need_evals()
    from forethought.evals.merge import merged, read_all
    from forethought.evals.report.rows import figures
    from forethought.evals.report.write import write_page_to

    with _as_cli_errors():
        evaluation, differences = merged(read_all(logs))
        found = figures(evaluation, summary_for(evaluation, benchmark))
        if html:
            write_page_to(html, evaluation, found)
    if as_json:
        _print(_told(evaluation, found) | {"differences": differences})
    else:
        show(evaluation.run, found)
    for line in differences:
        echo(line)
    if html:
        echo(f"page: {html}")
    return 0


def show(run: Run, found: Figures) -> None:
    """The main table and the comparisons, on the terminal."""
    from forethought.evals.report.table import HEAD, cells, notes, paired_text

    console = make_console()
    console.print(Text(run.title or run.benchmark, style="bold"))
    for note in notes(run, found):
        console.print(Text(clean(note.strip("*"))))
    table = Table(*HEAD, box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in found.rows:
        table.add_row(*(Text(clean(cell)) for cell in cells(row)))
    console.print(table)
    for one in found.paired:
        console.print(Text(clean(paired_text(one))))


def summary_for(evaluation: Evaluation, named: str | None = None) -> Summary | None:
    """The benchmark's own figures; None for one that is not ours and that nobody has `named` now.

    The evaluation's name for it is read from its folder, so that it never names what is imported. Raises
    CliError where `named` is another one, or cannot be imported.
    """
    from forethought.evals import registry
    from forethought.evals.report.write import summary_of

    name = evaluation.run.benchmark
    shown = one_line(name, 200)
    if named not in (None, name):
        raise CliError(f"{evaluation.folder} is an evaluation on {shown}, not on {one_line(named, 200)}")
    try:
        return summary_of(registry.benchmark(named) if named else registry.built_in_benchmark(name))
    except registry.UnknownNameError as error:
        if named:
            raise CliError(str(error)) from error
    echo(f"without {shown}'s own figures: to have them, name it with --benchmark, which imports it")
    return None


def _told(evaluation: Evaluation, found: Figures) -> dict[str, Any]:
    return {"folder": str(evaluation.folder), "run": evaluation.run.model_dump(), **found.as_json()}


def _print(value: Any) -> None:
    from forethought.evals.results import as_json

    sys.stdout.write(as_json(value))


@contextmanager
def _as_cli_errors() -> Iterator[None]:
    from forethought.evals.plots.canvas import PlotError
    from forethought.evals.results import ResultsError

    try:
        yield
    except (ResultsError, PlotError) as error:
        raise CliError(str(error)) from error
