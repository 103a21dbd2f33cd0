"""The figures as one HTML page: tables, plots and every sample's attempts. It loads nothing from anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from forethought.evals.report.rows import Figures
from forethought.evals.report.table import HEAD, cells, interval, notes, paired_text, percent
from forethought.evals.results import Evaluation, Result

_CAPTIONS = {
    "accuracy-against-cost": "Score against cost",
    "error-distribution": "Planning errors found in diagnosed plans",
    "score-distribution": "Scores that the roles gave themselves",
    "rounds-against-accuracy": "Score of the draft after each round",
    "trials-against-accuracy": "One, and all, of k trials right",
}
LONGEST_ANSWER = 4_000


def page(evaluation: Evaluation, figures: Figures, plots: Mapping[str, Path]) -> str:
    """The page. Answers and explanations are shown as text, whatever they hold. Reads the plots."""
    folder = Path(__file__).parent
    environment = Environment(loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined)
    environment.filters |= {"interval": interval, "percent": percent}
    return environment.get_template("page.html.j2").render(
        run=evaluation.run,
        notes=notes(evaluation.run, figures),
        head=HEAD,
        rows=[cells(row) for row in figures.rows],
        figures=figures,
        metrics=list(dict.fromkeys(n for row in figures.rows for n in (*row.metrics, *row.summary))),
        groups=sorted({name for row in figures.rows for name in row.groups}),
        paired=[paired_text(one) for one in figures.paired],
        plots=[(_CAPTIONS[name], _inline(path)) for name, path in plots.items()],
        methods=evaluation.methods,
        samples=_samples(evaluation),
        longest=LONGEST_ANSWER,
    )


def _inline(path: Path) -> Markup:
    """The drawing of an SVG file that `plots` made, without its XML head."""
    text = path.read_text("utf-8")
    return Markup(text[text.index("<svg") :])


def _samples(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Each sample with its results by method, hardest first."""
    grouped: dict[str, dict[str, list[Result]]] = {}
    for result in sorted(evaluation.results, key=lambda item: (item.sample, item.trial)):
        grouped.setdefault(result.sample, {}).setdefault(result.method, []).append(result)
    samples = [{"id": sample, "by_method": methods} for sample, methods in grouped.items()]
    return sorted(samples, key=lambda item: (_mean(item["by_method"]), item["id"]))


def _mean(by_method: Any) -> float:
    scores = [
        result.score for results in by_method.values() for result in results if result.score is not None
    ]
    return sum(scores) / len(scores) if scores else 0.0
