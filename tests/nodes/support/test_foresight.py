"""Foresight by rules: quoted terms that must occur (SAMULE 3.2.3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.nodes.support.foresight import Finding, compare, missing_terms
from forethought.tools.base import Observation


@pytest.mark.parametrize(
    ("expected", "text", "missing"),
    [
        ("", "anything", []),
        ("a table of costs", "something else", []),
        ('the heading "Costs"', "COSTS of 2024", []),
        ('"total  12" and "2024"', "Total\n12", ["2024"]),
        ("“Größe” first", "groesse", ["Größe"]),
        ("“Größe” first", "GRO\u0308SSE" + "", []),
        ('"ﬁve"', "five", []),
        ('an open "quote', "nothing", []),
        ('"  "', "nothing", []),
    ],
)
def test_quoted_terms_must_occur(expected: str, text: str, missing: list[str]) -> None:
    assert missing_terms(expected, text) == missing


@given(st.text(), st.text())
def test_no_text_breaks_it(expected: str, text: str) -> None:
    for term in missing_terms(expected, text):
        assert term in expected


def test_what_rules_can_tell() -> None:
    assert compare('"a"', Observation("b")) == Finding("minor", "Expected, but not in what came: 'a'.")
    assert compare('"a"', Observation("A")) == Finding()
    assert compare('"a"', Observation("b", ok=False, cause="tool")) == Finding("minor")
