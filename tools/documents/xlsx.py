"""Excel workbooks (.xlsx, .xlsm) through openpyxl: formulas in a first reading, their values in a second."""

from __future__ import annotations

import io
import warnings
from typing import Any

from forethought.tools.documents.document import Document
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
    found = Sheet(sheet.title, number, total, hidden=sheet.sheet_state != "visible")
    # `_cells` holds the cells that exist; the public iterators lay out every cell up to the last corner.
    for (row, column), cell in sorted(sheet._cells.items()):
        if cell.comment is not None:
            found.comments.append((row, column, cell.comment.text or ""))
        if text := _text(cell, computed._cells.get((row, column))):
            found.cells.setdefault(row, {})[column] = text
    found.merged = sorted((a.min_row, a.min_col, a.max_row, a.max_col) for a in sheet.merged_cells.ranges)
    found.hidden_rows = [
        row for row, dimension in sheet.row_dimensions.items() if dimension.hidden and row in found.cells
    ]
    used = {column for cells in found.cells.values() for column in cells}
    for dimension in sheet.column_dimensions.values():
        if dimension.hidden:
            found.hidden_columns += [c for c in used if (dimension.min or 0) <= c <= (dimension.max or 0)]
    return found


def _text(cell: Any, computed: Any) -> str:
    if cell.data_type != "f":
        return cell_text(cell.value, cell.number_format)
    formula = str(getattr(cell.value, "text", cell.value) or "")
    formula = formula if formula.startswith("=") else f"={formula}"
    value = cell_text(computed.value, computed.number_format) if computed is not None else ""
    return f"{value} ({formula})" if value else f"({formula}, value not stored)"
