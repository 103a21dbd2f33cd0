"""Signs in tables: a remark among blanks, a word among numbers, two units in a column, and cells whose words
are signs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from forethought.nodes.support.sign_kinds import COMMON, RANKS, Found, kind_of
from forethought.tools.documents.tables import NUMBER

_BAR = re.compile(r"(?<!\\)\|")
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]{3}")
_SHORT = 60
"""Characters of a cell below which those with the same word are alike."""
_LONGEST_UNIT = 30
"""Maximum characters of a number with its unit."""
_UNIT = re.compile(
    r"(?P<sign>[€$£¥])?\s*[-+]?[\d.,'\s]*(?P<name>[€$£¥%]|(?:EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CAD|AUD|CNY|INR)|"
    r"[mk]?g|t|tons?|lbs?|oz|[kcm]?m|mi|miles|ft|in|[mch]?l|[Mk]?Wh?|°?[CF]|h|hrs?|min|s|sec|days?|weeks?|months?|"
    r"hours?|minutes?|pcs|pieces?|box(?:es)?|pairs?|dozens?|packs?|pallets?)?(?:\s*[-+]?[\d.,'\s]+)?\Z"
)
"""A cell with a unit, alone or beside a number."""


def table_signs(header: str, lines: list[str]) -> Iterator[Found]:
    """The signs of a Markdown table, of its two header lines and its rows; each ends with its row."""
    titles = _cells(header.partition("\n")[0])
    rows = [(_cells(line) + [""] * len(titles))[: len(titles)] for line in lines]
    ends = [len(header)]
    for line in lines:
        ends.append(ends[-1] + 1 + len(line))
    columns = [[row[i] for row in rows] for i in range(len(titles))]
    for title in titles:
        if hit := _kind_of(title):
            yield Found(hit[0], title, len(header.partition("\n")[0]))
    odd = [_odd(column) for column in columns]
    for row, end in zip(rows, ends[1:], strict=True):
        label = next(filter(None, row), "")
        for i, cell in ((i, cell) for i, cell in enumerate(row) if cell):
            hit = _kind_of(cell)
            by_form = odd[i](cell) if cell is not label else ""
            if len(titles) > 2 and len(cell.split()) > 3 and set(row) <= {cell, ""}:
                by_form = "remark"
            kind = max(hit[0] if hit else "", by_form, key=lambda kind: RANKS.get(kind, 0))
            if kind:
                words = hit[1] if hit and len(cell) < _SHORT else cell.casefold()
                yield Found(kind, cell, end, f"{header} {i} {words}")
    for i, column in enumerate(columns):
        if (at := _two_units(column)) is not None:
            yield Found("unit", titles[i], ends[1 + at])


def _kind_of(cell: str) -> tuple[str, str] | None:
    """The kind of sign that a cell is by its words: 'over 5' alone is none."""
    hit = kind_of(cell)
    return None if hit and hit[0] in COMMON and len(cell.split()) < 3 else hit


def _cells(row: str) -> list[str]:
    """The cells of a row, of a formula the value."""
    cells = (cell.strip() for cell in _BAR.split(row.strip().removeprefix("|").removesuffix("|")))
    return [cell.partition(" (=")[0] if cell.endswith(")") else cell for cell in cells]


def _odd(column: list[str]) -> Callable[[str], str]:
    """What kind of sign a cell of the column is by its form: '' for none."""
    used = [cell for cell in column if cell]
    sparse = len(column) >= 4 and len(used) <= len(column) / 2
    numeric = sum(bool(NUMBER.match(cell)) for cell in used) >= 0.7 * max(len(used), 5)

    def kind(cell: str) -> str:
        if sparse:
            return "remark" if _WORD.search(cell) else ""
        return "odd value" if numeric and not NUMBER.match(cell) and _LETTER.search(cell) else ""

    return kind


def _two_units(column: list[str]) -> int | None:
    """The row of the rarest unit in a column that has several."""
    short = ((at, _UNIT.match(cell)) for at, cell in enumerate(column) if len(cell) <= _LONGEST_UNIT)
    units = {at: unit for at, match in short if match and (unit := match["name"] or match["sign"])}
    counts = Counter(units.values())
    if len(counts) < 2 or len(units) < 0.7 * sum(map(bool, column)):
        return None
    rarest = min(counts, key=lambda unit: (counts[unit], unit))
    return next(at for at, unit in units.items() if unit == rarest)
