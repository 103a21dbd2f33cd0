"""Numbers and dates as people write them: 1,204.50 or 1.204,50, (12), EUR 3, 28.11.2026.

The patterns hold in Python and, for whole columns, in DuckDB, whose expressions know no look-around.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

Style = Literal["point", "comma"]
"""The decimal mark."""
UNIT = r"(?:[A-Z]{3}|Fr\.|kr\.?|zł|[€$£¥₹₽₺₩₴₫%])"
_SPACES = " \u00a0\u2009\u202f"
_SIGN = r"[+\-−]?"
PLAIN = {"point": r"[+\-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+\-]?[0-9]{1,3})?", "comma": r"[+\-]?[0-9]+"}
"""Numbers that a computer has written."""
DATES = (
    "%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y",
    "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%Y%m%d",
)  # fmt: skip
TIMES = ("", " %H:%M:%S", " %H:%M", "T%H:%M:%S")
LONGEST = 60
"""Characters of a number or a date."""
_FOUND = re.compile(rf"(?<![\w.,])[0-9](?:[0-9.,'’{_SPACES}]*[0-9])?")


def pattern(style: Style) -> str:
    """The form of a number with this decimal mark."""
    group, mark = (",", r"\.") if style == "point" else (r"\.", ",")
    digits = rf"(?:[0-9]+|[0-9]{{1,3}}(?:[{group}'’{_SPACES}][0-9]{{3}})+)(?:{mark}[0-9]+)?"
    number = rf"{_SIGN}(?:{UNIT}[{_SPACES}]*)?{_SIGN}{digits}(?:[{_SPACES}]*{UNIT})?"
    return rf"(?:{PLAIN[style]}|{number}|{number}[\-−]|\({number}\))"


_FORMS: dict[Style, re.Pattern[str]] = {
    "point": re.compile(pattern("point")),
    "comma": re.compile(pattern("comma")),
}


def read_number(text: str, style: Style) -> Decimal | None:
    """The number that a text is, with its decimal mark; None if it is none."""
    text = text.strip()
    if len(text) > LONGEST or not _FORMS[style].fullmatch(text):
        return None
    if re.fullmatch(PLAIN[style], text):
        return Decimal(text)
    digits = re.sub(r"[^0-9.,]", "", re.sub(UNIT, "", text))
    digits = digits.replace(",", "") if style == "point" else digits.replace(".", "").replace(",", ".")
    return Decimal(digits) * (-1 if re.search(r"[(\-−]", text) else 1)


def readings(text: str) -> set[Decimal]:
    """What number a text can be: none, one, or one for each decimal mark."""
    return {value for style in _FORMS if (value := read_number(text, style)) is not None}


def numbers_in(text: str) -> set[Decimal]:
    """All numbers that a reader may find in a text, without their signs."""
    found: set[Decimal] = set()
    for match in _FOUND.finditer(text):
        for part in {match[0], *re.split(rf"[{_SPACES}]+", match[0])}:
            found |= readings(part.strip(".,'’"))
    return found


def read_date(text: str) -> date | None:
    """The day that a text is; None if it is none, or if day and month could be exchanged."""
    text = text.strip()
    with suppress(ValueError):
        return datetime.fromisoformat(text).date()
    days = {day for form in DATES if (day := day_in(text, form))} if len(text) <= LONGEST else set()
    return days.pop() if len(days) == 1 else None


def day_in(text: str, form: str) -> date | None:
    """The day that a text of this form is, with a time or without."""
    for time in TIMES:
        with suppress(ValueError):
            return datetime.strptime(text, form + time).date()
    return None
