"""A long document's outline: its headings, tables, pages and slides, each with the part that holds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forethought.sizes import extent
from forethought.text import number_ranges, one_line
from forethought.tools.documents.document import Part, split_header

_CONTINUED = " (continued)"
_LONGEST = 100
"""Characters of a line's heading or of its columns."""


@dataclass
class _Entry:
    """A line: a heading, or the first words of a page; and the table under it."""

    first: int
    last: int
    title: str = ""
    header: str = ""
    rows: int = 0
    open: bool = False
    """Whether the heading is a page's or slide's, and the next words tell its subject."""

    def line(self) -> str:
        table = ""
        if self.header:
            columns = one_line(self.header.partition("\n")[0].strip(" |"), _LONGEST)
            table = f"table of {self.rows} rows: {columns}"
        about = "; ".join(filter(None, (one_line(self.title, _LONGEST), table)))
        return f"- part {number_ranges(range(self.first, self.last + 1))}: {about}"


def outline(parts: Sequence[Part], limit: int, unit: str = "") -> str:
    """A line a heading, table, page or slide, in at most `limit` bytes; '' if not one line fits.

    Args:
        parts: What `split` made of the document.
        limit: Bytes.
        unit: The kind of the document's sections.
    """
    entries: list[_Entry] = []
    for number, part in enumerate(parts, 1):
        before = len(entries)
        for block in part.text.split("\n\n"):
            _enter(block.strip(), number, entries, number > 1 and len(entries) == before, unit)
        if len(entries) == before and (not entries or entries[-1].last < number):
            entries.append(_Entry(number, number, part.text.strip().partition("\n")[0]))
    lines = [entry.line() for entry in entries]
    room, kept = limit - 40, 0
    while kept < len(lines) and extent(lines[kept]) < room:
        room -= extent(lines[kept]) + 1
        kept += 1
    if kept < len(lines):
        lines[kept:] = [f"- and {len(lines) - kept} more headings or tables"]
    return "\n".join(lines) if kept else ""


def _enter(block: str, number: int, entries: list[_Entry], begins: bool, unit: str) -> None:
    """Take a block of part `number` into the outline; `begins`: nothing new came before it in this part."""
    latest = entries[-1] if entries else None
    title = block.partition("\n")[0]
    table = split_header(block)
    if block.startswith("#") and title.lstrip("#").startswith(" "):
        if not title.endswith(_CONTINUED):
            entries.append(
                _Entry(number, number, title.lstrip("# "), open=unit in ("page", "slide", "chapter"))
            )
    elif table and latest and begins and latest.header == table[0]:
        latest.rows += len(table[1])
        latest.last = number
    elif table and latest and latest.title and not latest.header and latest.last == number:
        latest.header, latest.rows, latest.open = table[0], len(table[1]), False
    elif table:
        entries.append(_Entry(number, number, "", table[0], len(table[1])))
    elif latest and latest.open:
        latest.title, latest.open = f"{latest.title}: {title}", False
