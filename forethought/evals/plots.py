"""The plots of an evaluation, as SVG and PNG (matplotlib, extra `evals`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from forethought.evals.report.rows import Figures
from forethought.evals.results import Evaluation
from forethought.extras import install_command

Draw = Callable[[Any, Evaluation, Figures], bool]
"""Draws on matplotlib's axes; returns False if the evaluation has no such data."""
NO_ERROR = "no error found"
_COLOURS = ("#1f5fa8", "#d1661f", "#3a8f4d", "#a33a6f", "#7a68b3", "#8a6d3b", "#2a9d9d", "#666666")
_STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "axes.axisbelow": True,
    "text.parse_math": False,  # a name may hold a dollar sign
    "svg.fonttype": "none",
    "svg.hashsalt": "forethought",  # the same data gives the same SVG
}


class PlotError(RuntimeError):
    """The plots cannot be drawn: one line that says what to do."""


def draw_all(evaluation: Evaluation, figures: Figures, folder: Path) -> dict[str, Path]:
    """Every plot that there is data for, as FOLDER/NAME.svg and .png; the SVG's path by its caption. Raises
    PlotError without matplotlib."""
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PlotError(f"plots need matplotlib: {install_command('evals')}") from error
    folder.mkdir(parents=True, exist_ok=True)
    drawn: dict[str, Path] = {}
    with matplotlib.rc_context(_STYLE):
        for caption, draw in PLOTS.items():
            # A figure of its own instead of pyplot's: no global state, no window, safe in threads.
            figure = Figure(figsize=(5.6, 3.6), layout="constrained")
            FigureCanvasAgg(figure)
            axes = figure.subplots()
            if draw(axes, evaluation, figures):
                axes.legend(frameon=False)
                path = folder / draw.__name__.replace("_", "-")
                figure.savefig(path.with_suffix(".png"), dpi=150)
                figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
                drawn[caption] = path.with_suffix(".svg")
    return drawn


def accuracy_against_cost(axes: Any, evaluation: Evaluation, figures: Figures) -> bool:
    """Score and cost a trial, a point a method (PreFlect figure 5); tokens where a price is unknown."""
    rows = [row for row in figures.rows if row.main]
    priced = all(row.spend.usd for row in rows)
    for at, row in enumerate(rows):
        assert row.main
        mean = row.main.mean * 100
        axes.errorbar(
            [(row.spend.usd or 0.0) if priced else row.spend.tokens],
            [mean],
            # Rounding may put a bound on the other side of the mean.
            yerr=[[max(mean - row.main.low * 100, 0)], [max(row.main.high * 100 - mean, 0)]],
            fmt="o",
            color=_colour(at),
            capsize=3,
            label=row.method,
        )
    axes.set_xlabel("US dollars a trial" if priced else "tokens a trial")
    _label_score(axes, evaluation)
    return bool(rows)


def error_distribution(axes: Any, evaluation: Evaluation, figures: Figures) -> bool:
    """Which planning errors the reflector found in the plans that it diagnosed (PreFlect figure 4)."""
    plans = {
        name: [set(plan) or {NO_ERROR} for result in evaluation.of(name) for plan in result.plan_errors]
        for name in evaluation.methods
    }
    plans = {name: found for name, found in plans.items() if found}
    kinds = {kind for found in plans.values() for plan in found for kind in plan} - {NO_ERROR}
    names = [*sorted(kinds), NO_ERROR]
    height = 0.8 / max(len(plans), 1)
    for at, (method, found) in enumerate(plans.items()):
        counts = Counter(kind for plan in found for kind in plan)
        places = [place + at * height for place in range(len(names))]
        shares = [100 * counts[kind] / len(found) for kind in names]
        axes.barh(places, shares, height, color=_colour(at), label=method)
    ticks = [place + 0.4 - height / 2 for place in range(len(names))]
    axes.set_yticks(ticks, [name.replace("_", " ") for name in names])
    axes.invert_yaxis()
    axes.set_xlabel("% of the diagnosed plans")
    return bool(plans)


def score_distribution(axes: Any, evaluation: Evaluation, figures: Figures) -> bool:
    """The scores that each role gave itself (MIRROR figure 3), of the first method that has any."""
    for method in evaluation.methods:
        scores: dict[str, list[float]] = {}
        for result in evaluation.of(method):
            for role, own in result.self_scores.items():
                scores.setdefault(role, []).extend(own)
        scores = {role: own for role, own in scores.items() if own}
        if not scores:
            continue
        width = 0.8 / len(scores)
        for at, (role, own) in enumerate(scores.items()):
            counts = Counter(round(score) for score in own)
            places = [score + (at - (len(scores) - 1) / 2) * width for score in range(1, 11)]
            shares = [100 * counts[score] / len(own) for score in range(1, 11)]
            axes.bar(places, shares, width, color=_colour(at), label=f"{role} (n={len(own)})")
        axes.set_xticks(range(1, 11))
        axes.set_xlabel(f"score of its own output ({method})")
        axes.set_ylabel("% of the role's outputs")
        return True
    return False


def trials_against_accuracy(axes: Any, evaluation: Evaluation, figures: Figures) -> bool:
    """At least one of k trials right (pass@k) and all of k trials right (pass^k)."""
    rows = [(at, row) for at, row in enumerate(figures.rows) if len(row.pass_k) > 1]
    for at, row in rows:
        ks, at_k, hat_k = zip(*row.pass_k, strict=True)
        for name, line, values in (("pass@k", "-o", at_k), ("pass^k", "--s", hat_k)):
            shares = [100 * value for value in values]
            axes.plot(ks, shares, line, color=_colour(at), label=f"{row.method} {name}")
    axes.set_xlabel("trials k")
    axes.xaxis.get_major_locator().set_params(integer=True)
    _label_score(axes, evaluation)
    return bool(rows)


def _colour(at: int) -> str:
    return _COLOURS[at % len(_COLOURS)]


def _label_score(axes: Any, evaluation: Evaluation) -> None:
    axes.set_ylabel(f"{evaluation.run.main_metric.replace('_', ' ')} (%)")
    axes.set_ylim(-3, 103)


PLOTS: dict[str, Draw] = {
    "Score against cost": accuracy_against_cost,
    "Planning errors found in diagnosed plans": error_distribution,
    "Scores that the roles gave themselves": score_distribution,
    "One, and all, of k trials right": trials_against_accuracy,
}
"""By caption."""
