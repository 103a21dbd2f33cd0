"""Finding the object in what a model wrote."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.models.extract import find_object

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=4)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"b": 1}}',
        '  \n{"a": {"b": 1}}\n',
        '```json\n{"a": {"b": 1}}\n```',
        'Here it is:\n```\n{"a": {"b": 1}}\n```\nDone.',
        'Sure! {"a": {"b": 1}} Hope it helps {x}.',
        'A set {1, 2} and then {"a": {"b": 1}}',
        'Example: {"x": 1}. Mine: {"a": {"b": 1}}',
    ],
)
def test_what_is_forgiven(text: str) -> None:
    assert find_object(text) == {"a": {"b": 1}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        (" \n ", "empty"),
        ("five", "no JSON object"),
        ("[1, 2]", "a JSON object is needed, not list"),
        ('{"a": 1', "no JSON object"),
        ('{"a": NaN}', "NaN is not JSON"),
        ("{" * 5000, "no JSON object"),
        ('{"a":' * 5000, "no JSON object"),
        ("[" * 100_000, "no JSON object"),
    ],
)
def test_what_is_not(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        find_object(text)


def test_half_a_surrogate_pair_does_not_get_through() -> None:
    found = find_object('{"a": "\\ud800", "\\udfff": [["\\ud800x"]]}')
    json.dumps(found, ensure_ascii=False).encode("utf-8")
    assert found["a"] == "?"


def test_junk_takes_no_quadratic_time() -> None:
    started = time.process_time()
    with pytest.raises(ValueError, match="no JSON object"):
        find_object('{"a": [' * 40_000)
    assert time.process_time() - started < 5


@given(st.text() | st.binary().map(lambda data: data.decode("latin-1")))
def test_anything_gives_an_object_or_a_value_error(text: str) -> None:
    try:
        found = find_object(text)
    except ValueError:
        return
    assert isinstance(found, dict)


@given(OBJECTS, st.text(alphabet="abc .,:\n"), st.text(alphabet="abc .,:\n"))
def test_an_object_is_found_in_any_prose(value: dict[str, Any], before: str, after: str) -> None:
    assert find_object(f"{before}{json.dumps(value)}{after}") == value


@given(OBJECTS, st.integers(0, 400))
def test_a_cut_reply_is_never_taken_for_more_than_it_holds(value: dict[str, Any], cut: int) -> None:
    text = json.dumps(value)[:cut]
    try:
        found = find_object(text)
    except ValueError:
        return
    assert isinstance(found, dict)


@pytest.mark.parametrize("number", ["1e999", "-1e999", str(2**64), str(-(2**63) - 1), "9" * 5000])
def test_a_number_that_no_checkpoint_can_hold_is_refused(number: str) -> None:
    for text in (f'{{"n": {number}}}', f'so: {{"n": {number}}} it is'):
        with pytest.raises(ValueError, match=r"too large|Exceeds|no JSON"):
            find_object(text)


@pytest.mark.parametrize("depth", [101, 900, 2_000, 100_000])
@pytest.mark.parametrize("prose", ["", "so: "])
def test_nesting_that_nothing_could_copy_is_refused(depth: int, prose: str) -> None:
    with pytest.raises(ValueError, match=r"nested too deeply|no JSON"):
        find_object(prose + '{"a":' * depth + "1" + "}" * depth)


def test_the_greatest_numbers_and_usual_nesting_pass() -> None:
    assert find_object(f'{{"n": {2**64 - 1}, "m": {-(2**63)}}}') == {"n": 2**64 - 1, "m": -(2**63)}
    assert find_object('{"a":' * 50 + "1" + "}" * 50)
