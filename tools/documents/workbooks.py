"""Workbooks: .xlsx and .xlsm (`xlsx`), .xls (Excel 97-2003), .xlsb and .ods.

xlrd reads .xls. It gives the value of a formula, but not the formula. calamine reads .xlsb and .ods. It gives
values only.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from forethought.tools.documents import sheets
from forethought.tools.documents.data_files import read_parquet_sheets, read_sqlite_sheets
from forethought.tools.documents.document import Content, Document, Unreadable
from forethought.tools.documents.sheets import Area, Cell, Sheet, Style, cell_name
from forethought.tools.documents.xlsx import fill_with_values, read_sheets


def _xls(data: bytes) -> list[Sheet]:
    import xlrd  # type: ignore[import-untyped]

    try:
        old = xlrd.open_workbook(file_contents=data, formatting_info=True, logfile=io.StringIO())
    except xlrd.XLRDError as error:
        if "encrypted" in str(error).lower():
            raise Unreadable(
                "is protected with a password and cannot be opened",
                hint="Ask the user for a copy without the password.",
            ) from error
        raise
    return [_old_sheet(old, sheet) for sheet in old.sheets()]


def _old_sheet(old: Any, source: Any) -> Sheet:
    """A sheet of xlrd, whose rows and columns count from 0."""
    sheet = Sheet(source.name, "hidden" if source.visibility else "visible")
    styles = [_old_style(old, each) for each in old.xf_list]
    for row in range(source.nrows):
        columns = {
            column: Cell(value, style=styles[cell.xf_index])
            for column, cell in enumerate(source.row(row), 1)
            if (value := _value(old, cell)) not in (None, "")
        }
        if columns:
            sheet.cells[row + 1] = columns
    sheet.merged = [
        Area(top + 1, left + 1, bottom, right) for top, bottom, left, right in source.merged_cells
    ]
    for (row, column), note in sorted(source.cell_note_map.items()):
        sheet.comments.append(f"{cell_name(row + 1, column + 1)}: {' '.join(note.text.split())}")
    sheet.hidden_rows = {row + 1 for row, info in source.rowinfo_map.items() if info.hidden}
    sheet.hidden_columns = {column + 1 for column, info in source.colinfo_map.items() if info.hidden}
    return sheet


def _old_style(old: Any, look: Any) -> Style:
    style = old.format_map.get(look.format_key)
    return Style(style.format_str if style else "General", bool(old.font_list[look.font_index].struck_out))


def _value(old: Any, cell: Any) -> Any:
    import xlrd

    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return bool(cell.value)
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return xlrd.error_text_from_code.get(cell.value, "#ERROR")
    if cell.ctype == xlrd.XL_CELL_DATE:
        moment = xlrd.xldate_as_datetime(cell.value, old.datemode)
        return moment.time() if 0 < cell.value < 1 else moment
    return cell.value


def _values(data: bytes) -> list[Sheet]:
    from python_calamine import CalamineWorkbook, SheetVisibleEnum

    about = CalamineWorkbook.from_filelike(io.BytesIO(data)).sheets_metadata
    states = ["visible" if each.visible == SheetVisibleEnum.Visible else "hidden" for each in about]
    sheets = [Sheet(each.name, state) for each, state in zip(about, states, strict=True)]
    for number, sheet in enumerate(sheets):
        sheet.before.append(
            "Only values are shown of this sheet, not formulas, colours or which rows are hidden."
        )
        fill_with_values(sheet, data, number)
    return sheets


READERS: dict[str, Callable[[bytes], list[Sheet]]] = {
    "xlsx": read_sheets, "xls": _xls, "xlsb": _values, "ods": _values,
    "sqlite": read_sqlite_sheets, "parquet": read_parquet_sheets,
}  # fmt: skip


def read_workbook(kind: str, data: bytes) -> Document:
    """Every sheet of a workbook of this kind, hidden ones included and named so."""
    return sheets.document(READERS[kind](data))


def workbook_content(kind: str, data: bytes) -> Content:
    """The workbook's text, and the rows of each sheet by its name."""
    return sheets.content(READERS[kind](data))
