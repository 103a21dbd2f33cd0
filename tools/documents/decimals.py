"""Numbers as tables write them in other countries: 1.234,56 and 1,234.56.

Which of the two a table means is decided for the whole of it: 1.234 alone could be either.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from forethought.tools.documents.document import Rows
from forethought.tools.documents.tables import Row

_SPACES = r" '\u00a0\u202f"
_THOUSANDS = {",": ".", ".": ","}
"""A decimal mark, and what stands between thousands then."""


def _groups(mark: str) -> str:
    return rf"\d{{1,3}}(?:[{_THOUSANDS[mark]}{_SPACES}]\d{{3}})+"


_NUMBERS = {mark: re.compile(rf"[-+]?(?:{_groups(mark)}|\d+)(?:\{mark}\d+)?") for mark in _THOUSANDS}
_SAYS = {
    mark: re.compile(
        rf"[-+]?(?:\d+\{mark}(?:\d{{1,2}}|\d{{4,}})|{_groups(mark)}\{mark}\d+|\d{{1,3}}(?:\{other}\d{{3}}){{2,}})"
    )
    for mark, other in _THOUSANDS.items()
}
_UNITS = "€$£%+- \u00a0"
_PLAIN = re.compile(r"[-+]?\d+(?:\.\d+)?")
NOTE = "Numbers in it have decimal commas: 1.234,5 is 1234.5."


def decimal_mark(cells: Iterable[str]) -> str:
    """The decimal mark of a table: ',' or '.'; '' if its cells do not tell, or disagree."""
    said = Counter(
        mark for cell in cells for mark, pattern in _SAYS.items() if pattern.fullmatch(cell.strip(_UNITS))
    )
    (mark, count), *others = said.most_common() or [("", 0)]
    return mark if count > 20 * sum(number for _, number in others) else ""


def with_numbers(rows: Sequence[Row], mark: str) -> Rows:
    """The rows, with numbers in the columns whose numbers need it; other columns stay texts.

    Args:
        rows: Texts, the header first.
        mark: What `decimal_mark` found.
    """
    if not mark:
        return [list(row) for row in rows]
    pattern = _NUMBERS[mark]
    width = max(map(len, rows), default=0)
    columns = [
        column
        for column in range(width)
        if _needs_it([row[column] for row in rows[1:] if column < len(row) and row[column]], pattern)
    ]
    result: Rows = [list(row) for row in rows]
    for row in result[1:]:
        for column in columns:
            if column < len(row) and pattern.fullmatch(row[column]):
                row[column] = _number(row[column], mark)
    return result


def _needs_it(cells: list[str], pattern: re.Pattern[str]) -> bool:
    numbers = sum(pattern.fullmatch(cell) is not None for cell in cells)
    codes = any(len(cell) > 1 and cell[0] == "0" and cell.isdigit() for cell in cells)
    return numbers * 2 > len(cells) and not codes and not all(map(_PLAIN.fullmatch, cells))


def _number(text: str, mark: str) -> float | int:
    plain = re.sub(f"[{_SPACES}]", "", text)
    plain = plain.replace(".", "").replace(",", ".") if mark == "," else plain.replace(",", "")
    return float(plain) if "." in plain else int(plain)
