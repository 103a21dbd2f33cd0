"""What a program gets of a file: see tests/tools/test_python_inputs.py for every format."""

from __future__ import annotations

import io
from datetime import time, timedelta
from pathlib import Path

import pytest
from openpyxl import Workbook

from forethought.tools.documents.content import read_content
from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.formats import read_document


def saved(book: Workbook) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_cells_of_a_workbook_keep_their_types_and_places() -> None:
    book = Workbook()
    sheet = book.active
    sheet["B2"], sheet["C2"], sheet["D2"] = 0.19, time(8, 30), timedelta(hours=30)
    sheet["B2"].number_format = "0%"
    sheet["B3"], sheet["C3"] = "=B2*2", "007"
    rows = read_content(saved(book), "a.xlsx").tables
    assert rows == {
        "Sheet": [
            ["", "", "", ""],
            ["", 0.19, "08:30:00", "30:00:00"],
            ["", "(=B2*2, value not stored)", "007", ""],
        ]
    }


def test_a_workbook_of_excel_97_has_rows_too() -> None:
    name = "prices.xls"
    data = next(Path(__file__).parent.rglob("*.xls")).read_bytes()
    tables = read_content(data, name).tables
    assert isinstance(tables, dict)
    assert len(tables) == len(read_document(data, name).sections)
    assert any(isinstance(cell, int | float) for rows in tables.values() for row in rows for cell in row)


def test_a_table_that_is_too_large_and_a_damaged_file_are_refused() -> None:
    book = Workbook()
    book.active["A1"] = book.active["XFD1048576"] = "corner"
    with pytest.raises(Unreadable, match="too large"):
        read_content(saved(book), "a.xlsx")
    with pytest.raises(Unreadable, match="is damaged"):
        read_content(b"PK\x03\x04 no archive", "a.xlsx")


def test_cells_with_pipes_and_line_breaks_come_back_as_they_were() -> None:
    html = "<table><tr><th>a | b</th><th>c</th></tr><tr><td>1</td><td></td></tr></table><p>x | y</p>"
    assert read_content(html.encode(), "a.html").tables == {"1": [["a | b", "c"], ["1", ""]]}
