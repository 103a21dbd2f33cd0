"""Whether an answer is the computed one: numbers, dates and names are compared exactly, in any usual form."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal

from forethought.tools.tables.numbers import readings

FORMS = {
    "number": "A number without unit or separators.",
    "date": "A date as YYYY-MM-DD.",
    "person": "First name and surname.",
}
"""The form of an answer, as a question asks for it."""
_NUMBER = re.compile(r"\d+(?:[.,' \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?(?![\d])|\d+(?:[.,]\d+)?")
_DATES = "%Y-%m-%d|%Y/%m/%d|%d.%m.%Y|%d/%m/%Y|%m/%d/%Y|%d %B %Y|%d %b %Y|%B %d %Y|%b %d %Y"
_TITLES = {"mr", "ms", "mrs", "dr", "the", "of", "is", "by"}


def right(answer: str, wanted: str, form: str) -> bool:
    """Whether `answer` says `wanted` and nothing else of its form (number, date or person)."""
    if form == "number":
        found = {frozenset(readings(text)) for text in _NUMBER.findall(answer)}
        return len(found) == 1 and Decimal(wanted) in found.pop()
    if form == "date":
        return date.fromisoformat(wanted) in _dates(answer)
    return _names(answer) == _names(wanted)


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
