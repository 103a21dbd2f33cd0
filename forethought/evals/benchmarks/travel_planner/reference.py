"""The reference information of a task: all that sole-planning gives, as tables with titles.

It comes as JSON (`database/train_ref_info.jsonl`: title -> rows or a sentence) or as the dataset's column
`reference_information` (a list of {Description, Content}, each table printed as text with right-aligned
columns). Both are read into the same tables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from forethought.evals.benchmarks.travel_planner.query import literal
from forethought.evals.benchmarks.travel_planner.sandbox import (
    ACCOMMODATION,
    ATTRACTION,
    FLIGHT,
    RESTAURANT,
    Drive,
    Kind,
    Row,
    Sandbox,
)
from forethought.evals.benchmarks.travel_planner.text import on_one_line
from forethought.evals.types import DataError

Reference = dict[str, list[dict[str, Any]] | str]
"""Title -> rows, or a sentence such as that there is no flight; plain JSON."""

_COLUMNS = {
    "Attractions": ATTRACTION,
    "Restaurants": RESTAURANT,
    "Accommodations": ACCOMMODATION,
    "Flight": FLIGHT,
}
_ROAD = re.compile(r"(?:Self-driving|Taxi) from (.+) to (.+)")
_INDEX = re.compile(r"\d+(?=\s)")
_LINE = re.compile(r"duration: (?P<duration>[^,]+), distance: (?P<distance>.+?), cost:")


def reference_of(value: Any) -> Reference:
    """Tables of either form. Raises DataError, one line."""
    try:
        value = literal(value)
    except ValueError as error:
        raise DataError(f"the reference information is {error}") from error
    if isinstance(value, list) and all(isinstance(item, Mapping) for item in value):
        value = {item.get("Description"): item.get("Content") for item in value}
    if not isinstance(value, Mapping) or not value:
        raise DataError("the reference information is no list or object of tables")
    made: Reference = {}
    for title, content in value.items():
        if isinstance(content, str):
            made[str(title)] = printed_rows(str(title), content)
        elif isinstance(content, list) and all(isinstance(row, Mapping) for row in content):
            made[str(title)] = [dict(row) for row in content]
        else:
            raise DataError(f"the reference information of {title!r} is neither rows nor text")
    return made


def printed_rows(title: str, content: str) -> list[dict[str, Any]] | str:
    """The rows of a table that was printed; the text itself where it is none."""
    columns = _COLUMNS.get(title.partition(" ")[0], ())
    header, _, body = content.partition("\n")
    ends, at = [], 0
    for column in columns:
        at = header.find(column, at)
        if at < 0:
            return content
        at += len(column)
        ends.append(at)
    if not columns or not body:
        return content
    lines = body.splitlines()
    starts = [_index_width(lines), *ends[:-1]]
    return [
        {column: line[start:end].strip() for column, start, end in zip(columns, starts, ends, strict=True)}
        for line in lines
    ]


def _index_width(lines: Sequence[str]) -> int:
    """How wide the column of row numbers is that some tables are printed with; 0 without one."""
    found = [_INDEX.match(line) for line in lines]
    numbers = [match[0] for match in found if match]
    rising = all(int(a) < int(b) for a, b in pairwise(numbers))
    return max(map(len, numbers)) if numbers and len(numbers) == len(lines) and rising else 0


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
