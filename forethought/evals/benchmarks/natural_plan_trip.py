"""NATURAL PLAN's trips: which cities a plan visits, in which order and for how many days.

The rules are those of the official evaluation, odd ones included: flights alone name the cities, one word
each (of "New York" the first word as a destination, the last as an origin); the first span of days on a
line counts; reading stops at the span that ends on the trip's last day, if the plan repeats how long the
trip is; a plan that goes on after the right cities is still right.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

Stay = tuple[str, int]
"""A city and its days, those of arrival and departure included."""
_SPAN = re.compile(r"\d+-\d+")
_FLIGHT = re.compile(r".*Day (\d+).*from (\w+) to (\w+)")
_LENGTH = re.compile(r"European cities for (\d+) days")


def read_stays(plan: str) -> list[Stay]:
    """The stays that a plan tells of; none where it names no span of days or no flight."""
    try:
        last_days, flights = _told(plan)
    except ValueError:
        # Python reads no number of thousands of digits: the official function fails there.
        return []
    if not last_days or not flights:
        return []
    cities = [flights[0][1], *(destination for _, _, destination in flights)]
    borders = [1, *(day for day, _, _ in flights), last_days[-1]]
    return [(city, borders[at + 1] - borders[at] + 1) for at, city in enumerate(cities)]


def same_trip(plan: str, golden: Sequence[Stay]) -> bool:
    """Whether the plan begins with exactly these stays."""
    return read_stays(plan)[: len(golden)] == list(golden)


def _told(plan: str) -> tuple[list[int], list[tuple[int, str, str]]]:
    """The last day of each span, and each flight's day, origin and destination, in the order of lines.
    Raises ValueError for a number that is too long."""
    length: int | None = None
    last_days: list[int] = []
    flights: list[tuple[int, str, str]] = []
    for line in plan.split("\n"):
        if found := _LENGTH.search(line):
            length = int(found[1])
        if found := _SPAN.search(line):
            last_days.append(int(found[0].split("-")[1]))
            if last_days[-1] == length:
                break
        if found := _FLIGHT.search(line):
            flights.append((int(found[1]), found[2], found[3]))
    return last_days, flights
