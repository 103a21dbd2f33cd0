"""Workbooks of Excel 97-2003 (.xls) through xlrd, which gives a formula's value but not the formula."""

from __future__ import annotations

import io
from typing import Any

from forethought.tools.documents.document import Document, Unreadable
from forethought.tools.documents.sheets import Sheet, cell_text, section


def read_xls(data: bytes) -> Document:
    """Every sheet, hidden ones included and named so."""
    import xlrd  # type: ignore[import-untyped]

    try:
        book = xlrd.open_workbook(file_contents=data, formatting_info=True, logfile=io.StringIO())
    except xlrd.XLRDError as error:
        if "encrypted" in str(error).lower():
            raise Unreadable(
                "is protected with a password and cannot be opened",
                hint="Ask the user for a copy without the password.",
            ) from error
        raise
    sheets = (section(_sheet(book, sheet, number)) for number, sheet in enumerate(book.sheets(), 1))
    return Document(tuple(sheets), unit="sheet")


def _sheet(book: Any, sheet: Any, number: int) -> Sheet:
    found = Sheet(sheet.name, number, book.nsheets, hidden=sheet.visibility != 0)
    for row in range(sheet.nrows):
        for column in range(sheet.row_len(row)):
            if text := _text(book, sheet.cell(row, column)):
                found.cells.setdefault(row + 1, {})[column + 1] = text
    found.merged = sorted(
        (top + 1, left + 1, bottom, right) for top, bottom, left, right in sheet.merged_cells
    )
    found.comments = [
        (row + 1, column + 1, note.text) for (row, column), note in sorted(sheet.cell_note_map.items())
    ]
    found.hidden_rows = [
        row + 1 for row, info in sheet.rowinfo_map.items() if info.hidden and row + 1 in found.cells
    ]
    used = {column for cells in found.cells.values() for column in cells}
    found.hidden_columns = [c + 1 for c, info in sheet.colinfo_map.items() if info.hidden and c + 1 in used]
    return found


def _text(book: Any, cell: Any) -> str:
    import xlrd

    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return cell_text(bool(cell.value))
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return str(xlrd.error_text_from_code.get(cell.value, "#ERROR"))
    if cell.ctype == xlrd.XL_CELL_DATE:
        moment = xlrd.xldate_as_datetime(cell.value, book.datemode)
        return cell_text(moment.time() if 0 < cell.value < 1 else moment)
    if cell.ctype == xlrd.XL_CELL_NUMBER:
        style = book.format_map.get(book.xf_list[cell.xf_index].format_key)
        return cell_text(float(cell.value), style.format_str if style else "")
    return cell_text(cell.value or None)
