"""Intervals cover the truth as often as they say, and claim no certainty that they have not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap as scipy_bootstrap

from forethought.evals.statistics import intervals
from forethought.evals.statistics.intervals import bootstrap, mean_interval

shares = st.floats(0, 1, allow_nan=False, width=32)


@given(st.lists(shares, min_size=1, max_size=30))
def test_the_mean_lies_in_its_interval(values: list[float]) -> None:
    found = mean_interval(values, seed=3)
    assert found.low - 1e-9 <= found.mean <= found.high + 1e-9
    assert found.n == len(values)


@pytest.mark.parametrize(("value", "low", "high"), [(1.0, 0.722, 1.0), (0.0, 0.0, 0.278)])
def test_ten_alike_are_not_certain(value: float, low: float, high: float) -> None:
    # Wilson's interval for 10 of 10: 10 / (10 + 1.96^2) = 0.722.
    found = mean_interval([value] * 10)
    assert (round(found.low, 3), round(found.high, 3), found.how) == (low, high, "wilson")


def test_equal_fractions_say_nothing_of_their_spread() -> None:
    assert mean_interval([0.5] * 4).how == "none"


def test_agrees_with_scipy() -> None:
    values = np.random.default_rng(1).random(40)
    theirs = scipy_bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    assert bootstrap(values.tolist(), seed=5) == pytest.approx((theirs.low, theirs.high), abs=0.005)


def test_covers_the_truth_about_as_often_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "RESAMPLES", 800)
    rng, covered = np.random.default_rng(0), 0
    for seed in range(300):
        found = mean_interval((rng.random(60) < 0.6).astype(float).tolist(), seed)
        covered += found.low <= 0.6 <= found.high
    assert 0.90 <= covered / 300 <= 0.985


def test_the_same_seed_gives_the_same_interval() -> None:
    values = np.random.default_rng(4).random(30).tolist()
    whole = bootstrap(values, seed=9)
    assert bootstrap(values, seed=9) == whole
    assert bootstrap(values, seed=10) != whole


def test_many_samples_need_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "_CHUNK", 1_000)
    low, high = bootstrap([0.0, 1.0] * 200, seed=1)
    assert 0.4 < low < 0.5 < high < 0.6


def test_nothing_to_estimate() -> None:
    with pytest.raises(ValueError, match="no values"):
        mean_interval([])
