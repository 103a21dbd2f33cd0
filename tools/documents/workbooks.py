"""Workbooks: .xlsx and .xlsm through openpyxl, formulas in a first reading and their values in a second; .xls
(Excel 97-2003) through xlrd, which gives a formula's value but not the formula, as a workbook of openpyxl.

A sheet becomes Markdown: its tables with their places, and what a plain grid would not show.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from forethought.text import number_ranges, one_line
from forethought.tools.documents.document import Content, Document, Rows, Section, Unreadable
from forethought.tools.documents.number_formats import formatted
from forethought.tools.documents.tables import Row, check_size, titled_table

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.worksheet.cell_range import CellRange
    from openpyxl.worksheet.worksheet import Worksheet

_LISTED = 40
_LARGEST_MERGE = 10_000
_LONGEST_NAME = 100
_NUMBER = re.compile(r"[-+]?(?:[^\w\s(]{1,2} ?|[A-Z]{1,3}[$€£]? ?)?[\d(]")


def section(sheet: Worksheet, computed: Worksheet, number: str) -> Section:
    """A sheet, whose formulas have their values in `computed`, as the section '## Sheet "name" number'.

    A merged text is repeated in its cells, a merged number is not.
    """
    cells: dict[int, dict[int, str]] = {}
    comments: list[str] = []
    # `_cells` holds the cells that exist; the public iterators lay out every cell up to the last corner.
    for (row, column), cell in sorted(sheet._cells.items()):
        if cell.comment is not None:
            comments.append(f"- {cell.coordinate}: {' '.join((cell.comment.text or '').split())}")
        if text := _text(cell, computed._cells.get((row, column))):
            struck = cell.has_style and cell.font.strike
            cells.setdefault(row, {})[column] = f"~~{text}~~" if struck else text
    remarks = list(_remarks(sheet, cells))
    repeated: set[tuple[int, int]] = set()
    for area in sheet.merged_cells.ranges:
        _spread(cells, area, repeated)
    pieces = [*remarks, *(_block(rows, cells, repeated) for rows in _blocks(cells))]
    if comments:
        pieces.append("\n".join(["Comments on cells:", *comments]))
    title = one_line(sheet.title, _LONGEST_NAME)
    text = "\n\n".join(filter(None, pieces)) or "(This sheet is empty.)"
    return Section(text, title, f'## Sheet "{title}" {number}')


def _text(cell: Any, computed: Any) -> str:
    if cell.data_type != "f":
        return cell_text(cell.value, cell.number_format)
    formula = str(getattr(cell.value, "text", cell.value) or "")
    formula = formula if formula.startswith("=") else f"={formula}"
    value = cell_text(computed.value, computed.number_format) if computed is not None else ""
    return f"{value} ({formula})" if value else f"({formula}, value not stored)"


def cell_text(value: Any, number_format: str = "") -> str:
    """A cell's value as typed: ISO dates, no trailing zeros or rounding noise, the unit of its format."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        total = round(value.total_seconds())
        seconds = abs(total)
        return f"{'-' * (total < 0)}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if isinstance(value, int | float):
        return formatted(value, number_format)
    return str(value).strip()


def rows(sheet: Worksheet, computed: Worksheet) -> Rows:
    """All cells of a sheet from A1 on: numbers and truth values as such, dates as in `section`, '' for an
    empty cell; a formula's value, or the formula where no value is stored."""
    filled = [(place, cell) for place, cell in sheet._cells.items() if cell.value is not None]
    height, width = (max((place[axis] for place, _ in filled), default=0) for axis in (0, 1))
    check_size(height, width)
    grid: Rows = [[""] * width for _ in range(height)]
    for (row, column), cell in filled:
        value = cell.value
        if cell.data_type == "f":
            stored = computed._cells.get((row, column))
            value = _text(cell, None) if stored is None or stored.value is None else stored.value
        grid[row - 1][column - 1] = value if isinstance(value, bool | int | float) else cell_text(value)
    return grid


def _spread(cells: dict[int, dict[int, str]], area: CellRange, repeated: set[tuple[int, int]]) -> None:
    """Repeat the text of a merged area in its empty cells, and add their places to `repeated`."""
    text = cells.get(area.min_row, {}).get(area.min_col, "")
    if not text or _NUMBER.match(text) or area.size["rows"] * area.size["columns"] > _LARGEST_MERGE:
        return
    for row, column in area.cells:
        if column not in cells.setdefault(row, {}):
            cells[row][column] = text
            repeated.add((row, column))


def _blocks(cells: dict[int, dict[int, str]]) -> Iterator[list[int]]:
    """The numbers of consecutive rows with something in them: an empty row ends a table."""
    block: list[int] = []
    for row in sorted(number for number, columns in cells.items() if columns):
        if block and row > block[-1] + 1:
            yield block
            block = []
        block.append(row)
    if block:
        yield block


def _block(rows: list[int], cells: dict[int, dict[int, str]], repeated: set[tuple[int, int]]) -> str:
    left = min(min(cells[row]) for row in rows)
    right = max(max(cells[row]) for row in rows)
    check_size(len(rows), right - left + 1)
    # A row by itself is a line of totals or fields rather than a table.
    used = [sum((row, column) not in repeated for column in cells[row]) for row in rows]
    if len(rows) == 1 and used[0] > 1:
        return "; ".join(
            f"{_name(rows[0], column)}: {text}" for column, text in sorted(cells[rows[0]].items())
        )
    grid: list[Row] = [[cells[row].get(column, "") for column in range(left, right + 1)] for row in rows]
    first = next((row for row, number in zip(rows, used, strict=True) if number > 1), rows[0])
    return titled_table(grid, lead=f"Cells {_name(first, left)}:{_name(rows[-1], right)}:", used=used)


def _remarks(sheet: Worksheet, cells: dict[int, dict[int, str]]) -> Iterator[str]:
    """What a grid would not show: merged cells, and hidden rows and columns with something in them."""
    if areas := sorted(sheet.merged_cells.ranges, key=lambda area: (area.min_row, area.min_col)):
        more = len(areas) - _LISTED
        names = ", ".join(area.coord for area in areas[:_LISTED])
        yield f"Merged cells: {names}{f' and {more} more' if more > 0 else ''}"
    hidden = [row for row, dimension in sheet.row_dimensions.items() if dimension.hidden and row in cells]
    if hidden:
        yield f"Hidden rows: {number_ranges(sorted(hidden))}"
    columns: set[int] = set()
    for dimension in sheet.column_dimensions.values():
        dimension.reindex()
        if dimension.hidden:
            columns.update(range(dimension.min, dimension.max + 1))
    if used := columns & {column for row in cells.values() for column in row}:
        yield f"Hidden columns: {', '.join(map(_letters, sorted(used)))}"


def _name(row: int, column: int) -> str:
    """A cell's name: (3, 28) is AB3."""
    return f"{_letters(column)}{row}"


def _letters(column: int) -> str:
    from openpyxl.utils import get_column_letter  # not above: who reads a text need not wait for it

    return str(get_column_letter(column))


def read_xlsx(data: bytes) -> Document:
    """Every sheet, hidden ones included and named so. A formula's cell is 'value (=formula)'."""
    return _document(*_xlsx(data))


def _xlsx(data: bytes) -> tuple[Workbook, Workbook]:
    """The workbook with its formulas, and with their values."""
    from openpyxl import load_workbook

    # About styles and extensions, which a text does not show.
    warnings.filterwarnings("ignore", module=r"openpyxl\b")
    book = load_workbook(io.BytesIO(data))
    formulas = any(cell.data_type == "f" for sheet in book.worksheets for cell in sheet._cells.values())
    return book, load_workbook(io.BytesIO(data), data_only=True) if formulas else book


def _document(book: Workbook, values: Workbook) -> Document:
    total = len(book.worksheets)
    sheets = (
        section(sheet, computed, f"({number} of {total}{', hidden' * (sheet.sheet_state != 'visible')})")
        for number, (sheet, computed) in enumerate(zip(book.worksheets, values.worksheets, strict=True), 1)
    )
    return Document(tuple(sheets), unit="sheet")


def read_xls(data: bytes) -> Document:
    """Every sheet, hidden ones included and named so."""
    return _document(*_xls(data))


def _xls(data: bytes) -> tuple[Workbook, Workbook]:
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
    return book, book


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


READERS: dict[str, Callable[[bytes], tuple[Workbook, Workbook]]] = {"xlsx": _xlsx, "xls": _xls}


def workbook_content(kind: str, data: bytes) -> Content:
    """The workbook's text, and the rows of each sheet by its name."""
    book, values = READERS[kind](data)
    tables = {
        sheet.title: rows(sheet, computed)
        for sheet, computed in zip(book.worksheets, values.worksheets, strict=True)
    }
    return Content(_document(book, values).text, tables)
