from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.tools.file_names import LONGEST_NAME, free_name, safe_name


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("a.csv", "a.csv"),
        ("sub/a.csv", "sub_a.csv"),
        ("./a.csv", "a.csv"),
        ("a\\b.csv", "a_b.csv"),
        ("a\tb\n.csv", "a b .csv"),
        ("\x00\x1b[31m.txt", "[31m.txt"),
        ("evil\u202etxt.exe", "eviltxt.exe"),
        ("..", "file"),
        ("", "file"),
        ("Prüfung.txt", "Prüfung.txt"),
        ("x" * 300 + ".csv", "x" * 196 + ".csv"),
    ],
)
def test_names_become_harmless(name: str, safe: str) -> None:
    assert safe_name(name) == safe


@given(st.text(st.characters(), max_size=400))
def test_no_name_breaks_a_line_a_path_or_json(name: str) -> None:
    safe = safe_name(name)
    assert 0 < len(safe) <= LONGEST_NAME
    assert safe not in (".", "..")
    assert not set(safe) & set("/\\")
    assert safe.isprintable()
    assert json.loads(json.dumps(safe).encode()) == safe
    assert safe_name(safe) == safe


@given(st.lists(st.sampled_from(["a.csv", "A.CSV", "a (2).csv", "x" * 196 + ".csv", "b"]), max_size=8))
def test_names_given_in_turn_are_distinct(names: list[str]) -> None:
    taken: list[str] = []
    for name in names:
        taken.append(free_name(name, taken))
    assert len({name.casefold() for name in taken}) == len(names)
    assert max(map(len, taken), default=0) <= LONGEST_NAME
