"""The words of a PDF's page in reading order: lines, columns of prose, and tables.

A PDF has the place of each word, but no lines, columns or tables. Gaps that several rows share divide
columns. If both sides of such a gap hold prose, one column is read after the other. Otherwise the rows are a
table; an empty cell stays empty. `pdf_grids` reads tables with ruled lines first. Coordinates grow
to the right and down.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import groupby, pairwise
from statistics import median

from forethought.tools.documents.tables import markdown_table

_GAP, _WIDE_GAP, _GUTTER = 0.6, 1.2, 0.45
"""In heights of a line: the least gap between cells, the least of the widest one, and what all rows share."""
_RAISED, _SMALLER = 0.2, 0.85
"""In heights of a line: how far up a superscript is at least, and how high it is at most."""
_FAR = 4
"""In heights of a line: the space that ends a table."""
_PROSE = 25
"""Characters of a line in a column of prose, on average."""
_LIST_MARK = re.compile(r"[•◦▪●○■·–*-]|\(?[\w.]{1,6}[.)]|\d{1,2}")
Gap = tuple[float, float]


@dataclass
class Word:
    """A word, or a table that counts as one (`block`)."""

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    mark: str = ""
    """Such as 'struck'; '' for plain text."""
    glued: bool = False
    """Whether nothing is between it and the word before it."""
    block: bool = False

    @property
    def size(self) -> float:
        """Its height."""
        return self.bottom - self.top

    @property
    def middle(self) -> tuple[float, float]:
        """Its middle."""
        return (self.x0 + self.x1) / 2, (self.top + self.bottom) / 2


class Row:
    """Words on one line, from left to right."""

    def __init__(self, word: Word) -> None:
        self.words, self.block = [word], word.block
        self.top, self.bottom, self.size = word.top, word.bottom, max(word.size, 0.1)

    def takes(self, word: Word) -> bool:
        """Whether the word is on this line, a raised or lowered one too. If so, it is added."""
        size = max(self.size, word.size)
        if self.block or word.block or abs(word.bottom - self.bottom) >= size / 2:
            return False
        if size > self.size:
            self.top, self.bottom, self.size = word.top, word.bottom, size
        self.words.append(word)
        return True

    @cached_property
    def gaps(self) -> list[Gap]:
        """The left margin, the gaps between words, and the right margin."""
        gaps, end = [(-math.inf, self.words[0].x0)], self.words[0].x1
        for word in self.words[1:]:
            if word.x0 - end >= _GAP * self.size:
                gaps.append((end, word.x0))
            end = max(end, word.x1)
        return [*gaps, (end, math.inf)]

    def segments(self) -> list[list[Word]]:
        """The words, divided at the gaps."""
        starts = [gap[1] for gap in self.gaps[1:-1]]
        return [list(part) for _, part in groupby(self.words, lambda word: sum(word.x0 >= x for x in starts))]


def page_text(words: Sequence[Word]) -> str:
    """The words in reading order as Markdown."""
    pieces: list[Row] = []
    rows, at = rows_of(words), 0
    while at < len(rows):
        band, gutters = _band(rows, at)
        at += len(band)
        if gutters:
            if not (text := _prose(band, gutters)):
                header = pieces.pop() if pieces and _heads(pieces[-1], band) else None
                text = markdown_table(_table(header, band, gutters))
            band = [Row(Word(text, 0, 0, band[0].top, band[-1].bottom, block=True))]
        pieces += band
    spaces = [max(low.top - high.bottom, 0.0) for high, low in pairwise(pieces)]
    usual = median(spaces) if spaces else 0.0
    text = line_of(pieces[0].words) if pieces else ""
    for (high, low), space in zip(pairwise(pieces), spaces, strict=True):
        near = space <= max(high.size / 2, min(1.6 * usual, 2 * high.size))
        text += ("\n" if near and not (high.block or low.block) else "\n\n") + line_of(low.words)
    return text


def rows_of(words: Sequence[Word]) -> list[Row]:
    """The words by line, from top to bottom."""
    rows: list[Row] = []
    for word in sorted(words, key=lambda word: word.top if word.block else word.bottom):
        # A superscript of the next line may come before the end of this one.
        if not any(row.takes(word) for row in rows[-2:]):
            rows.append(Row(word))
    for row in rows:
        row.words.sort(key=lambda word: word.x0)
    return rows


def line_of(words: Sequence[Word]) -> str:
    """A line's text with its marks; raised words are between '^'."""
    size = max(word.size for word in words)
    bottom = max(word.bottom for word in words if word.size >= _SMALLER * size)
    text, before = "", words[0]
    for mark, group in groupby(words, key=lambda word: word.mark):
        part = ""
        for word in group:
            small = word.size <= _SMALLER * size
            raised = small and word.bottom < bottom - _RAISED * size and word.text.isalnum()
            near = word.x0 - before.x1 < size / 4
            joint = "" if word.glued or (raised and near and word is not words[0]) else " "
            if not raised and word.x0 - before.x1 >= _WIDE_GAP * size:
                joint = "  "
            part += joint + (f"^{word.text}^" if raised else word.text)
            before = word
        lead = " " if part.startswith(" ") else ""
        text += f"{lead}[{mark}: {part.strip()}]" if mark else part
    return text.strip()


def _band(rows: list[Row], at: int) -> tuple[list[Row], list[Gap]]:
    """The rows from here on that share gutters, and these; one row and none if there are none to share."""
    shared, end = rows[at].gaps, at + 1
    first, second = _shared(rows[at : at + 2]), _shared(rows[at + 1 : at + 3])
    if len(_inner(second)) > len(_inner(first)) and len(rows) > at + 2:
        return rows[at : at + 1], []
    while end < len(rows) and rows[end].top - rows[end - 1].bottom < _FAR * rows[end].size:
        now = _both(shared, rows[end])
        later = _shared(rows[end : end + 3])
        known = max(len(_inner(shared)), len(_inner(_both(later, rows[end], shared))))
        if len(rows) >= end + 3 and len(_inner(later)) > known:
            break  # another table
        if len(_inner(now)) >= max(len(_inner(shared)), 1) or (end == at + 1 and _inner(now)):
            shared = now
        elif not _goes_on(shared, rows[end - 1 : end + 2]):  # one cell may reach into the next
            break
        end += 1
    band = rows[at:end]
    gutters = [gap for gap in _inner(shared) if _divides(gap, band)]
    while band and set(_in_columns(band[-1], gutters)) == {0}:  # a line below the table
        band.pop()
    full = [row for row in band if len(_in_columns(row, gutters)) > 1]
    if len(full) < 2 or band[0] is not full[0] or _is_list(band, gutters):
        return rows[at : at + 1], []
    return band, gutters


def _in_columns(row: Row, gutters: list[Gap]) -> dict[int, list[Word]]:
    """The words by column; a segment is in the column of its first word."""
    columns: dict[int, list[Word]] = {}
    for segment in row.segments():
        columns.setdefault(_column(segment[0], gutters), []).extend(segment)
    return columns


def _goes_on(shared: list[Gap], rows: list[Row]) -> bool:
    """Whether the last of three close rows shares the gutters, though the one before it does not."""
    close = all(low.top - high.bottom < low.size and len(low.gaps) > 2 for high, low in pairwise(rows))
    return close and len(rows) > 2 and len(_inner(_both(shared, rows[2]))) >= len(_inner(shared)) > 0


def _shared(rows: list[Row]) -> list[Gap]:
    """The gaps that all rows share."""
    return reduce(_both, rows[1:], rows[0].gaps) if rows else []


def _both(gaps: list[Gap], row: Row, others: list[Gap] | None = None) -> list[Gap]:
    """The gaps that a row (or others) shares, if they are wide enough to divide columns."""
    shared = ((max(a, c), min(b, d)) for a, b in gaps for c, d in (row.gaps if others is None else others))
    return [gap for gap in shared if gap[1] - gap[0] >= _GUTTER * row.size]


def _inner(gaps: list[Gap]) -> list[Gap]:
    return [gap for gap in gaps if math.isfinite(gap[1] - gap[0])]


def _divides(gap: Gap, band: list[Row]) -> bool:
    """Whether a row has a gap there that is wider than between words, or many rows have one."""
    spans = [b - a for row in band for a, b in row.gaps[1:-1] if a <= gap[0] and b >= gap[1]]
    return bool(spans) and max(spans) >= (_GAP if len(spans) > 5 else _WIDE_GAP) * band[0].size


def _is_list(band: list[Row], gutters: list[Gap]) -> bool:
    """Whether the gutter only divides the marks of a list from its items."""
    marks = [line_of(first) for row in band for first in row.segments()[:1] if first[-1].x1 <= gutters[0][0]]
    return len(gutters) == 1 and all(map(_LIST_MARK.fullmatch, marks))


def _column(word: Word, gutters: list[Gap]) -> int:
    """The column of a word. If it begins in a gutter, its middle decides."""
    middle = (word.x0 + word.x1) / 2
    return sum(
        word.x0 >= high - 0.1 or (word.x0 > low and middle > (low + high) / 2) for low, high in gutters
    )


def _prose(band: list[Row], gutters: list[Gap]) -> str:
    """The columns one after the other if they hold prose; '' if not."""
    columns: list[list[Word]] = [[] for _ in range(len(gutters) + 1)]
    for row in band:
        for word in row.words:
            columns[_column(word, gutters)].append(word)
    for column in columns:
        lines = [row for row in rows_of(column) if not row.block]
        if len(lines) < 3 or sum(len(line_of(line.words)) for line in lines) < _PROSE * len(lines):
            return ""
    return "\n\n".join(map(page_text, columns))


def _heads(row: Row, band: list[Row]) -> bool:
    """Whether the row just above a table is a header that is divided otherwise than the table."""
    near = not row.block and band[0].top - row.bottom <= 1.5 * row.size
    left = min(each.words[0].x0 for each in band)
    return near and len(row.gaps) > 2 and row.words[0].x0 >= left - row.size


def _table(header: Row | None, band: list[Row], gutters: list[Gap]) -> list[list[str]]:
    """The rows' cells. A header's cell is over all columns that it reaches."""
    if header is None and (beside := _right_aligned(band)):
        header, band, gutters = band[0], band[1:], beside
    table = [[line_of(cells[at]) if at in cells else "" for at in range(len(gutters) + 1)]
             for cells in (_in_columns(row, gutters) for row in band)]  # fmt: skip
    if header is None:
        return table
    segments, cells = header.segments(), [""] * len(table[0])
    for number, segment in enumerate(segments):
        columns = [number] if len(segments) == len(cells) else _under(segment, band, gutters)
        for column in columns:
            cells[column] = f"{cells[column]} {line_of(segment)}".strip()
    return [cells, *table]


def _right_aligned(band: list[Row]) -> list[Gap]:
    """The gutters of a table whose header is left of its right-aligned figures; none for any other table."""
    header, *body = [row.segments() for row in band]
    columns: list[Gap] = [
        (min(cell[0].x0 for cell in cells), max(cell[-1].x1 for cell in cells))
        for cells in zip(*(row for row in body if len(row) == len(header)), strict=True)
    ]
    gutters = [(left[1], right[0]) for left, right in pairwise(columns)]
    beside = any(cell[-1].x1 < column[0] for cell, column in zip(header, columns, strict=False))
    between = all(
        cell[0].x0 >= gutter[0] and cell[0].x0 <= column[0]
        for cell, gutter, column in zip(header[1:], gutters, columns[1:], strict=False)
    )
    return gutters if beside and between else []


def _under(segment: list[Word], band: list[Row], gutters: list[Gap]) -> list[int]:
    """The columns that a header's cell covers, or the nearest one."""
    away: dict[int, float] = {}
    for row in band:
        for column, words in _in_columns(row, gutters).items():
            far = max(words[0].x0 - segment[-1].x1, segment[0].x0 - words[-1].x1, 0.0)
            away[column] = min(far, away.get(column, far))
    return [column for column in sorted(away) if away[column] == min(away.values())]
