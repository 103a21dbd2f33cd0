"""Workbooks: .xlsx and .xlsm through openpyxl, formulas in a first reading and their values in a second; .xls
(Excel 97-2003) through xlrd, which gives a formula's value but not the formula, as a workbook of openpyxl.
"""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any

from forethought.tools.documents.document import Document, Unreadable
from forethought.tools.documents.sheets import section

if TYPE_CHECKING:
    from openpyxl import Workbook


def read_xlsx(data: bytes) -> Document:
    """Every sheet, hidden ones included and named so. A formula's cell is 'value (=formula)'."""
    from openpyxl import load_workbook

    # About styles and extensions, which a text does not show.
    warnings.filterwarnings("ignore", module=r"openpyxl\b")
    book = load_workbook(io.BytesIO(data))
    formulas = any(cell.data_type == "f" for sheet in book.worksheets for cell in sheet._cells.values())
    return _document(book, load_workbook(io.BytesIO(data), data_only=True) if formulas else book)


def _document(book: Workbook, values: Workbook) -> Document:
    total = len(book.worksheets)
    sheets = (
        section(sheet, computed, f"({number} of {total}{', hidden' * (sheet.sheet_state != 'visible')})")
        for number, (sheet, computed) in enumerate(zip(book.worksheets, values.worksheets, strict=True), 1)
    )
    return Document(tuple(sheets), unit="sheet")


def read_xls(data: bytes) -> Document:
    """Every sheet, hidden ones included and named so."""
    import xlrd  # type: ignore[import-untyped]
    from openpyxl import Workbook

    try:
        old = xlrd.open_workbook(file_contents=data, formatting_info=True, logfile=io.StringIO())
    except xlrd.XLRDError as error:
        if "encrypted" in str(error).lower():
            raise Unreadable(
                "is protected with a password and cannot be opened",
                hint="Ask the user for a copy without the password.",
            ) from error
        raise
    book = Workbook()
    book.remove(book.worksheets[0])
    for sheet in old.sheets():
        _copy(old, sheet, book.create_sheet(sheet.name))
    return _document(book, book)


def _copy(old: Any, sheet: Any, copy: Any) -> None:
    """What is in a sheet of xlrd into one of openpyxl, whose rows and columns count from 1."""
    from openpyxl.comments import Comment
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.cell_range import CellRange
    from xlrd import XL_CELL_TEXT as TEXT

    copy.sheet_state = "hidden" if sheet.visibility else "visible"
    for row in range(sheet.nrows):
        for column, source in enumerate(sheet.row(row), 1):
            cell = copy.cell(row + 1, column, _value(old, source))
            if source.ctype == TEXT:
                cell.data_type = "s"  # also where it begins with '=', as no formula does here
            style = old.format_map.get(old.xf_list[source.xf_index].format_key)
            cell.number_format = style.format_str if style else "General"
    for top, bottom, left, right in sheet.merged_cells:
        copy.merged_cells.add(CellRange(None, left + 1, top + 1, right, bottom))
    for (row, column), note in sheet.cell_note_map.items():
        copy.cell(row + 1, column + 1).comment = Comment(note.text, "")
    for row, info in sheet.rowinfo_map.items():
        copy.row_dimensions[row + 1].hidden = bool(info.hidden)
    for column, info in sheet.colinfo_map.items():
        copy.column_dimensions[get_column_letter(column + 1)].hidden = bool(info.hidden)


def _value(old: Any, cell: Any) -> Any:
    import xlrd
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return bool(cell.value)
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return xlrd.error_text_from_code.get(cell.value, "#ERROR")
    if cell.ctype == xlrd.XL_CELL_DATE:
        moment = xlrd.xldate_as_datetime(cell.value, old.datemode)
        return moment.time() if 0 < cell.value < 1 else moment
    return ILLEGAL_CHARACTERS_RE.sub("", cell.value) if isinstance(cell.value, str) else cell.value
