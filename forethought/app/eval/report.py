"""`eval list`, `eval report` and `eval compare`: what there is, and what evaluations came to."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.markdown import Markdown
from rich.text import Text

from forethought.app.command_flags import CommandOptions
from forethought.app.display import make_console
from forethought.app.errors import CliError, echo
from forethought.app.options import settings_from
from forethought.app.text import clean, one_line, to_json
from forethought.evals import registry
from forethought.evals.results import Evaluation, ResultsError, Run, as_json_text, merged, read_evaluations
from forethought.evals.types import Benchmark, DataError, InfrastructureError
from forethought.settings import Settings

Json = dict[str, Any]


def list_evaluations(options: CommandOptions) -> int:
    """Show what can be evaluated. Returns the exit code. Raises CliError."""
    settings = settings_from(options)
    benchmarks = [_benchmark(name, settings) for name in registry.BENCHMARKS]
    methods = [{"name": name, "about": registry.method(name).about} for name in registry.method_names()]
    if options.as_json:
        print(to_json({"benchmarks": benchmarks, "methods": methods}))
        return 0
    console = make_console()
    console.print("benchmarks")
    for item in benchmarks:
        console.print(Text(f"  {item['name']}: {item['title']}. {item['about']}".rstrip()))
        place = f" in {item['data']}" if Path(item["data"]).exists() else ", which need no data"
        here = f"{item['samples']} samples{place}" if item["samples"] else item["missing"]
        console.print(Text(f"    {here}", style="green" if item["samples"] else "yellow"))
    console.print("  a file of your own questions (.jsonl, .csv), or MODULE:OBJECT")
    console.print("methods")
    for item in methods:
        console.print(Text(f"  {item['name']}: {item['about']}"))
    return 0


def _benchmark(name: str, settings: Settings) -> Json:
    data = settings.benchmarks_dir / name
    record: Json = {"name": name, "title": "", "about": "", "data": str(data), "samples": 0, "missing": ""}
    try:
        benchmark = registry.benchmark(name)
        record |= {"title": benchmark.title, "about": benchmark.about, "options": dict(benchmark.options)}
        record["samples"] = len(benchmark.samples(data, {}))
    except (DataError, InfrastructureError, ImportError) as error:
        record["missing"] = one_line(error, 1000)
    return record


def report(logs: Sequence[Path], html: bool, as_json: bool, benchmark: str | None = None) -> int:
    """Write each evaluation's tables (and its page with plots) into its folder, and show them.

    Raises CliError for what is no evaluation, OSError where nothing can be written.
    """
    from forethought.evals.report.write import write_page, write_tables

    records: list[Json] = []
    with _as_cli_errors():
        for evaluation in read_evaluations(logs):
            figures = write_tables(evaluation, summary_for(evaluation, benchmark))
            page = write_page(evaluation, figures) if html else None
            records.append(_record(evaluation, figures) | ({"page": str(page)} if page else {}))
            if not as_json:
                show(evaluation.run, figures)
            if page:
                echo(f"page: {page}")
    if as_json:
        sys.stdout.write(as_json_text(records[0] if len(records) == 1 else records))
    return 0


def compare(logs: Sequence[Path], html: Path | None, as_json: bool, benchmark: str | None = None) -> int:
    """Hold the methods of all `logs` against the first one, on the samples that they share.

    Raises CliError for what cannot be compared, OSError where the page cannot be written.
    """
    from forethought.evals.report.rows import figures_of
    from forethought.evals.report.write import write_page

    with _as_cli_errors():
        evaluation, differences = merged(read_evaluations(logs))
        figures = figures_of(evaluation, summary_for(evaluation, benchmark))
        if html:
            write_page(evaluation, figures, html)
    if as_json:
        sys.stdout.write(as_json_text(_record(evaluation, figures) | {"differences": differences}))
    else:
        show(evaluation.run, figures)
    for line in differences:
        echo(line)
    if html:
        echo(f"page: {html}")
    return 0


def show(run: Run, figures: Any) -> None:
    """The tables and the comparisons, on the terminal."""
    from forethought.evals.report.table import markdown

    make_console().print(Markdown(clean(markdown(run, figures))))


def summary_for(evaluation: Evaluation, named: str | None) -> Any:
    """The benchmark's own figures; None for one that is not ours and that nobody has `named` now."""
    from forethought.evals.report.write import summary_of

    benchmark = benchmark_of(evaluation, named)
    if benchmark is None:
        shown = one_line(evaluation.run.benchmark, 200)
        echo(f"{shown}'s own figures are missing: add --benchmark {shown}, which imports it")
    return benchmark and summary_of(benchmark)


def benchmark_of(
    evaluation: Evaluation, named: str | None, checkers: Collection[str] = ()
) -> Benchmark | None:
    """The evaluation's benchmark; None for one that is not ours and that nobody has `named` now.

    The evaluation's name for it is read from its folder, so that it never names what is imported. Raises
    CliError where `named` is another one, or cannot be imported.
    """
    name = evaluation.run.benchmark
    try:
        make = registry.benchmark if named else registry.built_in_benchmark
        benchmark = make(named or name, checkers)
    except registry.UnknownNameError as error:
        if named:
            raise CliError(str(error)) from error
        return None
    if benchmark.name != name:
        shown = one_line(name, 200)
        raise CliError(
            f"{evaluation.folder} is an evaluation on {shown}, not on {benchmark.name}: correct --benchmark"
        )
    return benchmark


def _record(evaluation: Evaluation, figures: Any) -> Json:
    return {"folder": str(evaluation.folder), "run": evaluation.run.model_dump(), **figures.as_json()}


@contextmanager
def _as_cli_errors() -> Iterator[None]:
    from forethought.evals.plots import PlotError

    try:
        yield
    except (ResultsError, PlotError) as error:
        raise CliError(str(error)) from error
