"""The estimate: from the first finished runs to all."""

from __future__ import annotations

import pytest

from forethought.collecting.estimate import estimate, pilots, spent
from forethought.collecting.folder import Trial
from forethought.models.types import Usage
from forethought.trajectories.tasks import CollectTask


def task(name: str, size: int = 10) -> CollectTask:
    """A task of so many characters."""
    return CollectTask(id=name, task="x" * size, expected=("1",))


def trial(name: str, tokens: int, usd: float = 0.0, unpriced: int = 0) -> Trial:
    """A finished run."""
    usage = Usage(calls=1, input_tokens=tokens, output_tokens=0, usd=usd, unpriced=unpriced)
    kept = {"task": name, "trial": 1, "outcome": "success", "usage": usage, "seconds": 2.0}
    return Trial(**kept, status="answered", by="exact", reason="")  # type: ignore[typeddict-item]


def test_pilots_are_the_smallest_a_middle_and_the_largest_task() -> None:
    tasks = [task(f"t{size}", size) for size in (900, 1, 500, 2, 100)]
    assert [found.id for found in pilots(tasks)] == ["t1", "t100", "t900"]
    assert len(pilots(tasks[:2])) == 2
    assert len(pilots(tasks[:1])) == 1


def test_what_is_left_costs_the_average() -> None:
    found = estimate([trial("a", 100, 0.1), trial("b", 300, 0.3)], 5)
    assert (found.runs, found.tokens, found.seconds) == (7, 1400, 14)
    assert found.usd == pytest.approx(1.4)
    with pytest.raises(ValueError, match="needs at least one finished run"):
        estimate([], 1)


def test_a_call_without_a_price_leaves_dollars_out() -> None:
    trials = [trial("a", 100, 0.1), trial("b", 300, unpriced=1)]
    assert spent(trials).usd is None
    assert estimate(trials, 1).usd is None
    assert spent([]).tokens == 0
