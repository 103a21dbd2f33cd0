"""Numbers in a text by value, in whatever notation: 1,234.50, 1234.5, 1.2 million, 25 %, forty-two."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

_FIGURE = re.compile(
    r"(?<![\w.])(?P<figure>\d{1,3}(?:[,'’\u00a0\u202f ]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"\s*(?P<scale>%|percent\b|per cent\b|thousand\b|million\b|billion\b|trillion\b|[km]\b)?",
    re.IGNORECASE,
)
_SCALES = {"thousand": 3, "k": 3, "million": 6, "m": 6, "billion": 9, "trillion": 12}
_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})(?:[\s-](?P<unit>{'|'.join(_SMALL[1:10])}))?"
    # "one" and "zero" are seldom meant as a number.
    rf"|(?P<small>{'|'.join(_SMALL[2:])}))\b",
    re.IGNORECASE,
)


def numbers(text: str) -> dict[Decimal, str]:
    """Each number of `text` and how it is written there. A share has two values: 25 % is 25 and 0.25; so has
    a figure before k or m, which may be a unit."""
    found: dict[Decimal, str] = {}
    for match in _FIGURE.finditer(text):
        scale = (match["scale"] or "").lower()
        try:
            value = Decimal(re.sub(r"[,'’\u00a0\u202f ]", "", match["figure"]))
        except InvalidOperation:
            continue
        said = match[0].strip()
        power = _SCALES.get(scale, 0)
        if scale in ("", "k", "m", "%", "percent", "per cent"):
            found.setdefault(value.normalize(), said)
        if power:
            found.setdefault(value.scaleb(power).normalize(), said)
        if scale in ("%", "percent", "per cent"):
            found.setdefault((value / 100).normalize(), said)
    for match in _WORDS.finditer(text):
        found.setdefault(_value(match).normalize(), match[0])
    return found


def _value(match: re.Match[str]) -> Decimal:
    if match["small"]:
        return Decimal(_SMALL.index(match["small"].lower()))
    unit = _SMALL.index(match["unit"].lower()) if match["unit"] else 0
    return Decimal(20 + 10 * _TENS.index(match["tens"].lower()) + unit)
