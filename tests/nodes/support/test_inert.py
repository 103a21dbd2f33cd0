"""What the model writes to a person, made harmless (ways out: tests/graph/test_obedient_model.py)."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from forethought.nodes.support.addresses import addresses_in, for_person, inert

KNOWN = addresses_in("https://x.org/a")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the sum is 4", "the sum is 4"),
        ("a list[0] != b, 3 < 4 and <b>bold</b>", "a list[0] != b, 3 < 4 and <b>bold</b>"),
        ("see https://x.org/a.", "see https://x.org/a."),
        ("[text](https://x.org/a)", "[text](https://x.org/a)"),
        ("![p](https://x.org/a)", "![p](https://x.org/a)"),
        ("see https://y.org/a.", "see `https://y.org/a`."),
        ("![p](https://y.org/a)", "[p](`https://y.org/a`)"),
        ("www.y.org, or //y.org/b", "`www.y.org`, or `//y.org/b`"),
        ('<img src="https://x.org/a">', '&lt;img src="https://x.org/a">'),
        ("R&amp;D &#65;", "R&amp;D A"),
    ],
)
def test_only_what_loads_or_links_is_changed(text: str, shown: str) -> None:
    assert inert(text, KNOWN) == shown


PIECES = [
    *("![", "](", ")", "<img src=", "http:", "//", "/", "\\", "y.org", " ", "<", ">", "`"),
    *("&#47;", "&colon;", "\n", '"', "[a]: ", "x"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_no_mix_of_pieces_makes_a_picture_of_another_host(pieces: list[str]) -> None:
    page = MarkdownIt("commonmark", {"html": True}).render(inert("".join(pieces), ()))
    assert "<img" not in page.replace("&lt;img", "")
    assert 'href="http://y.org' not in page
    assert 'href="//y.org' not in page


def test_a_thread_without_files_or_without_outside_text_is_left_alone() -> None:
    text = "![p](https://y.org/a)"
    page: Any = {"n": 1, "origin": "web:z.org", "sub_steps": [], "cause": "", "thought": "", "expected": "",
                 "evaluation": "", "arguments": {}, "observation": "", "ok": True, "tool": "t",
                 "action": "call"}  # fmt: skip
    assert for_person(text, {"trajectory": [page]}, {}) == text
    assert for_person(text, {"trajectory": [page], "files": [{"name": "a"}]}, {}) != text


def test_long_texts_take_no_long_time() -> None:
    started = time.monotonic()
    for part in ("![", "![a](", "<img ", "//", "www.", "&#47;"):
        inert(part * (100_000 // len(part)), ())
    assert time.monotonic() - started < 5
