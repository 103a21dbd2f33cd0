"""The format of a tool's answers, and its change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.nodes.support.shapes import Shape, changed, comparable, shape_of
from forethought.tools.ask_user import ASK_USER
from forethought.tools.python import PYTHON
from tests.support.agent import World


@pytest.mark.parametrize(
    ("text", "kind", "names"),
    [
        ('{"a": 1, "b": 2}', "a JSON object", {"a", "b"}),
        ('[{"a": 1}, {"b": 2}, 3]', "a JSON list", {"a", "b"}),
        ("[]", "a JSON list", set()),
        ("<r><Name/></r>", "markup", {"r", "name"}),
        ("a,b\n1,2", "a table parted by ','", {"a", "b"}),
        ("a;b;c\n1,5;2;3", "a table parted by ';'", {"a", "b", "c"}),
        ("", "prose", set()),
        ("One, two\nthree.", "prose", set()),
        ("1,2\n3,4", "prose", set()),
        ('{"a": ', "prose", set()),
        ("[" * 100_000, "prose", set()),
        ("<3", "prose", set()),
        ("{" + "x" * 300_000, "prose", set()),
    ],
)
def test_formats(text: str, kind: str, names: set[str]) -> None:
    assert shape_of(text) == Shape(kind, frozenset(names))


@given(st.lists(st.text(max_size=60), max_size=4), st.text(max_size=60))
def test_no_text_breaks_it(earlier: list[str], text: str) -> None:
    said = changed(earlier, text)
    if earlier and text == earlier[-1]:
        assert said == ""


def test_one_answer_alone_is_no_rule() -> None:
    assert changed(['{"a": 1}'], "prose") == ""
    assert changed(['{"a": 1}', "prose"], '{"a": 1}') == ""
    assert changed(['{"a": 1}', '{"a": 2}'], '{"a": 3}') == ""


def test_a_change_is_told_with_both_formats() -> None:
    said = changed(['{"a": 1}', '{"a": 2}'], '{"b": 1, "c": 1}')
    assert said.endswith("before it was a JSON object with a, now it is a JSON object with b, c")


def test_documents_and_programs_are_not_held_to_a_format() -> None:
    assert comparable(World().tool())
    assert not comparable(PYTHON)
    assert not comparable(ASK_USER)
