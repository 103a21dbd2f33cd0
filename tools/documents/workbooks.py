"""Workbooks: .xlsx and .xlsm through openpyxl, formulas in a first reading and their values in a second; .xls
(Excel 97-2003) through xlrd, which gives a formula's value but not the formula.
"""

from __future__ import annotations

import io
import warnings
from typing import Any

from forethought.tools.documents.document import Document, Unreadable
from forethought.tools.documents.sheets import Sheet, cell_text, section


def read_xlsx(data: bytes) -> Document:
    """Every sheet, hidden ones included and named so. A formula's cell is 'value (=formula)'."""
    from openpyxl import load_workbook

    # About styles and extensions, which a text does not show.
    warnings.filterwarnings("ignore", module=r"openpyxl\b")
    book = load_workbook(io.BytesIO(data))
    formulas = any(cell.data_type == "f" for sheet in book.worksheets for cell in sheet._cells.values())
    values = load_workbook(io.BytesIO(data), data_only=True) if formulas else book
    total = len(book.worksheets)
    sheets = (
        section(_sheet(sheet, computed, number, total))
        for number, (sheet, computed) in enumerate(zip(book.worksheets, values.worksheets, strict=True), 1)
    )
    return Document(tuple(sheets), unit="sheet")


def _sheet(sheet: Any, computed: Any, number: int, total: int) -> Sheet:
    result = Sheet(sheet.title, number, total, hidden=sheet.sheet_state != "visible")
    # `_cells` holds the cells that exist; the public iterators lay out every cell up to the last corner.
    for (row, column), cell in sorted(sheet._cells.items()):
        if cell.comment is not None:
            result.comments.append((row, column, cell.comment.text or ""))
        if text := _text(cell, computed._cells.get((row, column))):
            result.cells.setdefault(row, {})[column] = text
    result.merged = sorted((a.min_row, a.min_col, a.max_row, a.max_col) for a in sheet.merged_cells.ranges)
    result.hidden_rows = [
        row for row, dimension in sheet.row_dimensions.items() if dimension.hidden and row in result.cells
    ]
    used = {column for cells in result.cells.values() for column in cells}
    for dimension in sheet.column_dimensions.values():
        if dimension.hidden:
            result.hidden_columns += [c for c in used if (dimension.min or 0) <= c <= (dimension.max or 0)]
    return result


def _text(cell: Any, computed: Any) -> str:
    if cell.data_type != "f":
        return cell_text(cell.value, cell.number_format)
    formula = str(getattr(cell.value, "text", cell.value) or "")
    formula = formula if formula.startswith("=") else f"={formula}"
    value = cell_text(computed.value, computed.number_format) if computed is not None else ""
    return f"{value} ({formula})" if value else f"({formula}, value not stored)"


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
    sheets = (section(_xls_sheet(book, sheet, number)) for number, sheet in enumerate(book.sheets(), 1))
    return Document(tuple(sheets), unit="sheet")


def _xls_sheet(book: Any, sheet: Any, number: int) -> Sheet:
    result = Sheet(sheet.name, number, book.nsheets, hidden=sheet.visibility != 0)
    for row in range(sheet.nrows):
        for column in range(sheet.row_len(row)):
            if text := _xls_text(book, sheet.cell(row, column)):
                result.cells.setdefault(row + 1, {})[column + 1] = text
    result.merged = sorted(
        (top + 1, left + 1, bottom, right) for top, bottom, left, right in sheet.merged_cells
    )
    result.comments = [
        (row + 1, column + 1, note.text) for (row, column), note in sorted(sheet.cell_note_map.items())
    ]
    result.hidden_rows = [
        row + 1 for row, info in sheet.rowinfo_map.items() if info.hidden and row + 1 in result.cells
    ]
    used = {column for cells in result.cells.values() for column in cells}
    result.hidden_columns = [c + 1 for c, info in sheet.colinfo_map.items() if info.hidden and c + 1 in used]
    return result


def _xls_text(book: Any, cell: Any) -> str:
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
