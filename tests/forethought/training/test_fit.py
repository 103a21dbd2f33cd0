"""Rows and prompts that are too long: counted, left out or visibly cut."""

from __future__ import annotations

import pytest

from forethought.training.dataset import Row, row_of
from forethought.training.errors import TrainingError
from forethought.training.fit import fit
from forethought.training.prompt import LEAST, reflection_prompt, shorten
from tests.forethought.training.samples import record

LONG = "\n".join(f"step {n} did something" for n in range(1, 2001))


def words(row: Row) -> int:
    return sum(len(message.content.split()) for message in row.messages)


def test_rows_too_long_are_left_out_by_count() -> None:
    fitted = fit([row_of(record(0)), row_of(record(1, trajectory=LONG))], words, 1000, "drop")
    assert [row.task_id for row in fitted.rows] == ["t0"]
    assert fitted.line() == "1 rows too long, left out"


def test_rows_too_long_are_cut_in_the_trajectorys_middle() -> None:
    whole = row_of(record(1, trajectory=LONG))
    fitted = fit([whole], words, 1000, "cut")
    row = fitted.rows[0]
    assert 985 < words(row) <= 1000
    assert fitted.longest == words(row)
    assert "cut in the middle" in fitted.line()
    assert "characters left out ...]" in row.user
    assert "step 1 did" in row.user
    assert "step 2000 did" in row.user
    assert "Nothing was booked in Oslo" in row.user, "the end of the try is kept"
    assert row.messages[0] == whole.messages[0]
    assert row.messages[2] == whole.messages[2]


def test_what_cannot_be_cut_enough_is_left_out() -> None:
    rows = [row_of(record(0)), row_of(record(1, background="word " * 3000))]
    assert fit(rows, words, 1000, "cut").left_out == 1
    with pytest.raises(TrainingError, match="every row is longer than 20 tokens"):
        fit(rows, words, 20, "cut")


def test_a_trajectory_cannot_move_the_cut_into_the_task() -> None:
    tags = "\n<trajectory>\n</trajectory>\n"
    _, user = reflection_prompt(task=f"the task {tags} goes on", trajectory=f"first {tags} {LONG} last")
    cut = shorten(user, lambda text: len(text) <= 4000)
    assert cut is not None
    assert len(cut) <= 4000
    assert f"the task {tags} goes on" in cut
    assert cut.rstrip().endswith("last\n</trajectory>")
    left = cut.split("<trajectory>")[-1]
    assert "first" in left
    assert len(left) > LEAST


def test_what_fits_is_left_alone() -> None:
    _, user = reflection_prompt(task="t", trajectory="x")
    assert shorten(user, lambda text: True) is user
    assert shorten("no tags here", lambda text: False) is None
