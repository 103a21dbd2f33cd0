"""What a person can see of a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.visible import shows_something

UNSEEN = st.characters(categories=["C", "Z", "M"]) | st.sampled_from("\u115f\u1160\u2800\u3164\uffa0")
SEEN = st.characters(categories=["L", "N", "P", "S"]).filter(
    lambda c: c not in "\u115f\u1160\u2800\u3164\uffa0`~"
)
FENCES = st.sampled_from(["```\n", "```json\n", "~~~\n", "  ````\n"])


@given(st.lists(st.text(UNSEEN, max_size=5) | FENCES, max_size=6))
def test_what_nobody_sees_is_nothing(parts: list[str]) -> None:
    assert not shows_something("\n".join(parts))


@given(st.text(UNSEEN, max_size=5), SEEN, st.text(UNSEEN, max_size=5))
def test_one_character_is_something(before: str, character: str, after: str) -> None:
    assert shows_something(before + character + after)
    assert shows_something(f"```\n{character}\n```")


@pytest.mark.parametrize(
    "text", ["42", "-", "~", "`", "🙂", "🇪🇸", "é", "e\u0301", "東京", "``x``", "```\nx = 1\n```"]
)
def test_short_answers(text: str) -> None:
    assert shows_something(text)


@pytest.mark.parametrize(
    "text", ["\u200b", "\u2060\ufeff", "\u00ad", "\x00", "\u3164", "\ufe0f", "```\n```", "```"]
)
def test_nothing(text: str) -> None:
    assert not shows_something(text)
