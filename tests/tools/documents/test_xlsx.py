from __future__ import annotations

import io
from datetime import date, datetime, time

import pytest
from openpyxl import Workbook
from openpyxl.comments import Comment
from openpyxl.worksheet.formula import ArrayFormula

from forethought.tools.documents.document import Document, Unreadable
from forethought.tools.documents.formats import read_document


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
        "Cells B5:E8:\n\n| Item | Price | Bought | Share |\n| --- | --- | --- | --- |\n"
        "| Tea | 1234.5 | 2026-06-01 | 15.5% |\n| Milk \\| oat | 12 | 2026-06-02 08:30:00 | 100% |\n"
        "| Sum | (=SUM(C6:C7), value not stored) | 09:05:00 | 0.3 |\n\n"
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
