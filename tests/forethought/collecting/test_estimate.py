"""The estimate: from the first finished runs to all."""

from __future__ import annotations

import pytest

from forethought.collecting.estimate import estimate, pilots, spent
from forethought.collecting.folder import Trial, mixed
from forethought.models.types import Usage
from forethought.trajectories.tasks import CollectTask
from forethought.trajectories.types import Outcome


def task(name: str, size: int = 10) -> CollectTask:
    """A task of so many characters."""
    return CollectTask(id=name, task="x" * size, expected=("1",))


def trial(name: str, tokens: int, usd: float = 0.0, unpriced: int = 0, outcome: Outcome = "success") -> Trial:
    """A finished run."""
    usage = Usage(calls=1, input_tokens=tokens, output_tokens=0, usd=usd, unpriced=unpriced)
    kept = {"task": name, "trial": 1, "outcome": outcome, "usage": usage, "seconds": 2.0}
    return Trial(**kept, status="answered", by="exact", reason="")  # type: ignore[typeddict-item]


def test_pilots_are_spread_over_the_sizes() -> None:
    tasks = [task(f"t{size}", size) for size in (900, 1, 500, 2, 100, 3, 700, 4, 300)]
    assert [found.id for found in pilots(tasks)] == ["t2", "t100", "t700"]
    assert len(pilots(tasks[:2])) == 2
    assert len(pilots([task(f"t{n}") for n in range(500)])) == 8


def test_a_task_costs_what_it_cost_before_and_others_the_average() -> None:
    found = estimate([trial("a", 100, 0.1), trial("b", 300, 0.3)], {"a": 2, "c": 3})
    assert found.runs == 7
    assert found.tokens == 400 + 2 * 100 + 3 * 200
    assert found.usd == pytest.approx(1.2)
    assert found.seconds == 14


def test_a_call_without_a_price_leaves_dollars_out() -> None:
    trials = [trial("a", 100, 0.1), trial("b", 300, unpriced=1)]
    assert spent(trials).usd is None
    assert estimate(trials, {"c": 1}).usd is None
    assert spent([]).tokens == 0


def test_nothing_finished_gives_no_estimate() -> None:
    with pytest.raises(ValueError, match="needs a finished run"):
        estimate([], {"a": 1})


def test_mixed_needs_both_outcomes() -> None:
    trials = [
        trial("a", 1),
        trial("b", 1),
        trial("a", 1, outcome="failure"),
        trial("b", 1, outcome="unknown"),
    ]
    assert mixed(trials) == ["a"]
