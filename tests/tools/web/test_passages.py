from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tools.web.passages import find_passages, split_parts

WORDS = st.text(alphabet="ab \n", max_size=400)


@given(WORDS, st.integers(2, 50))
def test_parts_joined_are_the_text_and_none_is_too_long(text: str, size: int) -> None:
    parts = split_parts(text, size)
    assert "".join(parts) == text
    assert all(len(part) <= size for part in parts)
    assert all(parts) or parts == [""]


def test_a_part_ends_at_a_line_where_it_can() -> None:
    assert split_parts("aaaa\nbbbb\ncccc", 11) == ["aaaa\nbbbb\n", "cccc"]
    assert split_parts("a" * 25, 10) == ["a" * 10, "a" * 10, "a" * 5]


@given(WORDS, st.text(alphabet="abA", min_size=1, max_size=3))
def test_every_occurrence_is_in_a_passage(text: str, wanted: str) -> None:
    passages = find_passages(text, wanted)
    assert all(text[start : start + len(passage)] == passage for start, passage in passages)
    assert all(wanted.lower() in passage.lower() for _, passage in passages)
    assert bool(passages) == (wanted.lower() in text.lower())
    covered = {at for start, passage in passages for at in range(start, start + len(passage))}
    found = [at for at in range(len(text)) if text[at : at + len(wanted)].lower() == wanted.lower()]
    first = found[:1]
    assert all(at in covered for at in first)


def test_a_passage_has_the_lines_around_the_place() -> None:
    text = "\n".join(f"line {number}" for number in range(20))
    assert find_passages(text, "LINE 10") == [
        (text.index("line 8"), "line 8\nline 9\nline 10\nline 11\nline 12")
    ]


def test_places_near_each_other_share_a_passage_and_far_ones_do_not() -> None:
    lines = ["x", "key", "y", "key", *["z"] * 10, "key"]
    assert [passage for _, passage in find_passages("\n".join(lines), "key")] == [
        "x\nkey\ny\nkey\nz\nz",
        "z\nz\nkey",
    ]


def test_a_long_line_is_shown_only_around_the_place() -> None:
    [(start, passage)] = find_passages("a" * 5000 + "key" + "b" * 5000, "key")
    assert (start, passage) == (4600, "a" * 400 + "key" + "b" * 400)
