"""The type of a column of texts, decided from a sample, and the SQL that converts it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forethought.tools.tables.numbers import DATES, PLAIN, TIMES, UNIT, Style, day_in, pattern, read_number

MOST_OTHER = 0.1
"""Share of values that may be no number or date in a column of such."""
_WORTH_SAYING = 0.5
_FEW = 20
"""Values that tell which forms of dates are tried on all."""
_CODE = re.compile(r"0[0-9]+|[0-9]{19,}")
"""Digits that are a name: a postal code, a card's number."""
_WHOLE = re.compile(r"[+\-]?[0-9]{1,18}")
_ISO = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_CLOCK = r"[ T][0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?Z?"


@dataclass(frozen=True)
class Conversion:
    """How a column of texts becomes one of numbers, dates or truth values."""

    sql: str = ""
    """Makes the value from the text `@c`, or NULL; '': the column stays text."""
    what: str = ""
    """Name of its values, for messages."""
    note: str = ""
    """A remark on the decision, for the reader of the result."""
    wider: str = ""
    """SQL for values that `sql` does not take: decimals in a column whose sample has none."""
    doubtful: bool = False
    """Whether the text is kept beside the value."""


def conversion_of(values: Sequence[str], typed: bool = False) -> Conversion:
    """How to convert a column.

    Args:
        values: Texts of a sample, none of them empty.
        typed: The cells of the source are numbers, written with a decimal point.

    Returns:
        The conversion; one without `sql` for a column that stays text.
    """
    values = [value.strip() for value in values]
    if not values or any(_CODE.fullmatch(value) for value in values):
        return Conversion()
    if all(value.lower() in ("true", "false") for value in values):
        return Conversion("CASE WHEN lower(@c) IN ('true', 'false') THEN @c::BOOLEAN END", "true or false")
    numbers = _numbers(values, typed)
    return numbers if numbers.sql else _dates(values) if not numbers.note else numbers


def _numbers(values: Sequence[str], typed: bool) -> Conversion:
    both = [(read_number(value, "point"), read_number(value, "comma")) for value in values]
    known = sum(point is not None or comma is not None for point, comma in both)
    if known < (1 - MOST_OTHER) * len(values):
        share = known / len(values)
        note = f"only {share:.0%} of the values are numbers: the column stays text"
        return Conversion(note=note if share >= _WORTH_SAYING else "")
    whole = [value for value, pair in zip(values, both, strict=True) if pair != (None, None)]
    if all(_WHOLE.fullmatch(value) for value in whole):
        sql = _guarded(_WHOLE.pattern, "try_cast(@c AS BIGINT)")
        return Conversion(sql, "numbers", wider=number_sql("point"))
    point = sum(comma is None for point, comma in both if point is not None)
    comma = sum(point is None for point, comma in both if comma is not None)
    style: Style = "comma" if comma > point and not typed else "point"
    other: Style = "point" if style == "comma" else "comma"
    open_ = [
        value for value, (one, two) in zip(values, both, strict=True) if None not in (one, two) and one != two
    ]
    if typed or not (point and comma):
        note = ""
        if open_ and not (point or comma or typed):
            note = f"{open_[0]!r} is read as {read_number(open_[0], style)}"
        return Conversion(number_sql(style), "numbers", note, doubtful=bool(note))
    note = f"decimal points and decimal commas are mixed; values such as {open_[0]!r} are read with a {style}"
    sql = f"coalesce({number_sql(style)}, {number_sql(other)})"
    return Conversion(sql, "numbers", note if open_ else "", doubtful=bool(open_))


def number_sql(style: Style) -> str:
    """SQL that reads the text `@c` as `read_number` does."""
    digits = f"regexp_replace(regexp_replace(@c, {quoted(UNIT)}, '', 'g'), '[^0-9.,]', '', 'g')"
    digits = (
        f"replace({digits}, ',', '')"
        if style == "point"
        else f"replace(replace({digits}, '.', ''), ',', '.')"
    )
    sign = "CASE WHEN regexp_matches(@c, '[(−-]') THEN -1 ELSE 1 END"
    plain = f"WHEN regexp_full_match(@c, {quoted(PLAIN[style])}) THEN try_cast(@c AS DOUBLE)"
    written = (
        f"WHEN regexp_full_match(@c, {quoted(pattern(style))}) THEN ({sign}) * try_cast({digits} AS DOUBLE)"
    )
    return f"CASE {plain} {written} END"


def _dates(values: Sequence[str]) -> Conversion:
    least = (1 - MOST_OTHER) * len(values)
    if sum(bool(re.fullmatch(_ISO, value)) for value in values) >= least:
        return Conversion(_guarded(_ISO, "try_cast(@c AS DATE)"), "dates")
    if sum(bool(re.fullmatch(f"{_ISO}({_CLOCK})?", value)) for value in values) >= least:
        return Conversion(_guarded(f"{_ISO}({_CLOCK})?", "try_cast(rtrim(@c, 'Z') AS TIMESTAMP)"), "times")
    few = values[:_FEW]
    likely = [form for form in DATES if sum(day_in(value, form) is not None for value in few) * 2 > len(few)]
    counts = dict.fromkeys(("%d/%m/%Y", "%m/%d/%Y"), 0)
    counts |= {form: sum(day_in(value, form) is not None for value in values) for form in likely}
    best = max(counts, key=lambda form: counts[form])
    if counts[best] < least:
        return Conversion()
    if counts["%d/%m/%Y"] == counts["%m/%d/%Y"] > 0:
        return Conversion(note=f"{values[0]!r} may begin with the day or the month: the column stays text")
    forms = ", ".join(quoted(best + time) for time in TIMES)
    timed = any(":" in value for value in values)
    return Conversion(f"try_strptime(@c, [{forms}])::{'TIMESTAMP' if timed else 'DATE'}", "dates")


def _guarded(form: str, value: str) -> str:
    """`value` for texts of this form only: a cast alone also accepts 1_000 and 0x1F."""
    return f"CASE WHEN regexp_full_match(@c, {quoted(form)}) THEN {value} END"


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"
