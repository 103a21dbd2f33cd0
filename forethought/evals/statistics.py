"""How sure a figure is: confidence intervals, paired comparisons, pass@k and pass^k.

The sample is what is drawn, so it is what is resampled: its trials are averaged first and never counted as if
they were further samples (a cluster bootstrap).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

RESAMPLES = 10_000
LEVEL = 0.95
_CHUNK = 2_000_000
"""Numbers drawn at a time, to limit memory on large benchmarks."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval."""

    mean: float
    low: float
    high: float
    n: int
    """Samples."""
    how: str
    """bootstrap, wilson (all samples alike, right or wrong), or none (too few samples to say)."""


def mean_interval(values: Sequence[float], seed: int = 0, level: float = LEVEL) -> Interval:
    """The mean of one value a sample with its percentile bootstrap interval.

    Where all samples are 0 or all are 1, resampling would claim certainty: the Wilson score interval stands
    in. Raises ValueError for no values.
    """
    if not values:
        raise ValueError("no values: give at least one")
    mean, n = math.fsum(values) / len(values), len(values)
    if len(set(values)) > 1:
        low, high = bootstrap(values, seed, level)
        return Interval(mean, low, high, n, "bootstrap")
    if values[0] not in (0, 1):
        return Interval(mean, mean, mean, n, "none")
    from scipy.stats import binomtest

    wilson = binomtest(int(values[0]) * n, n).proportion_ci(level, method="wilson")
    return Interval(mean, float(wilson.low), float(wilson.high), n, "wilson")


def bootstrap(values: Sequence[float], seed: int = 0, level: float = LEVEL) -> tuple[float, float]:
    """The percentile bootstrap interval of the mean, from RESAMPLES resamples; the same for the same seed."""
    from scipy.stats import bootstrap as resample

    interval = resample(
        (np.asarray(values, dtype=float),),
        np.mean,
        n_resamples=RESAMPLES,
        batch=max(1, _CHUNK // len(values)),
        confidence_level=level,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(interval.low), float(interval.high)


@dataclass(frozen=True)
class Paired:
    """How `other` differs from `base` on the samples that both were scored on."""

    base: str
    other: str
    difference: Interval
    """Of other minus base, over samples."""
    better: int
    """Samples on which `other` scored higher; McNemar's discordant pairs where scores are right or wrong."""
    worse: int
    p: float
    test: str
    """mcnemar (exact, scores right or wrong) or permutation (flips of sign)."""


def compare_paired(
    base: Mapping[str, float], other: Mapping[str, float], names: tuple[str, str], seed: int = 0
) -> Paired | None:
    """The comparison over the samples that both have; None where they share none.

    Both map a sample to its mean score. Right-or-wrong scores are compared with McNemar's exact test, any
    other (fractions, means of several trials) by flipping the signs of the differences.
    """
    shared = sorted(base.keys() & other.keys())
    if not shared:
        return None
    differences = [other[sample] - base[sample] for sample in shared]
    better, worse = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    binary = all(scores[sample] in (0, 1) for scores in (base, other) for sample in shared)
    p = mcnemar(better, worse) if binary else permutation(differences, seed)
    interval = mean_interval(differences, seed)
    if interval.how == "wilson":
        # A difference of always 0 or always 1 is no proportion: what it may be is not told by it.
        interval = Interval(interval.mean, interval.mean, interval.mean, interval.n, "none")
    return Paired(*names, interval, better, worse, p, "mcnemar" if binary else "permutation")


def mcnemar(better: int, worse: int) -> float:
    """Two-sided p of McNemar's exact test, from the two counts of discordant pairs (McNemar 1947)."""
    from scipy.stats import binomtest

    return float(binomtest(better, better + worse, 0.5).pvalue) if better + worse else 1.0


def permutation(differences: Sequence[float], seed: int = 0) -> float:
    """Two-sided p of the mean difference under random flips of sign; all flips where they are few."""
    from scipy.stats import permutation_test

    unequal = [d for d in differences if d != 0]
    if len(unequal) < 2:
        return 1.0
    test: Any = permutation_test(
        (unequal,), np.mean, permutation_type="samples", n_resamples=RESAMPLES, random_state=seed
    )
    return float(test.pvalue)


def pass_hat_k(successes: int, trials: int, k: int) -> float:
    """The unbiased estimate that `k` independent trials of a task all succeed (tau-bench, section 4)."""
    return comb(successes, k) / comb(trials, k)


def pass_at_k(successes: int, trials: int, k: int) -> float:
    """The unbiased estimate that at least one of `k` trials succeeds (Chen et al. 2021)."""
    return 1 - comb(trials - successes, k) / comb(trials, k)


def pass_curves(scores: Sequence[Sequence[float]]) -> list[tuple[int, float, float]]:
    """(k, pass@k, pass^k) over samples that each have at least k trials, up to the most that all have.

    A trial succeeds at a score of 1.
    """
    counts = [(sum(score >= 1 for score in trials), len(trials)) for trials in scores]
    return [
        (
            k,
            sum(pass_at_k(*count, k) for count in counts) / len(counts),
            sum(pass_hat_k(*count, k) for count in counts) / len(counts),
        )
        for k in range(1, min((len(trials) for trials in scores), default=0) + 1)
    ]
