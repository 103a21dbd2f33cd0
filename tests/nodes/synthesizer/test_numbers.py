"""Numbers by value."""

from __future__ import annotations

from decimal import Decimal

import pytest

from forethought.nodes.synthesizer.leaks import numbers


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,234.50 or 1234.5", ["1234.5"]),
        ("1 234 and 12", ["1234", "12"]),
        ("3 million", ["3000000"]),
        ("5 %", ["5", "0.05"]),
        ("2k", ["2", "2000"]),
        ("twenty-one, ninety, seven", ["21", "90", "7"]),
        ("one of none, v1.2.3 and A4", []),
        ("", []),
    ],
)
def test_each_notation_has_its_value(text: str, values: list[str]) -> None:
    assert set(numbers(text)) == {Decimal(value).normalize() for value in values}
