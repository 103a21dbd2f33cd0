"""What a step adds to the database stays about the same; see `benchmarks/thousand_steps.py`."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from benchmarks.thousand_steps import Mark, added, measure, wrong
from forethought.storage.serializer import thread_serializer

MARKS = [Mark(100, 1_200_000, 0.008, 0), Mark(500, 6_000_000, 0.012, 0), Mark(1000, 12_100_000, 0.017, 0)]


async def test_a_short_run_grows_no_faster_than_it_may(tmp_path: Path) -> None:
    marks, state = await measure(120, {30, 60, 120}, tmp_path)
    assert len(state["trajectory"]) == 120
    same_time = [replace(mark, seconds=0.01) for mark in marks]
    assert wrong(same_time) == []
    assert added(marks)[2] < 1.2 * added(marks)[1], "no part of the state is written whole at each step"
    assert len(state["plan"]["subtasks"]) == 40
    assert plans_written(tmp_path / "threads.sqlite") == 5, "made and reviewed each round, and at the end"


def plans_written(path: Path) -> int:
    """How often a plan was written to the database, where no checkpoint holds one."""
    read = thread_serializer().loads_typed
    with closing(sqlite3.connect(path)) as database:
        (count,) = database.execute("SELECT COUNT(*) FROM writes WHERE channel = 'plan'").fetchone()
        checkpoints = database.execute("SELECT type, checkpoint FROM checkpoints").fetchall()
    assert not any("plan" in read(row)["channel_values"] for row in checkpoints)
    return int(count)


def test_what_grows_too_fast_is_told() -> None:
    assert [round(size) for size in added(MARKS)] == [12_000, 12_000, 12_200]
    assert wrong(MARKS) == []
    slow = replace(MARKS[2], seconds=0.037)
    assert wrong([*MARKS[:2], slow]) == ["step 1000: one takes 3.1 times as long as before"]
    large = replace(MARKS[2], size=6_000_000 + 500 * 15_000)
    assert wrong([*MARKS[:2], large]) == ["step 1000: one adds 1.2 times the bytes that one added before"]
