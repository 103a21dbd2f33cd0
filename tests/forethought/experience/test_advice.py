"""The record of an advice and its counts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from forethought.experience.advice import MOST_TASKS, Advice, Outcome

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def advice(**fields: object) -> Advice:
    """A rule that a person gave."""
    given = {"id": "a", "name": "gross_amounts", "applies": "amounts", "instead": "write gross amounts"}
    return Advice.model_validate({**given, "source": "person", "made": NOW, **fields})


def counted(*outcomes: tuple[str, Outcome]) -> Advice:
    """The advice after these outcomes of tasks."""
    found = advice()
    for task, outcome in outcomes:
        found = found.with_outcome(task, outcome, NOW)
    return found


def test_each_task_counts_once_with_its_last_outcome() -> None:
    again = counted(("t1", "helped"), ("t1", "helped"), ("t2", "shown"), ("t1", "harmed"))
    assert (again.shown, again.applied, again.helped, again.harmed) == (2, 1, 0, 1)
    assert again.last_used == NOW


def test_an_advice_that_harms_more_than_twice_as_often_as_it_helps_is_retired() -> None:
    assert counted(("t1", "harmed")).state == "adopted"
    assert counted(("t1", "harmed"), ("t2", "harmed")).state == "retired"
    assert counted(("t1", "helped"), ("t2", "harmed"), ("t3", "harmed")).state == "adopted"
    assert counted(("t1", "helped"), *((f"h{n}", "harmed") for n in range(3))).state == "retired"


def test_the_memory_of_tasks_stays_small() -> None:
    many = counted(*((f"t{n}", "shown") for n in range(MOST_TASKS + 20)))
    assert (many.shown, len(many.tasks)) == (MOST_TASKS + 20, MOST_TASKS)


@pytest.mark.parametrize("wrong", [{"name": "Gross amounts"}, {"instead": " "}, {"applies": "x" * 1_001}])
def test_a_malformed_advice_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        advice(**wrong)
