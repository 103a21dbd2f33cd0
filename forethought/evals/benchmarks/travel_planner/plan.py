"""Reading a plan out of an answer: one record a day, whatever JSON it was written in.

Forgiven are fences, prose around the list, JSON Lines, Python's quotes, a list inside an object, other
spellings of a field's name, null for "-", and lists or objects where the format asks for text. What is left
is judged as it stands, or is read by the judge's model.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from forethought.evals.benchmarks.travel_planner.text import on_one_line

Day = dict[str, str]
Plan = list[Day]

MEALS = ("breakfast", "lunch", "dinner")
PLACES = ("transportation", "breakfast", "attraction", "lunch", "dinner", "accommodation")
FIELDS = ("days", "current_city", *PLACES)
_ALIASES = {
    "day": "days",
    "city": "current_city",
    "attractions": "attraction",
    "transport": "transportation",
    "accommodations": "accommodation",
    "hotel": "accommodation",
}
_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\r?\n?(.*?)```", re.DOTALL)
_LONGEST = 200_000
"""Characters of an answer that are read."""
_TRIES = 50
"""Brackets tried as the beginning of the list."""


def parse_plan(answer: str) -> Plan:
    """The days of the plan in `answer`; [] where it holds none."""
    for value in _values(answer[:_LONGEST].strip()):
        days = [_day(item, number) for number, item in enumerate(_days(value), 1)]
        while days and not days[-1]:
            days.pop()
        if any(days):
            return days
    return []


def _values(text: str) -> Iterator[Any]:
    """What could be meant, the likeliest first."""
    blocks = [text, *(block.strip() for block in _FENCE.findall(text))]
    for block in blocks:
        yield _loaded(block)
        yield _lines(block)
    yield from _inside(text)


def _loaded(text: str) -> Any:
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
    return None


def _lines(text: str) -> list[Any]:
    found = [_loaded(line.rstrip(",")) for line in text.splitlines() if line.lstrip().startswith("{")]
    return [item for item in found if isinstance(item, dict)]


def _inside(text: str) -> Iterator[Any]:
    """Lists (and an object that holds one) inside prose."""
    decoder = json.JSONDecoder()
    for found, _ in zip(re.finditer(r"[\[{]", text), range(_TRIES), strict=False):
        try:
            value, _ = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        yield value
    first, last = text.find("["), text.rfind("]")
    if 0 <= first < last:
        yield _loaded(text[first : last + 1])


def _days(value: Any) -> list[Mapping[Any, Any]]:
    """The days in `value`: a list with at least one record of the format, or an object that holds it."""
    if isinstance(value, Mapping):
        if _named(value):
            return [value]
        for inner in value.values():
            if found := _days(inner) if isinstance(inner, list) else []:
                return found
        numbered = [item for item in value.values() if isinstance(item, Mapping)]
        return _days(numbered)
    if not isinstance(value, list | tuple):
        return []
    days = [item for item in value if isinstance(item, Mapping)]
    return days if any(_named(day) for day in days) else []


def _named(day: Mapping[Any, Any]) -> bool:
    return len({_field(key) for key in day} & set(FIELDS)) >= 2


def _field(key: Any) -> str:
    name = "_".join(str(key).casefold().split())
    return _ALIASES.get(name, name)


def _day(item: Mapping[Any, Any], number: int) -> Day:
    """The record with the format's fields, each of them text; {} stays {}."""
    given = {_field(key): value for key, value in item.items()}
    day = {name: _text(given[name], name) for name in FIELDS if name in given and name != "days"}
    return {"days": str(number), **day} if day else {}


def _text(value: Any, field: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, Mapping):
        return (
            ", ".join(part for part in (_text(value.get(key), "") for key in ("name", "city")) if part != "-")
            or "-"
        )
    if isinstance(value, list | tuple):
        parts = [_text(item, "").rstrip("; ") for item in value]
        kept = [part for part in parts if part not in ("", "-")]
        return (
            "".join(f"{part};" for part in kept) if field == "attraction" and kept else "; ".join(kept) or "-"
        )
    return on_one_line(str(value).encode("utf-8", "replace").decode("utf-8"))
