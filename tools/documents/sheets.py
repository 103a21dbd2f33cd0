"""A workbook's sheets as Markdown and as rows, whatever kind of file they come from.

A sheet becomes its tables with their places, and remarks on anything that a plain grid would not show.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from functools import cache
from typing import Any, NamedTuple

from forethought.text import number_ranges, one_line
from forethought.tools.documents.document import EMPTY_SHEET, Content, Document, Rows, Section
from forethought.tools.documents.number_formats import formatted
from forethought.tools.documents.tables import Row, check_size, titled_table

_LISTED = 40
_LARGEST_MERGE = 10_000
_LONGEST_NAME = 100
_NUMBER = re.compile(r"[-+]?(?:[^\w\s(]{1,2} ?|[A-Z]{1,3}[$€£]? ?)?[\d(]")


@dataclass(frozen=True)
class Style:
    """How a cell looks."""

    number_format: str = "General"
    struck: bool = False
    fill: str = ""
    """The colour behind the text, in words; '' for none."""
    color: str = ""
    """The text's colour."""
    is_date: bool = False
    is_duration: bool = False
    unseen: bool = False
    """Whether its format shows nothing, or white on white."""


PLAIN = Style()


class Cell(NamedTuple):
    """A cell that is not empty."""

    value: Any
    """Of a formula the value that is stored, or None."""
    formula: str = ""
    style: Style = PLAIN


class Area(NamedTuple):
    """Cells from one corner to the other, counted from 1."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass
class Sheet:
    """A sheet: its cells by row and column, counted from 1, and what belongs to them."""

    title: str
    state: str = "visible"
    cells: dict[int, dict[int, Cell]] = field(default_factory=dict)
    merged: list[Area] = field(default_factory=list)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    hidden_by: str = ""
    """What hides rows: a filter."""
    before: list[str] = field(default_factory=list)
    """Remarks on the sheet."""
    comments: list[str] = field(default_factory=list)
    """'C6: a text', of cells."""


def document(sheets: list[Sheet], note: str = "") -> Document:
    """Every sheet, hidden ones included and named so. A formula's cell is 'value (=formula)'."""
    sections = (
        section(sheet, f"({number} of {len(sheets)}{', hidden' * (sheet.state != 'visible')})")
        for number, sheet in enumerate(sheets, 1)
    )
    return Document(tuple(sections), unit="sheet", note=note)


def content(sheets: list[Sheet]) -> Content:
    """The workbook's text, and the rows of each sheet by its name."""
    return Content(document(sheets).text, {sheet.title: rows(sheet) for sheet in sheets})


def section(sheet: Sheet, number: str) -> Section:
    """A sheet as the section '## Sheet "name" number'. A merged text is repeated, a merged number is not."""
    texts = {
        row: {at: text for at, cell in cells.items() if (text := _text(cell))}
        for row, cells in sheet.cells.items()
    }
    remarks = list(_remarks(sheet, texts))
    repeated: set[tuple[int, int]] = set()
    for area in sheet.merged:
        _spread(texts, area, repeated)
    for row in sheet.hidden_rows & texts.keys():
        if texts[row]:
            first = min(texts[row])
            texts[row][first] = f"[hidden row] {texts[row][first]}"
    blocks = (_block(sheet, block, texts, repeated) for block in _blocks(texts))
    comments = "\n".join(["Comments on cells:", *(f"- {each}" for each in sheet.comments)])
    title = one_line(sheet.title, _LONGEST_NAME)
    pieces = [*remarks, *sheet.before, *blocks, comments if sheet.comments else ""]
    text = "\n\n".join(filter(None, pieces)) or EMPTY_SHEET
    return Section(text, title, f'## Sheet "{title}" {number}')


def _text(cell: Cell) -> str:
    text = cell_text(cell.value, cell.style.number_format)
    if text and (cell.style.struck or cell.style.unseen):
        text = f"[{'struck' if cell.style.struck else 'hidden by its format'}: {text}]"
    if cell.formula:
        return f"{text} ({cell.formula})" if text else f"({cell.formula}, value not stored)"
    return text


def cell_text(value: Any, number_format: str = "General") -> str:
    """A cell's value as typed: ISO dates, no trailing zeros or rounding noise, the unit of its format."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
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
        plain = format(value, ".15g") if isinstance(value, float) else str(value)
        simple = (
            number_format == "General" and plain.strip("-").replace(".", "", 1).isdigit() and len(plain) < 20
        )
        return plain if simple else formatted(value, number_format)
    return str(value).strip()


def rows(sheet: Sheet) -> Rows:
    """All cells of a sheet from A1 on: numbers and truth values as such, dates as in `section`, '' for an
    empty cell; a formula's value, or the formula if no value is stored; a struck number as a text."""
    height = max(sheet.cells, default=0)
    width = max((max(columns) for columns in sheet.cells.values() if columns), default=0)
    check_size(height, width)
    grid: Rows = [[""] * width for _ in range(height)]
    for row, columns in sheet.cells.items():
        line = grid[row - 1]
        for column, cell in columns.items():
            value = cell.value
            if cell.style.struck or cell.style.unseen or (value is None and cell.formula):
                line[column - 1] = _text(cell)
            else:
                line[column - 1] = value if isinstance(value, bool | int | float) else cell_text(value)
    return grid


def _spread(texts: dict[int, dict[int, str]], area: Area, repeated: set[tuple[int, int]]) -> None:
    """Repeat the text of a merged area in its empty cells, and add their places to `repeated`."""
    text = texts.get(area.top, {}).get(area.left, "")
    size = (area.bottom - area.top + 1) * (area.right - area.left + 1)
    if not text or _NUMBER.match(text) or size > _LARGEST_MERGE:
        return
    for row in range(area.top, area.bottom + 1):
        for column in range(area.left, area.right + 1):
            if column not in texts.setdefault(row, {}):
                texts[row][column] = text
                repeated.add((row, column))


def _blocks(texts: dict[int, dict[int, str]]) -> Iterator[list[int]]:
    """The numbers of consecutive rows with something in them: an empty row ends a table."""
    block: list[int] = []
    for row in sorted(number for number, columns in texts.items() if columns):
        if block and row > block[-1] + 1:
            yield block
            block = []
        block.append(row)
    if block:
        yield block


def _block(
    sheet: Sheet, block: list[int], texts: dict[int, dict[int, str]], repeated: set[tuple[int, int]]
) -> str:
    left = min(min(texts[row]) for row in block)
    right = max(max(texts[row]) for row in block)
    check_size(len(block), right - left + 1)
    # A row by itself is a line of totals or fields rather than a table.
    used = [
        sum((row, column) not in repeated for column in texts[row]) if repeated else len(texts[row])
        for row in block
    ]
    if len(block) == 1 and used[0] > 1:
        fields = sorted(texts[block[0]].items())
        return "; ".join(f"{cell_name(block[0], column)}: {text}" for column, text in fields)
    first = next((row for row, number in zip(block, used, strict=True) if number > 1), block[0])
    for row in block if sheet.hidden_columns else ():
        for column in sheet.hidden_columns & texts[row].keys():
            texts[row][column] = f"[hidden{' column' * (row == first)}] {texts[row][column]}"
    grid: list[Row] = [[texts[row].get(column, "") for column in range(left, right + 1)] for row in block]
    lead = f"Cells {cell_name(first, left)}:{cell_name(block[-1], right)}:"
    return titled_table(grid, lead=lead, used=used)


def _remarks(sheet: Sheet, texts: dict[int, dict[int, str]]) -> Iterator[str]:
    """Remarks that a grid would not show: merged cells, hidden rows and columns, colours."""
    if areas := sorted(sheet.merged):
        yield f"Merged cells: {listed(map(area_name, areas))}"
    if hidden := sorted(row for row in sheet.hidden_rows if texts.get(row)):
        yield f"Hidden rows{sheet.hidden_by and f' ({sheet.hidden_by})'}: {number_ranges(hidden)}"
    if used := sheet.hidden_columns & {column for row in texts.values() for column in row}:
        yield f"Hidden columns: {', '.join(map(letters, sorted(used)))}"
    if colors := list(_colors(sheet)):
        yield "\n".join(["Colours:", *colors])


def _colors(sheet: Sheet) -> Iterator[str]:
    """The cells of each colour, but for colours that cover whole rows or most of the sheet."""
    places: dict[str, list[tuple[int, int]]] = {}
    for row, columns in sheet.cells.items():
        for column, cell in columns.items():
            for color, what in ((cell.style.fill, "filled"), (cell.style.color, "text in")):
                if color:
                    places.setdefault(f"{what} {color}", []).append((row, column))
    total = sum(map(len, sheet.cells.values()))
    for what, cells in places.items():
        heads = min(sheet.cells) if sheet.cells else 0
        telling = [place for place in cells if place[0] != heads]
        if telling and len(telling) * 2 <= total:
            yield f"- {what}: {listed(_ranges(telling))}"


def _ranges(places: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Names of cells, those below each other as one range."""
    begun: list[tuple[int, int]] = []
    for row, column in sorted(places, key=lambda place: place[::-1]):
        if begun and (row, column) != (begun[-1][0] + 1, begun[-1][1]):
            yield area_name(Area(*begun[0], *begun[-1]))
            begun = []
        begun.append((row, column))
    if begun:
        yield area_name(Area(*begun[0], *begun[-1]))


def listed(names: Iterable[str]) -> str:
    """The first names, and how many more there are."""
    every = list(names)
    more = len(every) - _LISTED
    return f"{', '.join(every[:_LISTED])}{f' and {more} more' if more > 0 else ''}"


def area_name(area: Area) -> str:
    """A range's name, such as A1:B2, or a cell's."""
    first, last = cell_name(area.top, area.left), cell_name(area.bottom, area.right)
    return first if first == last else f"{first}:{last}"


def cell_name(row: int, column: int) -> str:
    """A cell's name: (3, 28) is AB3."""
    return f"{letters(column)}{row}"


@cache
def letters(column: int) -> str:
    """A column's name."""
    before, last = divmod(column - 1, 26)
    return (letters(before) if before else "") + chr(ord("A") + last)


@cache
def column_number(name: str) -> int:
    """A column's number: AB is 28."""
    number = 0
    for letter in name:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
