"""What several trials of a sample tell: at least one right, all right."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb


def pass_hat_k(successes: int, trials: int, k: int) -> float:
    """The unbiased estimate that `k` independent trials of a task all succeed (tau-bench, section 4)."""
    _check(successes, trials, k)
    return comb(successes, k) / comb(trials, k)


def pass_at_k(successes: int, trials: int, k: int) -> float:
    """The unbiased estimate that at least one of `k` trials succeeds (Chen et al. 2021)."""
    _check(successes, trials, k)
    return 1 - comb(trials - successes, k) / comb(trials, k)


def _check(successes: int, trials: int, k: int) -> None:
    if not (1 <= k <= trials and 0 <= successes <= trials):
        raise ValueError(f"{successes} successes in {trials} trials cannot tell of {k} trials")


def curves(scores: Sequence[Sequence[float]]) -> list[tuple[int, float, float]]:
    """(k, pass@k, pass^k) over samples that each have at least k trials, up to the most that all have.

    A trial succeeds at a score of 1.
    """
    if not scores:
        return []
    most = min(len(trials) for trials in scores)
    counts = [(sum(score >= 1 for score in trials), len(trials)) for trials in scores]
    return [
        (
            k,
            sum(pass_at_k(*count, k) for count in counts) / len(counts),
            sum(pass_hat_k(*count, k) for count in counts) / len(counts),
        )
        for k in range(1, most + 1)
    ]
