"""Writing what an evaluation came to: table.md, results.json, plots, report.html."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from forethought.evals.plots import draw_all
from forethought.evals.report import mechanisms
from forethought.evals.report.rows import Figures, Summary, figures_of
from forethought.evals.report.table import (
    HEAD,
    cells,
    interval,
    markdown,
    mechanism_tables,
    notes,
    paired_text,
    percent,
)
from forethought.evals.results import Evaluation, Result, as_json_text
from forethought.evals.types import Benchmark, Sample, Score
from forethought.json_files import write_text

LONGEST_ANSWER = 4_000
TEMPLATES = Path(__file__).parent
FILTERS = {"interval": interval, "percent": percent}
"""What report.html.j2 needs."""


def write_tables(evaluation: Evaluation, summary: Summary | None = None) -> Figures:
    """Write table.md and results.json into the evaluation's folder. Returns the figures."""
    figures = figures_of(evaluation, summary)
    write_text(evaluation.folder / "table.md", markdown(evaluation.run, figures))
    record = {"run": evaluation.run.model_dump(), **figures.as_json()}
    write_text(evaluation.folder / "results.json", as_json_text(record))
    return figures


def write_page(evaluation: Evaluation, figures: Figures, path: Path | None = None) -> Path:
    """Write the page at `path`, by default report.html in the evaluation's folder, its plots in a folder
    beside it. Returns its path. Raises PlotError without matplotlib."""
    path = path or evaluation.folder / "report.html"
    plots = draw_all(evaluation, figures, path.parent / "plots")
    write_text(path, page(evaluation, figures, plots))
    return path


def page(evaluation: Evaluation, figures: Figures, plots: Mapping[str, Path]) -> str:
    """The figures as one HTML page that loads nothing from anywhere; answers and explanations are shown as
    text, whatever they hold. Reads the plots."""
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    environment.filters |= FILTERS
    drawings = [(caption, _inline(path)) for caption, path in plots.items()]
    return environment.get_template("report.html.j2").render(
        layout="document.html.j2", plots=drawings, **page_values(evaluation, figures)
    )


def page_values(evaluation: Evaluation, figures: Figures) -> dict[str, Any]:
    """The values of report.html.j2, but for its `layout` and its `plots` (a caption and a drawing each)."""
    return {
        "run": evaluation.run,
        "notes": notes(evaluation.run, figures),
        "head": HEAD,
        "rows": [cells(row) for row in figures.rows],
        "figures": figures,
        "metrics": list(dict.fromkeys(n for row in figures.rows for n in (*row.metrics, *row.summary))),
        "groups": sorted({name for row in figures.rows for name in row.groups}),
        "mechanisms": mechanism_tables(figures),
        "mechanisms_head": mechanisms.HEAD,
        "paired": [paired_text(one) for one in figures.paired],
        "methods": evaluation.methods,
        "samples": _samples(evaluation),
        "longest": LONGEST_ANSWER,
    }


def _inline(path: Path) -> Markup:
    """The drawing of an SVG file, without its XML head."""
    text = path.read_text("utf-8")
    return Markup(text[text.index("<svg") :])


def _samples(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Each sample with its results by method, hardest first."""
    grouped: dict[str, dict[str, list[Result]]] = {}
    for result in sorted(evaluation.results, key=lambda item: (item.sample, item.trial)):
        grouped.setdefault(result.sample, {}).setdefault(result.method, []).append(result)

    def mean(sample: str) -> float:
        results = [result for results in grouped[sample].values() for result in results]
        scores = [result.score for result in results if result.score is not None]
        return sum(scores) / len(scores) if scores else 0.0

    return [
        {"id": sample, "by_method": grouped[sample]}
        for sample in sorted(grouped, key=lambda id: (mean(id), id))
    ]


def summary_of(benchmark: Benchmark) -> Summary:
    """The benchmark's own figures, from results as they are kept: of a sample it sees the id and groups."""

    def summarise(results: Sequence[Result]) -> dict[str, float]:
        scored: dict[str, tuple[Sample, list[Score]]] = {}
        for result in results:
            sample = Sample(id=result.sample, task="", groups=result.groups)
            score = Score(result.values, result.explanation, result.label)
            scored.setdefault(result.sample, (sample, []))[1].append(score)
        return dict(benchmark.summary(list(scored.values())))

    return summarise
