"""Signs in tables: a remark among blanks, a word among numbers, two units in a column, sums among their
parts, and cells whose words are signs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from forethought.nodes.support.sign_kinds import COMMON, RANKS, Found, kind_of, quote, total_row
from forethought.text import one_line
from forethought.tools.documents.tables import NUMBER

_BAR = re.compile(r"(?<!\\)\|")
_CELLS = re.compile(r"Cells [A-Z]+(\d+):[A-Z]+\d+:")
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]{3}")
_LONGEST_UNIT = 30
"""Maximum characters of a number with its unit."""
_FAR = 10
"""Ratio of a column's largest number to the second largest that counts as odd."""
_UNIT = re.compile(
    r"(?P<sign>[€$£¥])?\s*[-+]?[\d.,'\s]*(?P<name>[€$£¥%]|(?:EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CAD|AUD|CNY|INR)|"
    r"[mk]?g|t|tons?|lbs?|oz|[kcm]?m|mi|miles|ft|in|[mch]?l|[Mk]?Wh?|°?[CF]|h|hrs?|min|s|sec|days?|weeks?|months?|"
    r"hours?|minutes?|pcs|pieces?|box(?:es)?|pairs?|dozens?|packs?|pallets?)?(?:\s*[-+]?[\d.,'\s]+)?\Z"
)
"""A cell with a unit, alone or beside a number."""


def table_signs(header: str, lines: list[str], lead: str, place: str) -> Iterator[Found]:
    """The signs of a Markdown table.

    Args:
        header: Its two header lines.
        lines: Its rows.
        lead: The line before it: of a sheet's table its cells, 'Cells A3:F20:'.
        place: The file, and the sheet or page.
    """
    titles = _cells(header.partition("\n")[0])
    rows = [(_cells(line) + [""] * len(titles))[: len(titles)] for line in lines]
    first = int(cells[1]) + 1 if (cells := _CELLS.fullmatch(lead)) else 1
    columns = [[row[i] for row in rows] for i in range(len(titles))]
    for title in titles:
        if hit := _kind_of(title):
            yield Found(hit[0], quote(title, hit[1]), f"{place}, header")
    sums = {at for column in columns for at in _sums(column)}
    odd = [_odd(column) for column in columns]
    for at, row in enumerate(rows):
        where, label, used = f"{place}, row {first + at}", next(filter(None, row), ""), sum(map(bool, row))
        if used > 1 and (at in sums or total_row().match(label)):
            yield Found("total", " | ".join(filter(None, row))[:160], where, place)
            continue
        for i, cell in ((i, cell) for i, cell in enumerate(row) if cell):
            hit = _kind_of(cell)
            by_form = odd[i](cell) if cell is not label else ""
            if len(titles) > 2 and len(cell.split()) > 3 and set(row) <= {cell, ""}:
                by_form = "remark"
            kind = max(hit[0] if hit else "", by_form, key=lambda kind: RANKS.get(kind, 0))
            if not kind:
                continue
            shown = quote(cell, hit[1] if hit else 0)
            shown = shown if cell is label else f"{one_line(label, 40)} | {one_line(titles[i], 30)}: {shown}"
            short = len(cell) < 60
            yield Found(kind, shown, where, f"{place} {i} {hit[2] if hit and short else cell.casefold()}")
    for i, column in enumerate(columns):
        if found := _two_units(column):
            yield Found("unit", f"{titles[i]}: {found[1]}", f"{place}, row {first + found[0]}")


def _kind_of(cell: str) -> tuple[str, int, str] | None:
    """The kind of sign that a cell is by its words: 'no' alone is none."""
    hit = kind_of(cell)
    return None if hit and hit[0] in COMMON and len(cell.split()) < 3 else hit


def _cells(row: str) -> list[str]:
    """The cells of a row, of a formula the value."""
    cells = (cell.strip() for cell in _BAR.split(row.strip().removeprefix("|").removesuffix("|")))
    return [cell.partition(" (=")[0] if cell.endswith(")") else cell for cell in cells]


def _odd(column: list[str]) -> Callable[[str], str]:
    """What kind of sign a cell of the column is by its form: '' for none."""
    used = [cell for cell in column if cell]
    values = [value for cell in used if (value := _value(cell)) is not None]
    usual, times = Counter(used).most_common(1)[0] if used else ("", 0)
    many = 0.7 * max(len(used), 5)
    largest = max(sorted(values)[:-1], default=0.0)
    rarely_negative = sum(value < 0 for value in values) <= 0.2 * len(values)
    sparse = len(column) >= 4 and len(used) <= len(column) / 2
    numeric = sum(bool(NUMBER.match(cell)) for cell in used) >= many

    def kind(cell: str) -> str:
        if sparse:
            return "remark" if _WORD.search(cell) else ""
        value = _value(cell)
        if not numeric:
            strange = times >= many and cell != usual
        elif value is not None:
            strange = value > _FAR * largest > 0 or (value < 0 and rarely_negative)
        else:
            strange = not NUMBER.match(cell) and bool(_LETTER.search(cell))
        return "odd value" if strange else ""

    return kind


def _value(cell: str) -> float | None:
    try:
        return float(cell.replace(",", "").replace("−", "-").strip("€$£ "))
    except ValueError:
        return None


def _sums(column: list[str]) -> list[int]:
    """Rows whose number is the sum of two or more above it, since the last such row or in all.

    One of them in the middle may be chance, and is none.
    """
    sums: list[int] = []
    values = [(at, value) for at, cell in enumerate(column) if (value := _value(cell)) is not None]
    since, every, parts, count = 0.0, 0.0, 0, 0
    for at, value in values:
        near = 1e-6 * max(1.0, abs(value))
        if value and ((parts > 1 and abs(value - since) < near) or (count > 1 and abs(value - every) < near)):
            sums.append(at)
            since, parts = 0.0, 0
        else:
            since, every, parts, count = since + value, every + value, parts + 1, count + 1
    return sums if len(sums) > 1 or [at for at, _ in values[-1:]] == sums else []


def _two_units(column: list[str]) -> tuple[int, str] | None:
    """Where a column has cells of several units, the first cell of the rarest, and how often each is."""
    short = ((at, _UNIT.match(cell)) for at, cell in enumerate(column) if len(cell) <= _LONGEST_UNIT)
    units = {at: unit for at, match in short if match and (unit := match["name"] or match["sign"])}
    counts = Counter(units.values())
    if len(counts) < 2 or len(units) < 0.7 * sum(map(bool, column)):
        return None
    rarest = min(counts, key=lambda unit: (counts[unit], unit))
    listed = ", ".join(f"{count} of {unit}" for unit, count in sorted(counts.items())[:6])
    return next(at for at, unit in units.items() if unit == rarest), listed
