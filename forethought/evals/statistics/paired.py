"""Two methods on the same samples: the paired difference, and whether it may be chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from forethought.evals.statistics.intervals import Interval, mean_interval

FLIPS = 10_000
_EXACT_UP_TO = 12
"""Samples that differ, up to which every flip is enumerated."""


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

    if better + worse == 0:
        return 1.0
    return float(binomtest(better, better + worse, 0.5).pvalue)


def permutation(differences: list[float], seed: int = 0) -> float:
    """Two-sided p of the mean difference under random flips of sign; all flips where they are few."""
    array = np.asarray([d for d in differences if d != 0])
    if not len(array):
        return 1.0
    observed = abs(array.sum()) - 1e-9
    if len(array) <= _EXACT_UP_TO:
        bits = np.arange(2 ** len(array))[:, None] >> np.arange(len(array)) & 1
        sums = ((1 - 2 * bits) * array).sum(axis=1)
        return float((np.abs(sums) >= observed).mean())
    rng = np.random.default_rng(seed)
    signs = rng.choice((-1, 1), size=(FLIPS, len(array)))
    hits = int((np.abs((signs * array).sum(axis=1)) >= observed).sum())
    return (hits + 1) / (FLIPS + 1)
