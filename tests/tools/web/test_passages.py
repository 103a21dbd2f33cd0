from __future__ import annotations

import pytest

from forethought.tools.web.passages import find_passages


def shown(text: str, wanted: str) -> list[tuple[str, int]]:
    return [(text[p.start : p.end], p.matches) for p in find_passages(text, wanted)]


def test_a_passage_has_the_lines_around_the_place() -> None:
    text = "\n".join(f"line {number}" for number in range(20))
    assert shown(text, "LINE 10") == [("line 8\nline 9\nline 10\nline 11\nline 12", 1)]


def test_places_near_each_other_share_a_passage_and_far_ones_do_not() -> None:
    text = "\n".join(["x", "key", "y", "key", *["z"] * 10, "key"])
    assert shown(text, "key") == [("x\nkey\ny\nkey\nz\nz", 2), ("z\nz\nkey", 1)]


def test_a_long_line_is_shown_only_around_the_place() -> None:
    assert shown("a" * 5000 + "key" + "b" * 5000, "key") == [("a" * 400 + "key" + "b" * 400, 1)]


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("New York", "in New\u00a0York today"),
        ("New York", "in new\nyork today"),
        ("don't", "they don\u2019t know"),
        ('"free" rooms', "\u201cFree\u201d  rooms"),
        ("2020-2024", "from 2020\u20132024"),
        ("-5", "\u22125 degrees"),
    ],
)
def test_what_a_reader_takes_for_the_same_is_found(wanted: str, text: str) -> None:
    assert shown(text, wanted) == [(text, 1)]
