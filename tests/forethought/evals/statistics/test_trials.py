"""pass@k and pass^k are the means over all choices of k trials."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.evals.statistics.trials import curves, pass_at_k, pass_hat_k


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.data())
def test_as_counted_one_by_one(trials: list[bool], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(trials)))
    chosen = list(combinations(trials, k))
    assert pass_hat_k(sum(trials), len(trials), k) == pytest.approx(sum(map(all, chosen)) / len(chosen))
    assert pass_at_k(sum(trials), len(trials), k) == pytest.approx(sum(map(any, chosen)) / len(chosen))


@pytest.mark.parametrize(("successes", "trials", "k"), [(3, 2, 1), (1, 2, 3), (0, 2, 0), (-1, 2, 1)])
def test_impossible_counts(successes: int, trials: int, k: int) -> None:
    with pytest.raises(ValueError, match="cannot tell"):
        pass_hat_k(successes, trials, k)


def test_curves_reach_as_far_as_every_sample() -> None:
    assert curves([[1.0, 0.5], [1.0, 1.0, 0.0]]) == [
        (1, pytest.approx((1 / 2 + 2 / 3) / 2), pytest.approx((1 / 2 + 2 / 3) / 2)),
        (2, 1.0, pytest.approx((0 + 1 / 3) / 2)),
    ]
    assert curves([]) == []
