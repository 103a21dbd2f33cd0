"""Confidence intervals of a mean over samples.

The sample is what is drawn, so it is what is resampled: its trials are averaged first and never counted as if
they were further samples (a cluster bootstrap).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

RESAMPLES = 10_000
LEVEL = 0.95
_CHUNK = 2_000_000
"""Numbers drawn at a time, so that a large benchmark needs little memory."""


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
        raise ValueError("no values: there is nothing to estimate")
    mean, n = math.fsum(values) / len(values), len(values)
    if len(set(values)) == 1:
        if values[0] in (0, 1):
            low, high = _wilson(int(values[0]) * n, n, level)
            return Interval(mean, low, high, n, "wilson")
        return Interval(mean, mean, mean, n, "none")
    low, high = bootstrap(values, seed, level)
    return Interval(mean, low, high, n, "bootstrap")


def bootstrap(values: Sequence[float], seed: int = 0, level: float = LEVEL) -> tuple[float, float]:
    """The percentile bootstrap interval of the mean, from RESAMPLES resamples; the same for the same seed."""
    array, rng = np.asarray(values, dtype=float), np.random.default_rng(seed)
    at_a_time = max(1, min(RESAMPLES, _CHUNK // len(array)))
    bounds = [*range(0, RESAMPLES, at_a_time), RESAMPLES]
    means = np.concatenate(
        [
            array[rng.integers(0, len(array), size=(end - begin, len(array)))].mean(axis=1)
            for begin, end in pairwise(bounds)
        ]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _wilson(successes: int, n: int, level: float) -> tuple[float, float]:
    from scipy.stats import binomtest

    interval = binomtest(successes, n).proportion_ci(level, method="wilson")
    return float(interval.low), float(interval.high)
