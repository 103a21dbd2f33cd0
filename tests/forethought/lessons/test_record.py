"""A lesson: how it fades, what it counts, and how it leaves quarantine."""

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


def planted(thread: str = "first", *outside: str) -> Lesson:
    """A lesson that was made under outside influence."""
    return lesson(thread=thread, outside=list(outside or ("web:a.example",)))


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


def test_a_task_counts_once_and_help_renews() -> None:
    later = NOW + HALF_LIFE
    helped = lesson().with_outcome("t/1", passed=True, now=later)
    assert (helped.used, helped.helped, helped.renewed) == (1, 1, later)
    assert helped.with_outcome("t/1", passed=True, now=later) == helped
    hurt = helped.with_outcome("t/2", passed=False, now=later + HALF_LIFE)
    assert (hurt.used, hurt.helped, hurt.hurt, hurt.renewed) == (2, 1, 1, later)


def test_what_is_free_of_outside_text_is_in_no_quarantine() -> None:
    assert not lesson().quarantined
    assert lesson().vouched
    assert planted().quarantined
    assert not planted().vouched


def test_two_independent_successes_confirm() -> None:
    one = planted().found_again(planted("second", "web:b.example"), passed=True, now=NOW)
    assert one.quarantined
    two = one.found_again(planted("third", "file:c.txt"), passed=True, now=NOW)
    assert (two.quarantined, two.confirmed, two.found) == (False, "threads", 3)
    assert not two.vouched  # nobody has read it


@pytest.mark.parametrize(
    ("second", "third", "passed"),
    [
        (planted("second"), planted("third"), True),
        (planted("second", "web:b.example"), planted("third", "web:b.example"), True),
        (planted("second", "web:b.example"), planted("second", "web:c.example"), True),
        (planted("first", "web:b.example"), planted("first", "web:c.example"), True),
        (planted("second", "web:b.example"), planted("third", "web:c.example"), False),
        (planted("second", "web:b.example"), planted("third", "web:c.example", "web:a.example"), True),
    ],
    ids=[
        "same page",
        "one page twice",
        "one thread twice",
        "own thread",
        "failures",
        "own page among others",
    ],
)
def test_what_is_not_independent_does_not(second: Lesson, third: Lesson, passed: bool) -> None:
    found = planted().found_again(second, passed=passed, now=NOW).found_again(third, passed=passed, now=NOW)
    assert found.quarantined


def test_finding_it_again_leaves_its_words() -> None:
    other = lesson(id="y", failed="other words", thread="second")
    found = lesson().found_again(other, passed=True, now=NOW + HALF_LIFE)
    assert (found.id, found.failed, found.renewed) == ("x", "f", NOW + HALF_LIFE)


def test_an_id_belongs_to_a_task() -> None:
    assert lesson_id("t", 1) == lesson_id("t", 1)
    assert len({lesson_id("t", 1), lesson_id("t", 2), lesson_id("u", 1)}) == 3
