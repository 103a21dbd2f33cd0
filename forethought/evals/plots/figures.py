"""The plots of an evaluation. Each draws what the folder holds, and returns False where that is nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from forethought.evals.plots.canvas import axes, colour, save
from forethought.evals.report.rows import Figures
from forethought.evals.results import Evaluation, Result
from forethought.evals.statistics.intervals import mean_interval

Draw = Callable[[Any, Evaluation, Figures], bool]
NO_ERROR = "no error found"


def draw_all(evaluation: Evaluation, figures: Figures, folder: Path) -> dict[str, Path]:
    """Every plot that there is data for, as FOLDER/NAME.svg and .png; the SVG's path by name."""
    drawn: dict[str, Path] = {}
    for name, draw in PLOTS.items():
        with axes() as on:
            if draw(on, evaluation, figures):
                drawn[name] = save(on, folder / name)[0]
    return drawn


def accuracy_against_cost(on: Any, evaluation: Evaluation, figures: Figures) -> bool:
    """Score and cost a trial, a point a method (PreFlect figure 5); tokens where a price is unknown."""
    rows = [row for row in figures.rows if row.main]
    if not rows:
        return False
    priced = all(row.spend.usd for row in rows)
    for at, row in enumerate(rows):
        assert row.main
        cost = (row.spend.usd or 0.0) if priced else row.spend.tokens
        mean = row.main.mean * 100
        on.errorbar(
            [cost],
            [mean],
            # Rounding may put a bound on the other side of the mean.
            yerr=[[max(mean - row.main.low * 100, 0)], [max(row.main.high * 100 - mean, 0)]],
            fmt="o",
            color=colour(at),
            capsize=3,
            label=row.method,
        )
    on.set_xlabel("US dollars a trial" if priced else "tokens a trial")
    _score_axis(on, evaluation)
    on.legend(frameon=False)
    return True


def error_distribution(on: Any, evaluation: Evaluation, figures: Figures) -> bool:
    """Which planning errors the reflector found in the plans that it diagnosed (PreFlect figure 4)."""
    methods = {
        name: [plan for result in evaluation.of(name) for plan in result.plan_errors]
        for name in evaluation.methods
    }
    counts = {
        name: Counter(error for plan in plans for error in (set(plan) or {NO_ERROR}))
        for name, plans in methods.items()
        if plans
    }
    if not counts:
        return False
    kinds = [*sorted({kind for counter in counts.values() for kind in counter} - {NO_ERROR}), NO_ERROR]
    height = 0.8 / len(counts)
    for at, (name, counter) in enumerate(counts.items()):
        total = len(methods[name])
        places = [place + at * height for place in range(len(kinds))]
        on.barh(places, [100 * counter[k] / total for k in kinds], height, color=colour(at), label=name)
    on.set_yticks(
        [place + 0.4 - height / 2 for place in range(len(kinds))], [k.replace("_", " ") for k in kinds]
    )
    on.invert_yaxis()
    on.set_xlabel("% of the diagnosed plans")
    on.legend(frameon=False)
    return True


def score_distribution(on: Any, evaluation: Evaluation, figures: Figures) -> bool:
    """The scores that each role gave itself (MIRROR figure 3), of the first method that has any."""
    for name in evaluation.methods:
        scores: dict[str, list[float]] = {}
        for result in evaluation.of(name):
            for role, given in result.self_scores.items():
                scores.setdefault(role, []).extend(given)
        if any(scores.values()):
            break
    else:
        return False
    roles = [role for role, given in scores.items() if given]
    width = 0.8 / len(roles)
    for at, role in enumerate(roles):
        counter, total = Counter(round(score) for score in scores[role]), len(scores[role])
        places = [score + (at - (len(roles) - 1) / 2) * width for score in range(1, 11)]
        shares = [100 * counter[score] / total for score in range(1, 11)]
        on.bar(places, shares, width, color=colour(at), label=f"{role} (n={total})")
    on.set_xticks(range(1, 11))
    on.set_xlabel(f"score of its own output ({name})")
    on.set_ylabel("% of the role's outputs")
    on.legend(frameon=False)
    return True


def rounds_against_accuracy(on: Any, evaluation: Evaluation, figures: Figures) -> bool:
    """The score of the draft that stood after each round or try, with its interval, over the samples whose
    drafts have scores. A sample without any answer counts with its score, as it does in the tables."""
    drawn = False
    for at, name in enumerate(evaluation.methods):
        tried = [result for result in evaluation.of(name) if _by_round(result)]
        most = max((len(_by_round(result)) for result in tried), default=0)
        if most < 2:
            continue
        rounds = range(1, most + 1)
        means = [_by_sample(tried, number, evaluation.run.seed) for number in rounds]
        n = len({result.sample for result in tried})
        _curve(on, list(rounds), means, colour(at), f"{name} (n={n})")
        drawn = True
    if drawn:
        _whole_numbers(on, "rounds")
        _score_axis(on, evaluation)
        on.legend(frameon=False)
    return drawn


def _by_round(result: Result) -> list[float]:
    """The score after each round: one where there was no answer at all; none where nobody scored drafts."""
    if result.drafts_scores or result.answer or result.reward is not None or result.score is None:
        return result.drafts_scores
    return [result.score]


def _by_sample(results: list[Result], number: int, seed: int) -> tuple[float, float, float]:
    scores: dict[str, list[float]] = {}
    for result in results:
        drafts = _by_round(result)
        scores.setdefault(result.sample, []).append(drafts[min(number, len(drafts)) - 1])
    found = mean_interval([sum(given) / len(given) for given in scores.values()], seed)
    return found.mean, found.low, found.high


def trials_against_accuracy(on: Any, evaluation: Evaluation, figures: Figures) -> bool:
    """At least one of k trials right (pass@k) and all of k trials right (pass^k)."""
    rows = [(at, row) for at, row in enumerate(figures.rows) if len(row.pass_k) > 1]
    for at, row in rows:
        ks = [k for k, _, _ in row.pass_k]
        on.plot(ks, [100 * v for _, v, _ in row.pass_k], "-o", color=colour(at), label=f"{row.method} pass@k")
        on.plot(
            ks, [100 * v for _, _, v in row.pass_k], "--s", color=colour(at), label=f"{row.method} pass^k"
        )
    if rows:
        _whole_numbers(on, "trials k")
        _score_axis(on, evaluation)
        on.legend(frameon=False)
    return bool(rows)


def _curve(on: Any, xs: list[int], points: list[tuple[float, float, float]], tint: str, name: str) -> None:
    on.plot(xs, [100 * mean for mean, _, _ in points], "-o", color=tint, label=name)
    low, high = [100 * low for _, low, _ in points], [100 * high for _, _, high in points]
    on.fill_between(xs, low, high, color=tint, alpha=0.15, linewidth=0)


def _whole_numbers(on: Any, label: str) -> None:
    from matplotlib.ticker import MaxNLocator

    on.xaxis.set_major_locator(MaxNLocator(integer=True))
    on.set_xlabel(label)


def _score_axis(on: Any, evaluation: Evaluation) -> None:
    on.set_ylabel(f"{evaluation.run.main_metric.replace('_', ' ')} (%)")
    on.set_ylim(-3, 103)


PLOTS: dict[str, Draw] = {
    "accuracy-against-cost": accuracy_against_cost,
    "error-distribution": error_distribution,
    "score-distribution": score_distribution,
    "rounds-against-accuracy": rounds_against_accuracy,
    "trials-against-accuracy": trials_against_accuracy,
}
