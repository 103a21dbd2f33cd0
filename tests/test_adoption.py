"""The bench of adoption: the gate adopts useful advice, and no decoy."""

from __future__ import annotations

from benchmarks.adoption.gate import MODEL, opened
from benchmarks.adoption.model import Candidate, PlanningModel, candidates
from benchmarks.adoption.tasks import FAULTS, tasks
from forethought.state.learner import LearnerContext


def first(about: str | None, useful: bool) -> Candidate:
    """An advice of a group."""
    return next(item for item in candidates() if (item.about, item.useful) == (about, useful))


def test_each_fault_has_useful_advice_and_advice_that_makes_it() -> None:
    groups = {(item.about, item.useful) for item in candidates()}
    assert groups == {(None, False), *((fault, useful) for fault in FAULTS for useful in (True, False))}
    assert len({item.text for item in candidates()}) == 40


async def test_the_gate_adopts_useful_advice_and_no_decoy() -> None:
    made = tasks(6, 0)
    async with opened(made, PlanningModel(made, noise=0), LearnerContext(model=MODEL)) as gate:
        wanted = {first("entry", True): "adopted", first(None, False): "probation"}
        wanted[first("condition", False)] = "dropped"
        states = {candidate: (await gate.weigh(candidate)).state for candidate in wanted}
    assert states == wanted
