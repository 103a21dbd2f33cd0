"""The figures of an evaluation, a record a method: what every table and plot is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from forethought.evals.methods.ablations import ABLATIONS
from forethought.evals.report.mechanisms import MechanismFigures, mechanism_figures
from forethought.evals.results import Evaluation, Result, by_sample, mean_by_sample, metrics_of
from forethought.evals.statistics import Interval, Paired, compare_paired, mean_interval, pass_curves

Summary = Callable[[Sequence[Result]], Mapping[str, float]]
"""The benchmark's own figures over all results of a method."""


@dataclass(frozen=True)
class Spend:
    """What a method took: means a trial, and the sum of dollars."""

    tokens: float
    cached_tokens: float
    usd: float | None
    """None if the price of a call is unknown."""
    total_usd: float | None
    seconds: float
    """Median seconds of a trial."""
    seconds_p95: float
    steps: float
    calls: float


@dataclass(frozen=True)
class Row:
    """One method's figures."""

    method: str
    samples: int
    trials: int
    """Scored trials over all samples."""
    infrastructure_failures: int
    """Trials that could not run; they are in no mean."""
    unscored: int
    """Trials that cannot be scored here; they are in no mean."""
    main: Interval | None
    """The main metric; None without scored trials."""
    metrics: Mapping[str, Interval]
    summary: Mapping[str, float]
    groups: Mapping[str, Interval]
    """The main metric by group, such as 'level 2'."""
    floor: float | None
    """The score of an empty answer on the same samples; None if unknown for a sample."""
    spend: Spend
    pass_k: Sequence[tuple[int, float, float]]
    """(k, pass@k, pass^k) of several trials."""
    asked_outcome: bool
    """Whether the method received the benchmark's verdicts."""
    mechanisms: Sequence[MechanismFigures] = ()
    """What each mechanism of our agent and its ablations cost and changed."""


@dataclass(frozen=True)
class Figures:
    """All rows, and each method held against the first; an ablation against what it is taken from."""

    rows: Sequence[Row]
    paired: Sequence[Paired] = field(default_factory=tuple)

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


def figures_of(evaluation: Evaluation, summary: Summary | None = None) -> Figures:
    """The figures of `evaluation`; `summary` gives the benchmark's own."""
    methods, seed = evaluation.methods, evaluation.run.seed
    rows = [_row(evaluation, method, summary) for method in methods]
    means = {method: mean_by_sample(evaluation.of(method)) for method in methods}
    bases = {name: reference(name, methods) or methods[0] for name in methods[1:]}
    compared = [compare_paired(means[base], means[name], (base, name), seed) for name, base in bases.items()]
    return Figures(rows, [one for one in compared if one is not None])


def reference(name: str, methods: Sequence[str]) -> str:
    """What the method `name` is an ablation of, among `methods`; '' for no ablation, or where it is not
    there. Names may end with the folder they come from."""
    method, space, folder = name.partition(" (")
    wanted = (ABLATIONS[method].base + space + folder, ABLATIONS[method].base) if method in ABLATIONS else ()
    return next((base for base in wanted if base in methods), "")


def _row(evaluation: Evaluation, method: str, summary: Summary | None) -> Row:
    results, seed = evaluation.of(method), evaluation.run.seed
    metrics = [name for name in metrics_of(results) if name != evaluation.run.main_metric]
    trials = by_sample(results)
    several = any(len(items) > 1 for items in trials.values())
    return Row(
        method=method,
        samples=len(trials),
        trials=len(results),
        infrastructure_failures=len(evaluation.failures(method)),
        unscored=len(evaluation.unscored(method)),
        main=_interval(results, "", seed),
        metrics={name: found for name in metrics if (found := _interval(results, name, seed))},
        summary=dict(summary(results)) if summary and results else {},
        groups=_groups(results, seed),
        floor=_floor(results),
        spend=_spend(results),
        pass_k=pass_curves([[item.score or 0.0 for item in items] for items in trials.values()])
        if several
        else (),
        asked_outcome=any(result.asked_outcome for result in results),
        mechanisms=mechanism_figures(results, _without(evaluation, method)),
    )


def _without(evaluation: Evaluation, method: str) -> dict[str, list[Result]]:
    """By mechanism, the results of the ablation that takes that one mechanism from `method`."""
    names = [name for name in evaluation.methods if reference(name, evaluation.methods) == method]
    switches = {name: list(ABLATIONS[name.partition(" (")[0]].switches) for name in names}
    return {off[0]: evaluation.of(name) for name, off in switches.items() if len(off) == 1}


def _interval(results: Sequence[Result], metric: str, seed: int) -> Interval | None:
    means = mean_by_sample(results, metric)
    return mean_interval(list(means.values()), seed) if means else None


def _groups(results: Sequence[Result], seed: int) -> dict[str, Interval]:
    split: dict[str, list[Result]] = {}
    for result in results:
        for key, value in result.groups.items():
            split.setdefault(f"{key} {value}", []).append(result)
    return {name: mean_interval(list(mean_by_sample(split[name]).values()), seed) for name in sorted(split)}


def _floor(results: Sequence[Result]) -> float | None:
    floors = {result.sample: result.floor for result in results}
    known = [floor for floor in floors.values() if floor is not None]
    return sum(known) / len(known) if known and len(known) == len(floors) else None


def _spend(results: Sequence[Result]) -> Spend:
    import numpy as np

    if not results:
        return Spend(0, 0, None, None, 0, 0, 0, 0)
    prices = [result.usd for result in results]
    total = None if None in prices else sum(price or 0.0 for price in prices)
    seconds = np.asarray([result.seconds for result in results])
    n = len(results)
    return Spend(
        tokens=sum(result.tokens for result in results) / n,
        cached_tokens=sum(result.usage.get("cached_tokens", 0) for result in results) / n,
        usd=None if total is None else total / n,
        total_usd=total,
        seconds=float(np.median(seconds)),
        seconds_p95=float(np.quantile(seconds, 0.95)),
        steps=sum(result.steps for result in results) / n,
        calls=sum(result.usage.get("calls", 0) for result in results) / n,
    )
