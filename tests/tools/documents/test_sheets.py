from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.tools.documents.sheets import Sheet, cell_text, letters, section


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (1234.5, "", "1234.5"),
        (12.0, "", "12"),
        (0.1 + 0.2, "", "0.3"),
        (1e21, "", "1E+21"),
        (1234567890123, "", "1234567890123"),
        (0.15, "0%", "15%"),
        (0.1575, "0.00%", "15.75%"),
        (5, '0" %"', "5 %"),
        (True, "", "TRUE"),
        (None, "", ""),
        ("  x ", "", "x"),
        (date(2026, 5, 1), "", "2026-05-01"),
        (datetime(2026, 5, 1, 8), "", "2026-05-01 08:00:00"),
        (timedelta(hours=30, minutes=5), "", "30:05:00"),
    ],
)
def test_values_are_written_as_they_would_be_typed(value: Any, number_format: str, text: str) -> None:
    assert cell_text(value, number_format) == text


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=4))
def test_an_amount_keeps_every_digit(amount: Decimal) -> None:
    assert Decimal(cell_text(float(amount))) == amount


def test_columns_have_letters() -> None:
    assert [letters(column) for column in (1, 26, 27, 702, 703)] == ["A", "Z", "AA", "ZZ", "AAA"]


def test_an_empty_row_ends_a_table() -> None:
    table = {1: "a", 2: "b"}
    cells = {1: table, 2: table, 4: table, 5: table, 7: {1: "A note"}}
    text = section(Sheet("S", 1, 1, cells=cells)).text
    assert text.count("| --- | --- |") == 2
    assert "Cells A1:B2:" in text
    assert "Cells A4:B5:" in text
    assert text.endswith("\n\nA note")


def test_a_title_merged_over_the_table_stands_above_it_once() -> None:
    cells = {1: {1: "Costs"}, 2: {1: "a", 2: "b"}, 3: {1: "1", 2: "2"}}
    text = section(Sheet("S", 1, 1, cells=cells, merged=[(1, 1, 1, 2)])).text
    assert text.endswith("Costs\n\nCells A2:B3:\n\n| a | b |\n| --- | --- |\n| 1 | 2 |")
