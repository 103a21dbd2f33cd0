"""What a step adds to the database stays about the same; see `benchmarks/thousand_steps.py`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.thousand_steps import Mark, added, measure, wrong

MARKS = [Mark(100, 1_400_000, 0.008, 0), Mark(500, 8_500_000, 0.012, 0), Mark(1000, 21_100_000, 0.020, 0)]


async def test_a_short_run_grows_no_faster_than_it_may(tmp_path: Path) -> None:
    marks, state = await measure(120, {30, 60, 120}, tmp_path)
    assert len(state["trajectory"]) == 120
    same_time = [replace(mark, seconds=0.01) for mark in marks]
    assert wrong(same_time) == []
    assert added(marks)[2] < 1.2 * added(marks)[1], "no part of the state is written whole at each step"


def test_what_grows_too_fast_is_told() -> None:
    assert [round(size) for size in added(MARKS)] == [14_000, 17_750, 25_200]
    assert wrong(MARKS) == []
    slow = replace(MARKS[2], seconds=0.031)
    assert wrong([*MARKS[:2], slow]) == ["step 1000: one takes 2.6 times as long as before"]
    large = replace(MARKS[2], size=8_500_000 + 500 * 29_000)
    assert wrong([*MARKS[:2], large]) == ["step 1000: one adds 1.6 times the bytes that one added before"]
