"""Intervals cover the truth as often as they say; comparisons against known p values; pass^k as counted."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap as scipy_bootstrap

from forethought.evals import statistics
from forethought.evals.statistics import (
    bootstrap,
    compare_paired,
    mcnemar,
    mean_interval,
    pass_at_k,
    pass_curves,
    pass_hat_k,
    permutation,
)

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


def test_equal_fractions_and_differences_say_nothing_of_their_spread() -> None:
    assert mean_interval([0.5] * 4).how == "none"
    one = compare_paired({"a": 0, "b": 0}, {"a": 1, "b": 1}, NAMES)
    assert one
    assert (one.difference.mean, one.difference.how) == (1.0, "none")


def test_agrees_with_scipy() -> None:
    values = np.random.default_rng(1).random(40)
    theirs = scipy_bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    assert bootstrap(values.tolist(), seed=5) == pytest.approx((theirs.low, theirs.high), abs=0.005)


def test_covers_the_truth_about_as_often_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "RESAMPLES", 800)
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


NAMES = ("ours", "react")


@pytest.mark.parametrize(
    ("better", "worse", "p"),
    # Two-sided binomial tails by hand: 2 * (1 + 8) / 2^8; 2 / 2^6; capped at 1.
    [(1, 7, 18 / 256), (6, 0, 2 / 64), (3, 3, 1.0), (0, 0, 1.0)],
)
def test_mcnemar_exact(better: int, worse: int, p: float) -> None:
    assert mcnemar(better, worse) == pytest.approx(p)


@given(st.lists(st.sampled_from((-1.0, 0.0, 1.0)), max_size=11))
def test_on_right_or_wrong_both_tests_agree(differences: list[float]) -> None:
    better, worse = differences.count(1.0), differences.count(-1.0)
    assert permutation(differences) == pytest.approx(mcnemar(better, worse))


@given(
    st.lists(st.tuples(st.floats(0, 1, width=16), st.floats(0, 1, width=16)), min_size=1, max_size=8),
    st.integers(0, 3),
)
def test_turning_it_round_turns_the_sign(pairs: list[tuple[float, float]], seed: int) -> None:
    base = {str(at): pair[0] for at, pair in enumerate(pairs)}
    other = {str(at): pair[1] for at, pair in enumerate(pairs)}
    one, two = compare_paired(base, other, NAMES, seed), compare_paired(other, base, NAMES, seed)
    assert one
    assert two
    assert one.difference.mean == pytest.approx(-two.difference.mean)
    assert (one.better, one.worse, one.p) == (two.worse, two.better, pytest.approx(two.p))


def test_only_shared_samples_count() -> None:
    one = compare_paired({"a": 1, "b": 0, "c": 1}, {"b": 1, "c": 1, "d": 0}, NAMES)
    assert one
    assert (one.difference.n, one.better, one.worse, one.test) == (2, 1, 0, "mcnemar")
    assert compare_paired({"a": 1}, {"b": 1}, NAMES) is None


def test_means_of_trials_are_flipped_not_counted() -> None:
    one = compare_paired({"a": 1 / 3, "b": 2 / 3}, {"a": 1.0, "b": 1.0}, NAMES)
    assert one
    assert (one.test, one.p) == ("permutation", 0.5)


def test_many_samples_are_drawn_reproducibly() -> None:
    differences = [0.3, -0.1] * 20
    assert permutation(differences, 1) == permutation(differences, 1)
    assert permutation(differences, 1) < 0.05 < permutation([0.1, -0.1] * 20, 1)


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.data())
def test_as_counted_one_by_one(trials: list[bool], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(trials)))
    chosen = list(combinations(trials, k))
    assert pass_hat_k(sum(trials), len(trials), k) == pytest.approx(sum(map(all, chosen)) / len(chosen))
    assert pass_at_k(sum(trials), len(trials), k) == pytest.approx(sum(map(any, chosen)) / len(chosen))


def test_curves_reach_as_far_as_every_sample() -> None:
    assert pass_curves([[1.0, 0.5], [1.0, 1.0, 0.0]]) == [
        (1, pytest.approx((1 / 2 + 2 / 3) / 2), pytest.approx((1 / 2 + 2 / 3) / 2)),
        (2, 1.0, pytest.approx((0 + 1 / 3) / 2)),
    ]
    assert pass_curves([]) == []
