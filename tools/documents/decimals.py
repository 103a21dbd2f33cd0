"""Numbers as tables write them in other countries: 1.234,56 and 1,234.56.

Which of the two a table means is decided for the whole of it: 1.234 alone could be either.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from forethought.tools.documents.document import Rows
from forethought.tools.documents.tables import Row

_GROUPS = r"[1-9]\d{{0,2}}(?:[{between} '\u00a0\u202f]\d{{3}})+"
_NUMBER = rf"[-+]?(?:{_GROUPS}|0|[1-9]\d*)(?:\{{mark}}\d+)?"
_TELLING = (
    rf"(?:\d+\{{mark}}(?:\d{{{{1,2}}}}|\d{{{{4,}}}})|{_GROUPS}\{{mark}}\d+"
    r"|\d{{1,3}}(?:\{between}\d{{3}}){{2,}})"
)
_MARKS = {",": ".", ".": ","}
"""A decimal mark, and what stands between thousands then."""
_NUMBERS = {mark: re.compile(_NUMBER.format(mark=mark, between=other)) for mark, other in _MARKS.items()}
_SAYS = {mark: re.compile(_TELLING.format(mark=mark, between=other)) for mark, other in _MARKS.items()}
_PLAIN = re.compile(r"[-+]?\d+(?:\.\d+)?")
_CODE = re.compile(r"[-+]?0\d")
NOTE = "Numbers in it have decimal commas: 1.234,5 is 1234.5."


def decimal_mark(cells: Iterable[str]) -> str:
    """The decimal mark of a table: ',' or '.'; '' if its cells do not tell, or disagree."""
    plain = [cell.strip("€$£%+- \u00a0") for cell in cells]
    said = Counter(mark for cell in plain for mark, pattern in _SAYS.items() if pattern.fullmatch(cell))
    (mark, count), *others = said.most_common() or [("", 0)]
    return mark if count > 20 * sum(number for _, number in others) else ""


def with_numbers(rows: Sequence[Row], mark: str) -> Rows:
    """The rows, with numbers in the columns whose numbers need it; other columns stay texts.

    Args:
        rows: Texts, the header first.
        mark: What `decimal_mark` found.
    """
    result: Rows = [list(row) for row in rows]
    for column in range(max(map(len, rows), default=0)) if mark else ():
        cells = [row[column] for row in rows[1:] if column < len(row) and row[column]]
        numbers = [cell for cell in cells if _NUMBERS[mark].fullmatch(cell)]
        if (
            len(numbers) * 2 > len(cells)
            and not all(map(_PLAIN.fullmatch, cells))
            and not any(map(_CODE.match, cells))
        ):
            for row in result[1:]:
                if column < len(row) and _NUMBERS[mark].fullmatch(row[column]):
                    digits = re.sub(rf"[^-\d{mark}]", "", row[column]).replace(mark, ".")
                    row[column] = float(digits) if "." in digits else int(digits)
    return result
