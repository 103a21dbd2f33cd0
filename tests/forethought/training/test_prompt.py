"""Prompts and rows that are too long: visibly cut in the trajectory's middle, else left out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from forethought.training.dataset import row_of
from forethought.training.errors import TrainingError
from forethought.training.prompt import LEAST, reflection_prompt, shorten
from forethought.training.train import count_tokens, fit
from tests.forethought.training.samples import record

LONG = "\n".join(f"step {n} did something" for n in range(1, 2001))


class Words:
    """A tokenizer whose tokens are words."""

    def apply_chat_template(self, messages: list[dict[str, str]], **_: Any) -> str:
        return " ".join(message["content"] for message in messages)

    def __call__(self, text: str, **_: Any) -> Any:
        return SimpleNamespace(input_ids=text.split())


def test_rows_too_long_are_cut_in_the_trajectorys_middle_or_left_out_and_counted() -> None:
    short, whole = row_of(record(0)), row_of(record(1, trajectory=LONG))
    endless = row_of(record(2, background="word " * 3000))
    said: list[str] = []
    same, row = fit([short, whole, endless], Words(), 1000, said.append)
    assert said == [
        "shortened the trajectories of 1 rows that were too long",
        "left out 1 rows that were too long",
    ]
    assert same == short
    assert 985 < count_tokens(Words(), row) <= 1000
    for part in ("characters left out ...]", "step 1 did", "step 2000 did", "Nothing was booked in Oslo"):
        assert part in row.user
    assert (row.messages[0], row.messages[2]) == (whole.messages[0], whole.messages[2])
    with pytest.raises(TrainingError, match="every row is longer than 20 tokens"):
        fit([short], Words(), 20, said.append)


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
