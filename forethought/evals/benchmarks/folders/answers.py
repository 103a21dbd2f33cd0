"""Whether an answer is the computed one: numbers, dates and names are compared exactly, in any usual form."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal

FORMS = {
    "number": "A number without unit or separators.",
    "date": "A date as YYYY-MM-DD.",
    "person": "First name and surname.",
}
"""What a question says of its answer's form, by form."""
_NUMBER = re.compile(r"\d+(?:[.,' \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?(?![\d])|\d+(?:[.,]\d+)?")
_DATES = "%Y-%m-%d|%Y/%m/%d|%d.%m.%Y|%d/%m/%Y|%m/%d/%Y|%d %B %Y|%d %b %Y|%B %d %Y|%b %d %Y"
_TITLES = {"mr", "ms", "mrs", "dr", "the", "of", "is", "by"}


def right(answer: str, wanted: str, form: str) -> bool:
    """Whether `answer` says `wanted` and nothing else of its form (number, date or person)."""
    if form == "number":
        found = {readings for text in _NUMBER.findall(answer) if (readings := _readings(text))}
        return len(found) == 1 and Decimal(wanted) in found.pop()
    if form == "date":
        return date.fromisoformat(wanted) in _dates(answer)
    return _names(answer) == _names(wanted)


def _readings(text: str) -> frozenset[Decimal]:
    """What a number can mean: "1.284,50" is one number, "1.284" two."""
    plain = re.sub(r"[' \u00a0\u202f]", "", text)
    whole, mark, rest = re.fullmatch(r"(.*?)(?:([.,])(\d+))?", plain).groups("")  # type: ignore[union-attr]
    digits = re.sub(r"\D", "", whole)
    found = {Decimal(f"{digits}.{rest or 0}")}
    if mark and len(rest) == 3:
        found.add(Decimal(digits + rest))
    return frozenset(found)


def _dates(text: str) -> set[date]:
    """The readings of an answer that is a date, with the day of the week or not."""
    plain = re.sub(r"(\d)(?:st|nd|rd|th)\b", r"\1", text.strip().rstrip("."))
    plain = " ".join(
        re.sub(r"(?i)\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bof\b|\bthe\b|,", " ", plain).split()
    )
    found = set()
    for form in _DATES.split("|"):
        with suppress(ValueError):
            found.add(datetime.strptime(plain, form).date())
    return found


def _names(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold())) - _TITLES
