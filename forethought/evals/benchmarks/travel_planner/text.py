"""How TravelPlanner writes places: `Name, City(State)` and `from A to B`."""

from __future__ import annotations

import re

_ROUTE = re.compile(r"from\s+(.+?)\s+to\s+([^,]+)")
_STATE = re.compile(r"\([^)]*\)")
EMPTY = ("", "-")
"""What a plan writes where nothing is planned."""


def on_one_line(text: str) -> str:
    """`text` without line breaks. Two spaces in a row stay: they belong to some names of the database."""
    return " ".join(line.strip() for line in text.splitlines())


def without_state(city: str) -> str:
    """`Pittsburgh(Pennsylvania)` as `Pittsburgh`."""
    found = _STATE.search(city)
    return city[: found.start()] if found else city


def name_and_city(text: str) -> tuple[str, str]:
    """Name and city of a restaurant, attraction or accommodation, parted by the last comma; `("-", "-")`,
    which nothing is called, where there is none.
    """
    name, comma, city = text.rpartition(",")
    return (name.strip(), without_state(city.strip()).strip()) if comma and city else ("-", "-")


def route(text: str) -> tuple[str, str] | None:
    """Both ends of the journey in `from A to B`, the second one up to a comma; None where there is none."""
    found = _ROUTE.search(text)
    return (found[1], found[2]) if found else None
