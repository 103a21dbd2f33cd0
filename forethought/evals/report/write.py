"""Writing what an evaluation came to into its folder: table.md, results.json, plots, report.html."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from forethought.evals.plots.figures import draw_all
from forethought.evals.report.page import page
from forethought.evals.report.rows import Figures, Summary, figures
from forethought.evals.report.table import markdown
from forethought.evals.results import Evaluation, Result, as_json
from forethought.evals.types import Benchmark, Sample, Score

TABLE_FILE, FIGURES_FILE, PAGE_FILE, PLOTS_FOLDER = "table.md", "results.json", "report.html", "plots"


def write_tables(evaluation: Evaluation, summary: Summary | None = None) -> Figures:
    """Write table.md and results.json into the evaluation's folder. Returns the figures."""
    found = figures(evaluation, summary)
    _write(evaluation.folder / TABLE_FILE, markdown(evaluation.run, found))
    _write(
        evaluation.folder / FIGURES_FILE,
        as_json({"run": evaluation.run.model_dump(), **found.as_json()}),
    )
    return found


def write_page(evaluation: Evaluation, found: Figures) -> Path:
    """Draw the plots and write report.html; its path. Raises PlotError without matplotlib."""
    path = evaluation.folder / PAGE_FILE
    write_page_to(path, evaluation, found)
    return path


def write_page_to(path: Path, evaluation: Evaluation, found: Figures) -> None:
    """The page at `path`, its plots in a folder beside it."""
    plots = draw_all(evaluation, found, path.parent / PLOTS_FOLDER)
    _write(path, page(evaluation, found, plots))


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, "utf-8")
    os.replace(part, path)


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
