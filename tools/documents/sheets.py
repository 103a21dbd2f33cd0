"""A sheet of a workbook as Markdown: its tables with their places, and what a plain grid would not show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any

from forethought.text import one_line
from forethought.tools.documents.document import Section, ranges
from forethought.tools.documents.number_formats import formatted
from forethought.tools.documents.tables import LARGEST_TABLE, Row, markdown_table, titled_table

_LISTED = 40
_LARGEST_MERGE = 10_000
_LONGEST_NAME = 100
_NUMBER = re.compile(r"[-+]?(?:[^\w\s(]{1,2} ?|[A-Z]{1,3}[$€£]? ?)?[\d(]")


@dataclass
class Sheet:
    """What a reader of workbooks found in one sheet; rows and columns count from 1."""

    name: str
    number: int
    of: int
    hidden: bool = False
    cells: dict[int, dict[int, str]] = field(default_factory=dict)
    """Row -> column -> text; empty cells are left out."""
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    """First row, first column, last row, last column."""
    comments: list[tuple[int, int, str]] = field(default_factory=list)
    hidden_rows: list[int] = field(default_factory=list)
    hidden_columns: list[int] = field(default_factory=list)


def section(sheet: Sheet) -> Section:
    """The sheet as a section; a merged text is repeated in its cells, a merged number is not."""
    repeated: set[tuple[int, int]] = set()
    for area in sheet.merged:
        _spread(sheet.cells, area, repeated)
    pieces = [*_remarks(sheet), *(_block(rows, sheet.cells, repeated) for rows in _blocks(sheet.cells))]
    if sheet.comments:
        notes = (f"- {name(row, column)}: {' '.join(text.split())}" for row, column, text in sheet.comments)
        pieces.append("\n".join(["Comments on cells:", *notes]))
    title = one_line(sheet.name, _LONGEST_NAME)
    heading = f'## Sheet "{title}" ({sheet.number} of {sheet.of}{", hidden" if sheet.hidden else ""})'
    return Section("\n\n".join(filter(None, pieces)) or "(This sheet is empty.)", title, heading)


def name(row: int, column: int) -> str:
    """A cell's name: (3, 28) is AB3."""
    return f"{letters(column)}{row}"


def letters(column: int) -> str:
    text = ""
    while column:
        column, digit = divmod(column - 1, 26)
        text = chr(65 + digit) + text
    return text


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


def _spread(
    cells: dict[int, dict[int, str]], area: tuple[int, int, int, int], repeated: set[tuple[int, int]]
) -> None:
    """Repeat the text of a merged area in its empty cells, and add their places to `repeated`."""
    top, left, bottom, right = area
    text = cells.get(top, {}).get(left, "")
    if not text or _NUMBER.match(text) or (bottom - top + 1) * (right - left + 1) > _LARGEST_MERGE:
        return
    for row in range(top, bottom + 1):
        for column in range(left, right + 1):
            if column not in cells.setdefault(row, {}):
                cells[row][column] = text
                repeated.add((row, column))


def _blocks(cells: dict[int, dict[int, str]]) -> Iterator[list[int]]:
    """The numbers of consecutive rows with something in them: an empty row ends a table."""
    block: list[int] = []
    for row in sorted(number for number, found in cells.items() if found):
        if block and row > block[-1] + 1:
            yield block
            block = []
        block.append(row)
    if block:
        yield block


def _block(rows: list[int], cells: dict[int, dict[int, str]], repeated: set[tuple[int, int]]) -> str:
    left = min(min(cells[row]) for row in rows)
    right = max(max(cells[row]) for row in rows)
    if len(rows) * (right - left + 1) > LARGEST_TABLE:
        markdown_table([[""] * (right - left + 1)] * len(rows))  # says that it is too large
    # A row by itself is a line of totals or fields rather than a table.
    used = [sum((row, column) not in repeated for column in cells[row]) for row in rows]
    if len(rows) == 1 and used[0] > 1:
        return "; ".join(
            f"{name(rows[0], column)}: {text}" for column, text in sorted(cells[rows[0]].items())
        )
    grid: list[Row] = [[cells[row].get(column, "") for column in range(left, right + 1)] for row in rows]
    first = next((row for row, number in zip(rows, used, strict=True) if number > 1), rows[0])
    return titled_table(grid, lead=f"Cells {name(first, left)}:{name(rows[-1], right)}:", used=used)


def _remarks(sheet: Sheet) -> Iterator[str]:
    if sheet.merged:
        names = [f"{name(t, left)}:{name(b, right)}" for t, left, b, right in sheet.merged]
        yield f"Merged cells: {_short(names)}"
    if sheet.hidden_rows:
        yield f"Hidden rows: {ranges(sorted(sheet.hidden_rows))}"
    if sheet.hidden_columns:
        yield f"Hidden columns: {', '.join(letters(column) for column in sorted(sheet.hidden_columns))}"


def _short(names: list[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")
