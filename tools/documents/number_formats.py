"""Additions of a spreadsheet's number format to a number: the currency or unit, per cent, thousands, zeros.

Without it 80 may be crowns or euros, and 1234567 be under 'EUR thousand' although the sheet shows 1,235.
Digits are never rounded as the sheet rounds them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*].', re.DOTALL)
"""Words in quotes, an escaped sign, a currency; a colour; white space as wide as a sign."""
_CONDITION = re.compile(r"\[[<>=]")
_NUMBER = re.compile(r"General|[#0?](?:.*[#0?])?", re.IGNORECASE)
_UNIT = re.compile(r"[^\W\d_]|[%$€£¥₩₹₽₺₴°‰¢]")
_LETTER = re.compile(r"[^\W\d_]")
_DATE = re.compile(r"[dmyhs]", re.IGNORECASE)
"""Letters that mean a part of a date if they are not quoted."""
_ZEROS = re.compile(r"0{2,}")
_ASIDE = 0xF0000
"""Added to the characters of words, so that none is taken for a mark of the format."""
_LONGEST = 1000
"""Characters of a format; Excel allows 255."""


@dataclass(frozen=True)
class _Section:
    """One of a format's parts, which hold for positive, negative and zero."""

    before: str = ""
    after: str = ""
    percent: bool = False
    thousands: int = 0
    """How often the sheet divides by a thousand before it shows the number."""
    digits: bool = True
    """Whether a number is shown at all, or only words in its place."""
    zeros: int = 0
    """The least width of a whole number, such as a postal code. Zeros fill it up."""


def formatted(value: float, number_format: str) -> str:
    """The number with all its digits (a spreadsheet keeps 15), with the additions of its format."""
    # More digits would be noise of the binary form.
    exact = Decimal(value) if isinstance(value, int) else Decimal(format(value, ".15g"))
    if not exact.is_finite():
        return str(value)
    section = _section_for(exact, number_format)
    plain = _plain(exact)
    if not section.digits:
        return f"{plain} (shown as {section.before})" if section.before else plain
    shown = _plain(exact * 100 if section.percent else exact.scaleb(-3 * section.thousands))
    if section.zeros and shown.isdigit():
        shown = shown.zfill(section.zeros)
    sign, shown = ("-", shown[1:]) if shown.startswith("-") else ("", shown)
    text = f"{sign}{section.before}{shown}{'%' * section.percent}{section.after}"
    return f"{text} (in full: {plain})" if section.thousands else text


def _plain(number: Decimal) -> str:
    text = format(number, "f") if -20 < number.adjusted() < 20 else str(number)
    return text.rstrip("0").rstrip(".") if "." in text and "E" not in text else text


def _section_for(value: Decimal, number_format: str) -> _Section:
    sections = _sections(number_format[:_LONGEST])
    at = 0 if value > 0 or len(sections) == 1 else 1 if value < 0 else 2
    return sections[at] if at < len(sections) else sections[0]


@lru_cache(maxsize=512)
def _sections(number_format: str) -> tuple[_Section, ...]:
    if _CONDITION.search(number_format):  # which section it chooses is not worked out
        return (_Section(),)
    return tuple(map(_section, _LITERAL.sub(_put_aside, number_format).split(";")))


def _put_aside(literal: re.Match[str]) -> str:
    words = next((group for group in literal.groups() if group is not None), "")
    return "".join(chr(_ASIDE + ord(character)) for character in words if ord(character) <= 0xFFFF)


def _section(text: str) -> _Section:
    number = _NUMBER.search(text)
    before, after = (text[: number.start()], text[number.end() :]) if number else (text, "")
    if _DATE.search(before + after):
        return _Section()
    thousands = len(after) - len(after.lstrip(","))
    before, after = _unit(before), _unit(after[thousands:])
    return _Section(
        before=before.lstrip() if number else before.strip(),
        after=after.rstrip(),
        percent="%" in text,
        thousands=thousands,
        digits=number is not None or not before,
        zeros=len(text) if _ZEROS.fullmatch(text) else 0,
    )


def _unit(text: str) -> str:
    """The words and signs of a unit; not brackets and dashes, which only say that a number is negative."""
    plain = re.sub("[@%]", "", text)
    unit = "".join(chr(ord(c) - _ASIDE) if ord(c) >= _ASIDE else c for c in plain)
    for open_, close in ("()", ")("):
        unit = unit if close in unit else unit.replace(open_, "")
    unit = " ".join(re.split(r"\s+", unit.strip("-+") if _LETTER.search(unit) else re.sub(r"[-+]", "", unit)))
    return unit if _UNIT.search(unit) else ""
