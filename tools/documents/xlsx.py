"""Workbooks of today's Excel (.xlsx, .xlsm).

The cells are read from the sheets' XML in one pass, formulas with the values that are stored. openpyxl, which
would take 20 times as long for them, reads the rest: styles, merged areas, comments, rules, names.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from forethought.tools.documents.archive import properties
from forethought.tools.documents.sheets import (
    PLAIN,
    Area,
    Cell,
    Sheet,
    Style,
    cell_name,
    cell_text,
    column_number,
)
from forethought.tools.documents.xlsx_colors import named_color

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.formula.translate import Translator

_CELLS = re.compile(rb"(<(?:\w+:)?sheetData\b[^>]*>).*(</(?:\w+:)?sheetData>)", re.DOTALL)

_SUM = re.compile(r"=SUM\(([A-Z]{1,2})(\d{1,5}):([A-Z]{1,2})(\d{1,5})\)")
_MOST_SUMS = 1000
_CLOSE = 1e-6
_LARGEST = 16_000_000
"""Bytes of a sheet that is read cell by cell."""
_MOST_CELLS = 100_000
"""Cells of a sheet that get a `Cell` each."""
_HIDDEN_ROW = re.compile(rb'<(?:\w+:)?row [^>]*hidden="(?:1|true)"')
_ROW_NUMBER = re.compile(rb' r="(\d+)"')
_FORMULA = re.compile(rb"<(?:\w+:)?f[ >]")


class _Skeleton(ZipFile):
    """A workbook's archive without the cells of its sheets, their shared texts, and pictures."""

    def open(self, name: Any, *args: Any, **options: Any) -> Any:
        path = getattr(name, "filename", name)
        if "/media/" in path:
            raise OSError("pictures are not read here")
        if path.lower().endswith("sharedstrings.xml"):
            return io.BytesIO(b"<sst/>")
        file = super().open(name, *args, **options)
        return io.BytesIO(_CELLS.sub(rb"\1\2", file.read())) if "/worksheets/" in path else file


def read_sheets(data: bytes) -> list[Sheet]:
    """The sheets of a workbook."""
    from openpyxl.reader.excel import ExcelReader

    from forethought.tools.documents.xlsx_remarks import add_remarks

    # About styles and extensions, which a text does not show.
    warnings.filterwarnings("ignore", module=r"openpyxl\b")
    reader = ExcelReader(io.BytesIO(data))
    archive = reader.archive
    reader.archive = _Skeleton(io.BytesIO(data))
    reader.read()
    parts = {sheet.name: relation.target for sheet, relation in reader.parser.find_sheets()}
    strings = list(_strings(archive))
    styles = _Styles(reader.wb)
    sheets = []
    for worksheet in reader.wb.worksheets:
        sheet = Sheet(worksheet.title, worksheet.sheet_state)
        if archive.getinfo(parts[worksheet.title]).file_size > _LARGEST:
            _fill_large(
                sheet, data, archive.read(parts[worksheet.title]), reader.wb.sheetnames.index(sheet.title)
            )
        else:
            _fill(sheet, archive, parts[worksheet.title], strings, styles)
        sheet.merged = [
            Area(a.min_row, a.min_col, a.max_row, a.max_col) for a in worksheet.merged_cells.ranges
        ]
        for dimension in worksheet.column_dimensions.values():
            dimension.reindex()
            if dimension.hidden:
                sheet.hidden_columns.update(range(dimension.min, dimension.max + 1))
        _mark_old_sums(sheet)
        add_remarks(sheet, worksheet, archive, parts[worksheet.title])
        sheets.append(sheet)
    if sheets and (about := properties(archive, "")):
        sheets[0].before.append(about)
    return sheets


def _mark_old_sums(sheet: Sheet) -> None:
    """Mark the stored values of sums that a program did not compute again after it changed the cells."""
    sums = [
        (cells, column, cell, area)
        for cells in sheet.cells.values()
        for column, cell in cells.items()
        if (area := _SUM.fullmatch(cell.formula)) and type(cell.value) in (int, float)
    ]
    for cells, column, cell, area in sums[:_MOST_SUMS]:
        rows = (sheet.cells.get(row, {}) for row in range(int(area[2]), int(area[4]) + 1))
        columns = range(column_number(area[1]), column_number(area[3]) + 1)
        values = [row[at].value for row in rows for at in columns if at in row]
        total = math.fsum(value for value in values if type(value) in (int, float))
        known = all(isinstance(value, int | float | str) for value in values)
        if known and abs(total - cell.value) > _CLOSE * max(1, abs(total)):
            shown = cell_text(total, cell.style.number_format)
            cells[column] = cell._replace(value=f"{cell.value:.15g} [OUT OF DATE: the sum is {shown}]")


def _fill_large(sheet: Sheet, data: bytes, part: bytes, number: int) -> None:
    """Read the values of a large sheet. Its XML tells which rows are hidden, and how many formulas it has."""
    for row in _HIDDEN_ROW.findall(part):
        if at := _ROW_NUMBER.search(row):
            sheet.hidden_rows.add(int(at[1]))
    formulas = f"its {count:,} formulas, " if (count := len(_FORMULA.findall(part))) else ""
    sheet.before.append(f"This sheet is large: its values are shown, not {formulas}units or colours.")
    fill_with_values(sheet, data, number)


def fill_with_values(sheet: Sheet, data: bytes, number: int) -> None:
    """Read the values of a sheet through calamine, which is quick.

    Args:
        sheet: The sheet to fill.
        data: The workbook.
        number: The sheet's place in the workbook, from 0.
    """
    from python_calamine import CalamineWorkbook

    with suppress(OSError):  # a sheet that is a chart
        source = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_index(number)
        if source.total_height * source.total_width > _MOST_CELLS:
            sheet.values = source.to_python(skip_empty_area=False)
            return
        for row, values in enumerate(source.to_python(skip_empty_area=False), 1):
            if columns := {at: Cell(value) for at, value in enumerate(values, 1) if value != ""}:
                sheet.cells[row] = columns


class _Styles:
    """The styles of a workbook by their number."""

    def __init__(self, book: Workbook) -> None:
        self._book: Any = book
        self._known: dict[int, Style] = {0: PLAIN}
        self.epoch: datetime = book.epoch

    def __getitem__(self, number: int) -> Style:
        if number not in self._known:
            self._known[number] = self._style(number)
        return self._known[number]

    def _style(self, number: int) -> Style:
        from openpyxl.styles.numbers import BUILTIN_FORMATS, BUILTIN_FORMATS_MAX_SIZE

        book = self._book
        if number >= len(book._cell_styles):
            return PLAIN
        style = book._cell_styles[number]
        own = style.numFmtId - BUILTIN_FORMATS_MAX_SIZE
        form = book._number_formats[own] if own >= 0 else BUILTIN_FORMATS.get(style.numFmtId, "General")
        font, fill = book._fonts[style.fontId], book._fills[style.fillId]
        filled = getattr(fill, "fill_type", None) == "solid"
        white = font.color is not None and str(font.color.value)[-6:] in ("0", "FFFFFF")
        return Style(
            form,
            bool(font.strike),
            named_color(fill.fgColor, book) if filled else "",
            named_color(font.color, book),
            number in book._date_formats,
            number in book._timedelta_formats,
            form == ";;;" or (white and not filled),
        )


def _strings(archive: ZipFile) -> Iterator[str]:
    """The shared texts."""
    from lxml import etree  # type: ignore[import-untyped]

    path = next((name for name in archive.namelist() if name.lower().endswith("sharedstrings.xml")), None)
    if path:
        with archive.open(path) as file:
            for _, element in etree.iterparse(file, tag="{*}si", resolve_entities=False, no_network=True):
                yield _runs(element)
                _forget(element)


def _forget(element: Any) -> None:
    """Free the memory of an element that was read, and of those before it."""
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]


def _runs(element: Any) -> str:
    """A text, with marks on the parts that are struck out or raised."""
    pieces = []
    for child in element:
        kind = child.tag.rpartition("}")[2]
        if kind == "t":
            pieces.append(child.text or "")
        elif kind == "r":
            text = "".join(each.text or "" for each in child.iterfind("{*}t"))
            raised = child.find("{*}rPr/{*}vertAlign[@val='superscript']") is not None
            struck = child.find("{*}rPr/{*}strike")
            if struck is not None and struck.get("val", "1") not in ("0", "false") and text.strip():
                text = f"[struck: {text.strip()}] "
            pieces.append(f"^{text}" if raised else text)
    return "".join(pieces)


def _fill(sheet: Sheet, archive: ZipFile, part: str, strings: list[str], styles: _Styles) -> None:
    """Read the cells of a sheet, and which rows are hidden."""
    from lxml import etree

    shared: dict[str, Translator] = {}
    number = 0
    with archive.open(part) as file:
        for _, row in etree.iterparse(file, tag="{*}row", resolve_entities=False, no_network=True):
            number = int(row.get("r") or number + 1)
            if row.get("hidden") in ("1", "true"):
                sheet.hidden_rows.add(number)
            columns: dict[int, Cell] = {}
            column = 0
            for element in row:
                name = element.get("r")
                column = column_number(name.rstrip("0123456789")) if name else column + 1
                kind, value, formula = element.get("t", "n"), None, ""
                style = styles[int(element.get("s") or 0)]
                for child in element:
                    tag = child.tag[-2:]
                    if tag == "}v":
                        value = _value(child.text, kind, strings, style, styles.epoch)
                    elif tag == "}f":
                        formula = _formula(child, shared, name or cell_name(number, column))
                    elif tag == "is":
                        value = _runs(child)
                if formula or value not in (None, ""):
                    columns[column] = Cell(value, formula, style)
            if columns:
                sheet.cells[number] = columns
            _forget(row)


def _value(text: str | None, kind: str, strings: list[str], style: Style, epoch: datetime) -> Any:
    from openpyxl.utils.datetime import from_excel, from_ISO8601

    if not text:
        return None
    if kind == "s":
        return strings[int(text)]
    if kind == "b":
        return text not in ("0", "false")
    if kind == "d":
        return from_ISO8601(text)
    if kind != "n":
        return text
    number = float(text) if "." in text or "E" in text or "e" in text else int(text)
    if style.is_date:
        try:
            return from_excel(number, epoch, timedelta=style.is_duration)
        except (OverflowError, ValueError):  # no date, such as a negative one
            return number
    return number


def _formula(element: Any, shared: dict[str, Translator], place: str) -> str:
    """A cell's formula; one that is written once for many cells is moved to this one."""
    from openpyxl.formula.translate import Translator

    text, number = element.text or "", element.get("si")
    if text and element.get("t") == "shared":
        shared[number] = Translator(f"={text}", place)
    elif number in shared:
        return str(shared[number].translate_formula(place))
    return f"={text}" if text else ""
