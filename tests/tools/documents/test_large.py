"""Large workbooks and tables are read in seconds, and say what is left out."""

from __future__ import annotations

import io

import openpyxl
import pytest

from forethought.tools.documents import plain, xlsx
from forethought.tools.documents.content import read_content
from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.formats import read_document


def _workbook() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Orders"
    sheet.append(["id", "price", "twice"])
    for number in range(1, 40):
        sheet.append([number, number + 0.5, f"=B{number + 1}*2"])
    sheet.row_dimensions[7].hidden = True
    sheet.column_dimensions["C"].hidden = True
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_a_large_sheet_shows_values_and_says_what_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx, "_LARGEST", 10)
    monkeypatch.setattr(xlsx, "_MOST_CELLS", 10)
    text = read_document(_workbook(), "orders.xlsx").text
    assert "| 39 | 39.5 |" in text
    assert "39 formulas" in text
    assert "Hidden rows: 7" in text
    assert "Hidden columns: C" in text
    assert "| [hidden row] 6 | 6.5 |" in text
    tables = read_content(_workbook(), "orders.xlsx").tables
    assert isinstance(tables, dict)
    assert tables["Orders"][:3] == [["id", "price", "twice"], [1, 1.5, ""], [2, 2.5, ""]]


def test_a_large_csv_is_shown_as_written_and_points_to_sql(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "LARGEST_TABLE", 10)
    data = b"id;EUR\n1;2,50\n2;3,50\n"
    document = read_document(data, "long.csv")
    assert document.text == data.decode().strip()
    assert "sql" in document.note
    with pytest.raises(Unreadable) as error:
        read_content(data, "long.csv")
    assert "sql" in error.value.hint
