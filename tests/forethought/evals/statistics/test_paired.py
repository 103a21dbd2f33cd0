"""Paired comparisons against known p values, and their symmetry."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.evals.statistics import paired
from forethought.evals.statistics.paired import compare_paired, mcnemar, permutation

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


def test_nothing_shared() -> None:
    assert compare_paired({"a": 1}, {"b": 1}, NAMES) is None


def test_means_of_trials_are_flipped_not_counted() -> None:
    one = compare_paired({"a": 1 / 3, "b": 2 / 3}, {"a": 1.0, "b": 1.0}, NAMES)
    assert one
    assert (one.test, one.p) == ("permutation", 0.5)


def test_always_better_by_one_is_no_proportion() -> None:
    one = compare_paired({"a": 0, "b": 0}, {"a": 1, "b": 1}, NAMES)
    assert one
    assert (one.difference.mean, one.difference.how) == (1.0, "none")


def test_many_samples_are_drawn_reproducibly() -> None:
    differences = [0.3, -0.1] * 20
    assert permutation(differences, 1) == permutation(differences, 1)
    assert permutation(differences, 1) < 0.05 < permutation([0.1, -0.1] * 20, 1)
    assert len(differences) > paired._EXACT_UP_TO
