"""Proof and gate: when an advice is proven, adopted, on probation or dropped."""

from __future__ import annotations

from typing import Any

import pytest

from forethought.experience.advice import Advice, now_utc
from forethought.nodes.learner.weigh import difference, gate_of, proof_of, state_of
from forethought.state.learner import Trial


def judged(**counts: tuple[int, int]) -> tuple[list[Trial], dict[int, bool]]:
    """Trials of each sort, of which so many of so many came right."""
    trials: list[Trial] = []
    right: dict[int, bool] = {}
    for sort, (good, count) in counts.items():
        of: Any = "failure" if sort == "control" else sort
        for at in range(count):
            number = len(trials) + 1
            trials.append(
                Trial(
                    number=number, of=of, guided=sort != "control", thread="t", task="", measure="", text=""
                )
            )
            right[number] = at < good
    return trials, right


def test_the_interval_is_newcombe_s() -> None:
    low, high = difference((56, 70), (48, 80))
    assert (round(low, 4), round(high, 4)) == (0.0524, 0.3339), "Newcombe 1998, table II, method 10"


@pytest.mark.parametrize(
    ("failure", "control", "status"),
    [
        ((3, 3), (0, 3), "proven"),
        ((3, 3), (1, 3), "suggested"),
        ((2, 3), (2, 3), "unknown"),
        ((0, 0), (0, 0), "unknown"),
    ],
)
def test_a_step_is_proven_if_the_advice_turns_it_more_often_than_chance(
    failure: tuple[int, int], control: tuple[int, int], status: str
) -> None:
    assert proof_of(*judged(failure=failure, control=control), found=True).status == status


@pytest.mark.parametrize(
    ("counts", "state"),
    [
        ({"failure": (3, 3), "control": (0, 3), "success": (3, 3)}, "adopted"),
        ({"failure": (3, 3), "control": (0, 3), "kind": (1, 1), "success": (2, 2)}, "adopted"),
        ({"failure": (3, 3), "control": (0, 3), "success": (2, 3)}, "probation"),
        ({"failure": (3, 3), "control": (0, 3)}, "probation"),
        ({"failure": (3, 3), "control": (3, 3), "success": (3, 3)}, "probation"),
        ({"failure": (3, 3), "control": (0, 3), "success": (0, 4)}, "dropped"),
    ],
)
def test_advice_is_adopted_if_it_prevents_more_than_it_breaks(counts: Any, state: str) -> None:
    advice = Advice(id="a", name="a", applies="x", instead="y", source="learn", made=now_utc())
    gate = gate_of(*judged(**counts))
    assert state_of(advice, gate) == state
    said = advice.model_copy(update={"source": "person"})
    assert state_of(said, gate) == "adopted", "a person's word needs no proof"
    assert state_of(advice.model_copy(update={"outside": ["web:x"]}), gate) == "quarantined"
