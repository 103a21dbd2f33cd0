"""NATURAL PLAN's meetings in a calendar: the day and the hours that an answer proposes, read from its
words.

The rules are those of the official evaluation, odd ones included: the first "Monday, 14:30 - 15:30" counts,
and a weekday with anything between it and the comma (a bold one: **Monday**, 14:30 - 15:30) is not seen;
minutes other than 30 count as the full hour.
"""

from __future__ import annotations

import re

Slot = tuple[str, float, float]
"""Weekday, and start and end in hours."""
_SLOT = re.compile(r"([A-Za-z]+), ([0-9]+):([0-9]+) - ([0-9]+):([0-9]+)")


def read_slot(answer: str) -> Slot | None:
    """The first slot that the answer names, or None."""
    found = _SLOT.search(answer)
    return (found[1], _hours(found[2], found[3]), _hours(found[4], found[5])) if found else None


def _hours(hour: str, minutes: str) -> float:
    return float(hour) + (0.5 if minutes == "30" else 0.0)
