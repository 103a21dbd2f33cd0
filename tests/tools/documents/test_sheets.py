from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from forethought.tools.documents.sheets import cell_text, section


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


def shown(*rows: list[str], merged: str = "") -> str:
    """The text of a sheet with these rows."""
    book = Workbook()
    sheet = book.worksheets[0]
    for row in rows:
        sheet.append(row)
    if merged:
        sheet.merge_cells(merged)
    return section(sheet, sheet, "(1 of 1)").text


def test_an_empty_row_ends_a_table() -> None:
    text = shown(["a", "b"], ["a", "b"], [], ["a", "b"], ["a", "b"], [], ["A note"])
    assert text.count("| --- | --- |") == 2
    assert "Cells A1:B2:" in text
    assert "Cells A4:B5:" in text
    assert text.endswith("\n\nA note")


def test_a_title_merged_over_the_table_stands_above_it_once() -> None:
    text = shown(["Costs"], ["a", "b"], ["1", "2"], merged="A1:B1")
    assert text.endswith("Costs\n\nCells A2:B3:\n\n| a | b |\n| --- | --- |\n| 1 | 2 |")
