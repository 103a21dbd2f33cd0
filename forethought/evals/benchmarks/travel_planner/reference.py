"""The reference information of a task: all that sole-planning gives, as tables with titles.

It is read from the JSON files of the repository (`database/train_ref_info.jsonl`: title -> rows or a
sentence), not from the dataset's column, which has the same tables printed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from forethought.evals.benchmarks.travel_planner.sandbox import (
    Drive,
    Kind,
    Row,
    Sandbox,
)
from forethought.evals.benchmarks.travel_planner.text import on_one_line
from forethought.evals.types import DataError

Reference = dict[str, list[dict[str, Any]] | str]
"""Title -> rows, or a sentence such as that there is no flight; plain JSON."""

_ROAD = re.compile(r"(?:Self-driving|Taxi) from (.+) to (.+)")
_LINE = re.compile(r"duration: (?P<duration>[^,]+), distance: (?P<distance>.+?), cost:")


def check_reference(value: Any) -> Reference:
    """The tables. Raises DataError, one line."""
    if not isinstance(value, dict) or not value:
        raise DataError("the reference information is no object of tables")
    for title, content in value.items():
        rows = content if isinstance(content, list) else [content]
        if not all(isinstance(row, dict if isinstance(content, list) else str) for row in rows):
            raise DataError(f"the reference information of {title!r} is neither rows nor text")
    return value


def as_text(reference: Reference) -> str:
    """All tables, for a prompt."""
    return "\n\n".join(f"## {title}\n{table_text(content)}" for title, content in reference.items())


def table_text(content: Sequence[Row] | str) -> str:
    """One table: a line of column names, then a line a row."""
    if isinstance(content, str):
        return content
    if not content:
        return "(empty)"
    columns = list(content[0])
    lines = [" | ".join(columns)]
    lines += [" | ".join(_cell(row.get(column, "")) for column in columns) for row in content]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    """A cell on one line. Two spaces inside it stay: a plan has to name things as they are called."""
    return f"{value:g}" if isinstance(value, float) and value.is_integer() else on_one_line(str(value))


class ReferenceSandbox(Sandbox):
    """A sandbox that holds what the reference information holds, and no more."""

    name = "the reference information"

    def __init__(self, reference: Mapping[str, Any], org: str, dest: str) -> None:
        self._tables: dict[tuple[str, str], list[Row]] = {}
        self._flights: dict[tuple[str, str], list[Row]] = {}
        self._roads: dict[tuple[str, str], Drive] = {}
        self._org, self._dest = org, dest
        self._cities: dict[str, None] = {}
        for title, content in reference.items():
            kind, _, city = title.partition(" in ")
            if kind in ("Attractions", "Restaurants", "Accommodations"):
                self._cities[city] = None
                self._tables[kind.lower(), city] = [] if isinstance(content, str) else list(content)
            elif isinstance(content, str):
                self._add_road(title, content)
            else:
                for row in content:
                    ends = (str(row.get("OriginCityName")), str(row.get("DestCityName")))
                    self._flights.setdefault(ends, []).append(row)

    def _add_road(self, title: str, content: str) -> None:
        ends, line = _ROAD.fullmatch(title), _LINE.search(content)
        if ends and line:
            self._roads[ends[1], ends[2]] = Drive(line["duration"], line["distance"])

    def places(self, kind: Kind, city: str) -> Sequence[Row]:
        """See `Sandbox`."""
        return self._tables.get((kind, city), ())

    def flights(self, origin: str, destination: str) -> Sequence[Row]:
        """See `Sandbox`."""
        return self._flights.get((origin, destination), ())

    def drive(self, origin: str, destination: str) -> Drive | None:
        """See `Sandbox`."""
        return self._roads.get((origin, destination))

    def state(self, city: str) -> str | None:
        """The destination for the cities that the information is about (they were chosen in it); '' for where
        the journey begins."""
        if city in self._cities:
            return self._dest
        return "" if city == self._org else None

    def cities(self, state: str) -> Sequence[str]:
        """See `Sandbox`."""
        return [city for city in self._cities if state == self._dest]
