"""Workbooks: what is in their sheets, how values are written, and what number formats add to numbers.

The formats are those that Excel and LibreOffice write.
"""

from __future__ import annotations

import io
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook
from openpyxl.comments import Comment
from openpyxl.styles import Font
from openpyxl.worksheet.formula import ArrayFormula

from forethought.tools.documents.document import Document, Unreadable
from forethought.tools.documents.formats import read_document
from forethought.tools.documents.number_formats import formatted
from forethought.tools.documents.sheets import cell_text

PRICES = Path(__file__).with_name("prices.xls").read_bytes()
"""Written with xlwt: a title row, a table from A3 on, a merged cell, a hidden sheet."""


def saved(book: Workbook) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


@pytest.fixture
def document() -> Document:
    book = Workbook()
    june = book.active
    assert june is not None
    june.title = "June"
    june["B3"] = "Prices of June 2026"
    june.merge_cells("B3:E3")
    june.append([])
    june.append([None, "Item", "Price", "Bought", "Share"])
    june.append([None, "Tea", 1234.5, date(2026, 6, 1), 0.155])
    june.append([None, "Milk | oat", 12.0, datetime(2026, 6, 2, 8, 30), 1])
    june.append([None, "Sum", "=SUM(C6:C7)", time(9, 5), 0.1 + 0.2])
    june["E6"].number_format = june["E7"].number_format = "0.0%"
    june["C6"].comment = Comment("Ask Ana\nbefore use", "Ben")
    june["H20"], june["I20"] = "Checked by", "Ana"
    june.column_dimensions["D"].hidden = True
    june.row_dimensions[7].hidden = True
    secret = book.create_sheet("Margins")
    secret.sheet_state = "veryHidden"
    secret.append(["Group", "Item", "Margin"])
    secret.append(["drinks", "Tea", True])
    secret.append([None, "Milk", "=B2&C2"])
    secret.merge_cells("A2:A3")
    secret["D5"] = ArrayFormula("D5:D6", "=A1:A2")
    book.create_sheet("Blank")
    return read_document(saved(book), "prices.xlsx")


def test_a_sheet_keeps_its_title_rows_table_and_numbers(document: Document) -> None:
    june = document.sections[0]
    assert june.heading == '## Sheet "June" (1 of 3)'
    assert june.text == (
        "Merged cells: B3:E3\n\nHidden rows: 7\n\nHidden columns: D\n\nPrices of June 2026\n\n"
        "Cells B5:E8:\n\n| Item | Price | [hidden column] Bought | Share |\n| --- | --- | --- | --- |\n"
        "| Tea | 1234.5 | [hidden] 2026-06-01 | 15.5% |\n"
        "| [hidden row] Milk \\| oat | 12 | [hidden] 2026-06-02 08:30:00 | 100% |\n"
        "| Sum | (=SUM(C6:C7), value not stored) | [hidden] 09:05:00 | 0.3 |\n\n"
        "H20: Checked by; I20: Ana\n\nComments on cells:\n- C6: Ask Ana before use"
    )


def test_hidden_sheets_are_shown_and_named_as_hidden(document: Document) -> None:
    margins = document.sections[1]
    assert margins.heading == '## Sheet "Margins" (2 of 3, hidden)'
    assert "| drinks | Tea | TRUE |" in margins.text
    assert "| drinks | Milk | (=B2&C2, value not stored) |" in margins.text, (
        "a merged text counts for all its rows"
    )
    assert "(=A1:A2, value not stored)" in margins.text
    assert document.sections[2].text == "(This sheet is empty.)"
    assert document.where(["June", "Blank"]) == "sheets: June, Blank"


def test_a_cell_that_is_struck_out_says_so() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["Item", "Price"], ["Tea", 3], ["Milk", 2]):
        sheet.append(row)
    sheet["B2"].font = Font(strike=True)
    assert "| Tea | [struck: 3] |\n| Milk | 2 |" in read_document(saved(book), "a.xlsx").text


def test_a_merged_number_counts_once() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["Item", "Cost"], ["Tea", 100], ["Milk", None]):
        sheet.append(row)
    sheet.merge_cells("B2:B3")
    assert read_document(saved(book), "a.xlsx").text.count("100") == 1


def test_cells_in_far_corners_do_not_fill_the_memory() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet["A1"], sheet["XFD1048576"] = "first", "last"
    text = read_document(saved(book), "a.xlsx").text
    assert "first" in text
    assert "last" in text
    assert len(text) < 200


def test_a_damaged_workbook_is_named_as_damaged() -> None:
    data = saved(Workbook())
    with pytest.raises(Unreadable, match="damaged"):
        read_document(data[: len(data) // 2], "a.xlsx")


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
    return read_document(saved(book), "a.xlsx").sections[0].text


def test_an_empty_row_ends_a_table() -> None:
    text = shown(["a", "b"], ["a", "b"], [], ["a", "b"], ["a", "b"], [], ["A note"])
    assert text.count("| --- | --- |") == 2
    assert "Cells A1:B2:" in text
    assert "Cells A4:B5:" in text
    assert text.endswith("\n\nA note")


def test_a_title_merged_over_the_table_stands_above_it_once() -> None:
    text = shown(["Costs"], ["a", "b"], ["1", "2"], merged="A1:B1")
    assert text.endswith("Costs\n\nCells A2:B3:\n\n| a | b |\n| --- | --- |\n| 1 | 2 |")


def test_an_old_workbook_is_read_also_under_another_name() -> None:
    document = read_document(PRICES, "prices.xlsx")
    assert document.note == "The file is not .xlsx as its name says but .xls."
    june, secret = document.sections
    assert june.text.startswith(
        "Merged cells: A7:B7\n\nPrices 2026\n\nCells A3:E5:\n\n| Item | Price | Date |"
    )
    assert "| Tea | 1234.5 | 2026-06-01 | 15% | TRUE |" in june.text
    assert (secret.heading, secret.text) == ('## Sheet "Secret" (2 of 2, hidden)', "A1: Margin; B1: 0.3")
    with pytest.raises(Unreadable, match="damaged"):
        read_document(PRICES[:3000], "prices.xls")


ACCOUNTING = '_-* #,##0.00 €_-;-* #,##0.00 €_-;_-* "-"?? €_-;_-@_-'


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (80, '#,##0.00 "EUR"', "80 EUR"),
        (80.5, '"EUR" #,##0', "EUR 80.5"),
        (-80, "[$€-407] #,##0.00", "-€ 80"),
        (80, "#,##0.00\\ [$CZK]", "80 CZK"),
        (80, "[$-409]#,##0.00", "80"),
        (80, ACCOUNTING, "80 €"),
        (0, ACCOUNTING, "0 €"),
        (-7, "$#,##0_);($#,##0)", "-$7"),
        (20, "0\\°\\C", "20°C"),
        (5, 'General" km"', "5 km"),
        (12, '0" h (est.)"', "12 h (est.)"),
        (1234567, "#,##0,", "1234.567 (in full: 1234567)"),
        (1500000, '$0.0,, "million"', "$1.5 million (in full: 1500000)"),
        (0.155, "0%", "15.5%"),
        (-0.15, "0.0%;[Red]-0.0%", "-15%"),
        (15, '0"%"', "15%"),
        (1234, "00000", "01234"),
        (1, '"Yes";"No";"No"', "1 (shown as Yes)"),
        (0, '"Yes";"No";"No"', "0 (shown as No)"),
        (5, '[<1]0" kg";[>=1]0" t"', "5"),
        (5, '"a;b" 0', "a;b 5"),
        (12345.678, "0.00E+00", "12345.678"),
        (5, ";;;", "5"),
        (5.25, "[h]:mm:ss", "5.25"),
        (5, "# ?/?", "5"),
    ],
)
def test_what_a_format_says_is_not_lost(value: float, number_format: str, text: str) -> None:
    assert formatted(value, number_format) == text


@given(
    st.decimals(min_value=-(10**9), max_value=10**9, places=3), st.text(alphabet='0#?.,;%"[]$€-_*\\ E+@<1kg')
)
def test_no_format_changes_a_number(value: Decimal, number_format: str) -> None:
    text = formatted(float(value), number_format)
    plain = format(value.normalize(), "f").lstrip("-")
    assert plain in text or format((value * 100).normalize(), "f").lstrip("-") in text
