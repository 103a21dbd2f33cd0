"""What a person sees of a text, and what is left of a long one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.text import cut, has_visible_text, one_line

UNSEEN = st.characters(categories=["C", "Z", "M"]) | st.sampled_from("\u115f\u1160\u2800\u3164\uffa0")
SEEN = st.characters(categories=["L", "N", "P", "S"]).filter(
    lambda c: c not in "\u115f\u1160\u2800\u3164\uffa0`~"
)
FENCES = st.sampled_from(["```\n", "```json\n", "~~~\n", "  ````\n"])


@given(st.lists(st.text(UNSEEN, max_size=5) | FENCES, max_size=6))
def test_what_nobody_sees_is_nothing(parts: list[str]) -> None:
    assert not has_visible_text("\n".join(parts))


@pytest.mark.parametrize(
    "text", ["42", "-", "~", "`", "🙂", "🇪🇸", "é", "e\u0301", "東京", "``x``", "```\nx = 1\n```"]
)
def test_short_answers(text: str) -> None:
    assert has_visible_text(text)


@pytest.mark.parametrize(
    "text", ["\u200b", "\u2060\ufeff", "\u00ad", "\x00", "\u3164", "\ufe0f", "```\n```", "```"]
)
def test_nothing(text: str) -> None:
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
