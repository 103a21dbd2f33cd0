"""A lesson: how it fades, what it counts, when it is in quarantine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from forethought.lessons.record import FLOOR, HALF_LIFE, Lesson, lesson_id

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def lesson(**fields: Any) -> Lesson:
    """A lesson of today."""
    usual: dict[str, Any] = {"id": "x", "task": "t", "failed": "f", "worked": "w", "thread": "first"}
    return Lesson(**{**usual, "made": NOW, "renewed": NOW, **fields})


def test_a_new_lesson_has_its_whole_strength_and_halves_in_ninety_days() -> None:
    assert lesson().strength(NOW) == 1
    assert lesson().strength(NOW + HALF_LIFE) == pytest.approx(0.5)
    assert lesson().strength(NOW - HALF_LIFE) == 1  # a clock that was set back


def test_unused_it_lasts_about_two_hundred_and_nine_days() -> None:
    assert lesson().strength(NOW + timedelta(days=208)) > FLOOR
    assert lesson().strength(NOW + timedelta(days=210)) < FLOOR


@pytest.mark.parametrize(("hurt", "strength"), [(1, 0.44), (2, 0.25), (3, 0.16)])
def test_the_third_task_that_it_did_not_help_takes_it_under_the_floor(hurt: int, strength: float) -> None:
    now = lesson(hurt=hurt).strength(NOW)
    assert now == pytest.approx(strength, abs=0.005)
    assert (now < FLOOR) == (hurt == 3)


def test_outcomes_are_counted_and_help_renews() -> None:
    later = NOW + HALF_LIFE
    helped = lesson().with_outcome(later, passed=True)
    assert (helped.used, helped.helped, helped.renewed) == (1, 1, later)
    hurt = helped.with_outcome(later + HALF_LIFE, passed=False)
    assert (hurt.used, hurt.helped, hurt.hurt, hurt.renewed) == (2, 1, 1, later)


def test_what_outside_text_has_touched_is_in_quarantine_until_a_person_confirms_it() -> None:
    planted = lesson(outside=["web:a.example"])
    assert not lesson().quarantined
    assert planted.quarantined
    assert not planted.model_copy(update={"confirmed": "person"}).quarantined


def test_an_id_belongs_to_a_task() -> None:
    assert lesson_id("t", 1) == lesson_id("t", 1)
    assert len({lesson_id("t", 1), lesson_id("t", 2), lesson_id("u", 1)}) == 3
