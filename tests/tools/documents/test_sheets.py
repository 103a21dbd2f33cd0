from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.tools.documents.document import Document
from forethought.tools.documents.parts import split
from forethought.tools.documents.sheets import Sheet, cell_text, letters, section


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (1234.5, "", "1234.5"),
        (12.0, "", "12"),
        (12, "", "12"),
        (0.1 + 0.2, "", "0.3"),
        (1e21, "", "1E+21"),
        (1234567890123, "", "1234567890123"),
        (-0.05, "", "-0.05"),
        (0.15, "0%", "15%"),
        (0.1575, "0.00%", "15.75%"),
        (5, '0" %"', "5 %"),
        (True, "", "TRUE"),
        (None, "", ""),
        ("  x ", "", "x"),
        (date(2026, 5, 1), "", "2026-05-01"),
        (datetime(2026, 5, 1, 8), "", "2026-05-01 08:00:00"),
        (timedelta(hours=30, minutes=5), "", "30:05:00"),
        (timedelta(minutes=-30), "", "-0:30:00"),
        (100.0, "", "100"),
        (1e-7, "", "0.0000001"),
        (float("inf"), "", "inf"),
    ],
)
def test_values_are_written_as_they_would_be_typed(value: Any, number_format: str, text: str) -> None:
    assert cell_text(value, number_format) == text


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=4))
def test_an_amount_keeps_every_digit(amount: Decimal) -> None:
    assert Decimal(cell_text(float(amount))) == amount


@pytest.mark.parametrize(("column", "name"), [(1, "A"), (26, "Z"), (27, "AA"), (702, "ZZ"), (703, "AAA")])
def test_columns_have_letters(column: int, name: str) -> None:
    assert letters(column) == name


def test_an_empty_row_ends_a_table() -> None:
    cells = {
        1: {1: "a", 2: "b"},
        2: {1: "1", 2: "2"},
        4: {1: "c", 2: "d"},
        5: {1: "3", 2: "4"},
        7: {1: "A note"},
    }
    text = section(Sheet("S", 1, 1, cells=cells)).text
    assert text.count("| --- | --- |") == 2
    assert "Cells A1:B2:" in text
    assert "Cells A4:B5:" in text
    assert text.endswith("\n\nA note")


def test_equal_numbers_side_by_side_are_all_shown() -> None:
    cells = {1: {1: "0", 2: "0"}, 2: {1: "0", 2: "0"}, 4: {1: "5", 2: "5"}}
    text = section(Sheet("S", 1, 1, cells=cells)).text
    assert text == "Cells A1:B2:\n\n| 0 | 0 |\n| --- | --- |\n| 0 | 0 |\n\nA4: 5; B4: 5"


def test_a_title_merged_over_the_table_stands_above_it_once() -> None:
    cells = {1: {1: "Costs"}, 2: {1: "a", 2: "b"}, 3: {1: "1", 2: "2"}}
    text = section(Sheet("S", 1, 1, cells=cells, merged=[(1, 1, 1, 2)])).text
    assert text.endswith("Costs\n\nCells A2:B3:\n\n| a | b |\n| --- | --- |\n| 1 | 2 |")


def test_a_sheets_name_of_any_length_leaves_room_for_its_cells() -> None:
    cells = {row: {1: "word " * 20} for row in range(1, 400)}
    parts = split(Document((section(Sheet("N" * 20_000, 1, 1, cells=cells)),), unit="sheet"))
    assert len(parts) < 6
