"""The sandbox over TravelPlanner's database folder: CSV files, read when they are first needed.

As in the official evaluation, a row with an empty cell does not exist. The flights are millions of rows: only
where the rows of each pair of cities lie is kept in memory, and they are read from the file again.
"""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

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
from forethought.evals.types import DataError

FILES = {
    "attractions": "attractions/attractions.csv",
    "restaurants": "restaurants/clean_restaurant_2022.csv",
    "accommodations": "accommodations/clean_accommodations_2022.csv",
    "flights": "flights/clean_Flights_2022.csv",
    "distances": "googleDistanceMatrix/distance.csv",
    "states": "background/citySet_with_states.txt",
}
_PLACES: Mapping[Kind, Sequence[str]] = {
    "attractions": ATTRACTION,
    "restaurants": RESTAURANT,
    "accommodations": ACCOMMODATION,
}
"""The columns of each table of places; the last is the city."""
_MISSING = frozenset(
    (
        "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
        "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
    )
)  # fmt: skip
"""What the official evaluation's CSV reader (pandas) takes for an empty cell."""


def missing_files(folder: Path) -> list[str]:
    """The files of the database that `folder` lacks."""
    return [name for name in FILES.values() if not (folder / name).is_file()]


@cache
def database(folder: Path) -> Database:
    """The database in `folder`, shared by all samples."""
    return Database(folder)


class Database(Sandbox):
    """A sandbox over the CSV files in `folder`. Raises DataError where a file or a column is missing."""

    name = "the database"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tables: dict[str, dict[str, list[Row]]] = {}

    def places(self, kind: Kind, city: str) -> Sequence[Row]:
        """See `Sandbox`."""
        if kind not in self._tables:
            columns, table = _PLACES[kind], dict[str, list[Row]]()
            for row in self._rows(kind, columns):
                if _is_complete(row):
                    table.setdefault(row[columns[-1]], []).append({name: row[name] for name in columns})
            self._tables[kind] = table
        return self._tables[kind].get(city, ())

    def flights(self, origin: str, destination: str) -> Sequence[Row]:
        """See `Sandbox`."""
        columns, offsets = self._flight_index
        found = []
        with self._path("flights").open("rb") as file:
            for offset in offsets.get((origin, destination), ()):
                file.seek(offset)
                row = dict(zip(columns, _cells(file.readline()), strict=False))
                if len(row) == len(columns) and _is_complete(row):
                    found.append({column: row[column] for column in FLIGHT})
        return found

    def drive(self, origin: str, destination: str) -> Drive | None:
        """See `Sandbox`."""
        return self._roads.get((origin, destination))

    def state(self, city: str) -> str | None:
        """See `Sandbox`."""
        return self._states.get(city)

    def cities(self, state: str) -> Sequence[str]:
        """See `Sandbox`."""
        return [city for city, its in self._states.items() if its == state]

    @cached_property
    def _roads(self) -> dict[tuple[str, str], Drive | None]:
        roads: dict[tuple[str, str], Drive | None] = {}
        for row in self._rows("distances", ("origin", "destination", "duration", "distance")):
            known = row["duration"] not in _MISSING and row["distance"] not in _MISSING
            road = Drive(row["duration"], row["distance"]) if known else None
            roads.setdefault((row["origin"], row["destination"]), road)
        return roads

    @cached_property
    def _states(self) -> dict[str, str]:
        lines = self._path("states").read_text("utf-8").splitlines()
        return dict(line.split("\t", 1) for line in lines if "\t" in line)

    @cached_property
    def _flight_index(self) -> tuple[list[str], dict[tuple[str, str], array[int]]]:
        """The columns, and where the rows of each pair of cities begin, in bytes."""
        path = self._path("flights")
        pairs: dict[tuple[str, str], array[int]] = {}
        with path.open("rb") as file:
            columns = next(csv.reader([file.readline().decode("utf-8")]), [])
            _check_columns(path, columns, FLIGHT)
            origin, destination = (columns.index(name) for name in ("OriginCityName", "DestCityName"))
            at = file.tell()
            for line in file:
                cells = _cells(line)
                if len(cells) > max(origin, destination):
                    pairs.setdefault((cells[origin], cells[destination]), array("q")).append(at)
                at += len(line)
        return columns, pairs

    def _path(self, table: str) -> Path:
        path = self.folder / FILES[table]
        if not path.is_file():
            raise DataError(f"TravelPlanner's database lacks {FILES[table]}: unzip it to {self.folder}")
        return path

    def _rows(self, table: str, columns: Sequence[str]) -> Iterator[dict[str, str]]:
        path = self._path(table)
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file, restval="")
            _check_columns(path, rows.fieldnames or (), columns)
            yield from rows


def _check_columns(path: Path, there: Sequence[str], columns: Sequence[str]) -> None:
    if lacking := [column for column in columns if column not in there]:
        raise DataError(f"{path} has no column {lacking[0]!r}")


def _cells(line: bytes) -> list[str]:
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    return next(csv.reader([text]), []) if '"' in text else text.split(",")


def _is_complete(row: Mapping[str, Any]) -> bool:
    return all(isinstance(cell, str) and cell not in _MISSING for cell in row.values())
