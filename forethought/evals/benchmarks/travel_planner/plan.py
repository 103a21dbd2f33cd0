"""Reading a plan out of an answer: one record a day.

The answer is a JSON list or an object with one, alone, in a fence or within prose; other spellings of a
field's name, null for "-", and lists or objects instead of text are taken as they are meant. What else there
is is read by the judge's model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
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
_JSON = re.compile(r"[\[{].*[\]}]", re.DOTALL)
_LONGEST = 200_000
"""Characters of an answer that are read."""


def parse_plan(answer: str) -> Plan:
    """The days of the plan in `answer`; [] where it holds none."""
    found = _JSON.search(answer[:_LONGEST])
    try:
        records = _records(json.loads(found[0])) if found else []
    except (ValueError, RecursionError):
        return []
    days = [_day(item, number) for number, item in enumerate(records, 1)]
    while days and not days[-1]:
        days.pop()
    return days


def _records(value: Any) -> list[Mapping[str, Any]]:
    """The days in `value`: a list with at least one record of the format, or an object that holds it."""
    if isinstance(value, Mapping):
        return next((days for inner in value.values() if (days := _records(inner))), [])
    days = [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
    return days if any(len({_field(key) for key in day} & set(FIELDS)) >= 2 for day in days) else []


def _field(key: str) -> str:
    name = "_".join(key.casefold().split())
    return _ALIASES.get(name, name)


def _day(item: Mapping[str, Any], number: int) -> Day:
    """The record with the format's fields, each of them text; {} stays {}."""
    given = {_field(key): value for key, value in item.items()}
    day = {name: _text(given[name], name) for name in FIELDS if name in given and name != "days"}
    return {"days": str(number), **day} if day else {}


def _text(value: Any, field: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, Mapping):
        parts = [_text(value.get(key), "") for key in ("name", "city")]
        return ", ".join(part for part in parts if part != "-") or "-"
    if isinstance(value, list):
        texts = [_text(item, "").rstrip("; ") for item in value]
        kept = [text for text in texts if text not in ("", "-")]
        ended = "".join(f"{text};" for text in kept) if field == "attraction" else "; ".join(kept)
        return ended or "-"
    return on_one_line(str(value).encode("utf-8", "replace").decode("utf-8"))
