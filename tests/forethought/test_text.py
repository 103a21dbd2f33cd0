"""What a person sees of a text, and what is left of a long one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.text import cut, has_visible_text, how_many, one_line


@pytest.mark.parametrize("text", ["42", "-", "`", "🙂", "é", "e\u0301", "東京"])
def test_short_answers_are_seen(text: str) -> None:
    assert has_visible_text(text)


@pytest.mark.parametrize("text", ["", " \n", "\u200b", "\u2060\ufeff", "\u00ad", "\x00", "\ufe0f"])
def test_what_nobody_sees_is_nothing(text: str) -> None:
    assert not has_visible_text(text)


@given(st.text(), st.integers(1, 40))
def test_one_line_is_never_longer_than_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert line.split() == line.split(" ") or not line
    assert one_line(text) == line or line.endswith("…")


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        (0.25, "aaabbbbcc\n[... 4 characters left out ...]\nddd"),
        (0, "aaabbbbccccd\n[... 4 characters left out ...]"),
    ],
)
def test_a_cut_says_how_much_is_missing(tail: float, expected: str) -> None:
    assert cut("aaabbbbccccddddd", 12, tail) == expected
    assert cut("short", 5, tail) == "short"


def test_a_count_has_its_noun_in_the_right_number() -> None:
    assert [how_many(n, "step") for n in (0, 1, 1200)] == ["0 steps", "1 step", "1,200 steps"]
