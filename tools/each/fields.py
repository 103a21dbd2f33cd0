"""The fields of a reading, and the check of each value against its quote and the file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from pydantic import BaseModel, Field

from forethought.text import one_line, plain
from forethought.tools.each.source import Source
from forethought.tools.folders.words import dates_in
from forethought.tools.tables.numbers import numbers_in, read_date, readings

Kind = Literal["text", "number", "date", "yes_no"]
Status = Literal["ok", "doubtful", "unreadable", "failed"]
LONGEST_QUOTE = 400
_ALIKE = 80
"""Least likeness of two texts (0 to 100) that count as equal."""
_DERIVED = "its number or date is not in the quote"


class FieldSpec(BaseModel):
    """A column of the table."""

    name: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,39}$", description="Name of the column.")
    type: Kind
    description: str = Field(default="", description="What belongs in it, if the name does not say so.")


@dataclass(frozen=True)
class Value:
    """A file's value of a field. `value` is None if the file has none, 'yes' or 'no' for yes_no, an ISO date
    for a date."""

    value: str | float | None = None
    quote: str = ""
    place: str = ""
    doubt: str = ""
    """Why it may be wrong; '' if it is proven."""


@dataclass(frozen=True)
class Row:
    """The result of one file."""

    name: str
    status: Status
    why: str = ""
    values: Mapping[str, Value] = field(default_factory=dict)


def checked(spec: FieldSpec, given: Any, source: Source) -> Value:
    """A model's value of a field, checked against the text that it was made from."""
    given = given if isinstance(given, Mapping) else {"value": given}
    quote = one_line(given.get("quote") or "", LONGEST_QUOTE)
    value, doubt = _typed(spec.type, given.get("value"))
    at = source.find(quote) if quote else None
    if value is None:
        return Value(doubt=doubt)
    if not doubt and not quote and value != "no":
        doubt = "there is no quote"
    elif not doubt and quote and at is None:
        doubt = "the quote is not in the file"
    elif not doubt and not _is_in(value, spec.type, quote):
        doubt = _DERIVED
    return Value(value, quote, source.place(at) if at is not None else "", doubt)


def _is_in(value: str | float, kind: Kind, quote: str) -> bool:
    """Whether the quote holds the number or the date; texts are judged by the reader alone."""
    if kind == "date":
        return f"d{str(value).replace('-', '')}" in dates_in(quote)
    return isinstance(value, str) or Decimal(str(abs(value))) in numbers_in(quote)


def _typed(kind: Kind, value: Any) -> tuple[str | float | None, str]:
    """The value in the field's type, and why it cannot be had ('' if it can)."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None, ""
    if kind == "yes_no":
        word = "yes" if value is True else "no" if value is False else plain(str(value)).strip(" .")
        return (word, "") if word in ("yes", "no") else (None, f"{word[:40]!r} is neither yes nor no")
    if kind == "number":
        found = {Decimal(str(value))} if isinstance(value, int | float) else readings(str(value))
        finite = len(found) == 1 and next(iter(found)).is_finite()
        return (_number(found.pop()), "") if finite else (None, f"{str(value)[:40]!r} is not a number")
    text = str(value).strip()
    if kind == "date":
        day = read_date(text)
        return (day.isoformat(), "") if day else (text, "it is not a date")
    return text, ""


def _number(value: Decimal) -> float | int:
    return int(value) if value == value.to_integral_value() and abs(value) < 10**15 else float(value)


def agree(one: Value, other: Value) -> bool:
    """Whether two readings of a file say the same."""
    if one.value is None or other.value is None:
        return one.value == other.value
    if isinstance(one.value, str) and isinstance(other.value, str):
        first, second = plain(one.value), plain(other.value)
        exact = first in ("yes", "no") or re.fullmatch(r"[\d-]+", first)
        if exact or first == second:
            return first == second
        from rapidfuzz import fuzz

        return bool(fuzz.token_set_ratio(first, second) >= _ALIKE)
    return abs(Decimal(str(one.value)) - Decimal(str(other.value))) < Decimal("1e-6")


def confirmed(before: Value, now: Value) -> Value:
    """The second reading of a doubtful value: a number that both readings derive is proven by that."""
    if now.doubt == _DERIVED and before.value is not None and agree(before, now):
        return Value(now.value, now.quote, now.place)
    return now


def row_of(name: str, values: Mapping[str, Value]) -> Row:
    """The row of a file that was read."""
    doubts = [f"{key}: {value.doubt}" for key, value in values.items() if value.doubt]
    return Row(name, "doubtful" if doubts else "ok", "; ".join(doubts), values)
