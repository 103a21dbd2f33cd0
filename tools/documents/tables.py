"""Tables as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from forethought.tools.documents.document import PART_HINT, Rows, Unreadable, split_header

if TYPE_CHECKING:
    from bs4 import Tag

LARGEST_TABLE = 5_000_000
"""Cells, empty ones too: a sheet may hold its first and last corner only, and would fill the memory."""
WIDEST_SPAN = 1000
"""HTML's own limit of a cell's column span."""

NUMBER = re.compile(
    r"(?:[A-Z]{3} ?)?[^\w(]{0,3}\(?[^\w(]{0,3}\d[\d.,' \u00a0\u202f]*[^\w]{0,4}(?:[A-Z]{3})?\Z"
)
"""A number as tables have it: 1,200.50, (12), 15%, EUR, a currency's sign before or after."""
SAME_CELL = "(same cell)"

Row = list[str]


def markdown_table(rows: Sequence[Row]) -> str:
    """Rows as a Markdown table whose first row is the header; shorter rows are filled up with empty cells."""
    width = max(map(len, rows), default=0)
    if not width:
        return ""
    check_size(len(rows), width)
    lines = [_line([*row, *[""] * (width - len(row))]) for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def check_size(height: int, width: int) -> None:
    """Raise Unreadable for a table of too many cells."""
    if width * height > LARGEST_TABLE:
        problem = f"has a table of {height} rows and {width} columns, which is too large"
        raise Unreadable(problem, cause="limit", hint=PART_HINT)


def markdown_rows(markdown: str) -> Iterator[Rows]:
    """The rows of each table in Markdown, the header first."""
    for block in markdown.split("\n\n"):
        if table := split_header(block.strip("\n")):
            header, rows = table
            yield [_cells(line) for line in (header.split("\n")[0], *rows)]


def _cells(line: str) -> Row:
    """A line of a table as its cells: the reverse of `_line`."""
    cells = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    return [cell.strip().replace("\\|", "|").replace("<br>", "\n") for cell in cells]


def titled_table(rows: Sequence[Row], lead: str = "", used: Sequence[int] | None = None) -> str:
    """Rows as a table, with title rows (one text, left of and above everything else) as lines before it.

    Args:
        rows: Rows of equal width; none is empty.
        lead: A line that says where the table is, put between the titles and the table.
        used: How many cells of each row hold a text, and one that is merged over several counts once; by
            default all that are not empty.
    """
    used = [sum(map(bool, row)) for row in rows] if used is None else used
    if max(used, default=0) <= 1:
        return "\n".join(next(filter(None, row), "") for row in rows)
    titles = next(i for i, number in enumerate(used) if number > 1)
    lines = [next(filter(None, row), "") for row in rows[:titles]]
    return "\n\n".join(piece for piece in (*lines, lead, markdown_table(rows[titles:])) if piece)


def html_rows(table: Tag) -> list[Row]:
    """The cells of an HTML table, texts that span several columns or rows repeated in each.

    A number is not, since it would count twice: its further cells say that they are the same cell. A header
    is repeated whatever it is: years often are.
    """
    grid: list[Row] = []
    below: dict[int, tuple[str, int]] = {}  # column -> text and rows still to fill
    for tr in table.find_all("tr"):
        row: Row = []
        for cell in tr.find_all(["td", "th"]):
            _fill_from_above(row, below)
            text, down = _cell_text(cell), _span(cell, "rowspan")
            again = SAME_CELL if cell.name == "td" and NUMBER.match(text) else text
            for at in range(_span(cell, "colspan")):
                if down > 1:
                    below[len(row)] = (again, down - 1)
                row.append(again if at else text)
        _fill_from_above(row, below)
        if any(row):
            grid.append(row)
    return grid


def _fill_from_above(row: Row, below: dict[int, tuple[str, int]]) -> None:
    while len(row) in below:
        text, left = below.pop(len(row))
        if left > 1:
            below[len(row)] = (text, left - 1)
        row.append(text)


def _span(cell: Tag, name: str) -> int:
    value = str(cell.get(name, "1")).strip()
    return (
        min(max(int(value), 1), WIDEST_SPAN) if value.isascii() and value.isdigit() and len(value) < 9 else 1
    )


def _cell_text(cell: Tag) -> str:
    for breaking in cell.find_all(["br", "p", "div", "li"]):
        breaking.insert_before("\n")
    lines = (" ".join(line.split()) for line in cell.get_text().split("\n"))
    return " ".join(filter(None, lines))


def _line(cells: Row) -> str:
    return "| " + " | ".join(_escape(cell) for cell in cells) + " |"


def _escape(cell: str) -> str:
    if "|" not in cell and cell.isprintable():  # one line: most cells are
        return cell.strip()
    return "<br>".join(line.strip() for line in cell.strip().splitlines()).replace("|", "\\|")
