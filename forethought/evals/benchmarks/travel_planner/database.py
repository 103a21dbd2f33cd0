"""The sandbox over TravelPlanner's database folder: CSV files, read when they are first needed.

As in the official evaluation, a row with an empty cell does not exist. The flights are millions of rows: only
where the rows of each pair of cities lie is kept in memory, and they are read from the file again.
"""

from __future__ import annotations

import csv
import threading
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from forethought.evals.benchmarks.travel_planner.sandbox import (
    ACCOMMODATION,
    ATTRACTION,
    FLIGHT,
    RESTAURANT,
    Drive,
    Row,
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


class Database:
    """A sandbox over the CSV files in `folder`. Raises DataError where a file or a column is missing."""

    name = "the database"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.RLock()
        self._tables: dict[str, dict[str, list[Row]]] = {}
        self._pairs: dict[tuple[str, str], array[int]] | None = None
        self._columns: list[str] = []
        self._roads: dict[tuple[str, str], Drive | None] | None = None
        self._states: dict[str, str] | None = None

    def attractions(self, city: str) -> Sequence[Row]:
        """See `Sandbox`."""
        return self._by_city("attractions", ATTRACTION, "City").get(city, ())

    def restaurants(self, city: str) -> Sequence[Row]:
        """See `Sandbox`."""
        return self._by_city("restaurants", RESTAURANT, "City").get(city, ())

    def accommodations(self, city: str) -> Sequence[Row]:
        """See `Sandbox`."""
        return self._by_city("accommodations", ACCOMMODATION, "city").get(city, ())

    def flights(self, origin: str, destination: str) -> Sequence[Row]:
        """See `Sandbox`."""
        with self._lock:
            if self._pairs is None:
                self._pairs = self._flight_index()
            offsets = self._pairs.get((origin, destination))
        return list(self._flight_rows(offsets)) if offsets else ()

    def drive(self, origin: str, destination: str) -> Drive | None:
        """See `Sandbox`."""
        with self._lock:
            if self._roads is None:
                self._roads = {}
                for row in self._rows("distances", ("origin", "destination", "duration", "distance")):
                    known = row["duration"] not in _MISSING and row["distance"] not in _MISSING
                    road = Drive(row["duration"], row["distance"]) if known else None
                    self._roads.setdefault((row["origin"], row["destination"]), road)
            return self._roads.get((origin, destination))

    def state(self, city: str) -> str | None:
        """See `Sandbox`."""
        return self._state_of().get(city)

    def cities(self, state: str) -> Sequence[str]:
        """See `Sandbox`."""
        return [city for city, its in self._state_of().items() if its == state]

    def _state_of(self) -> dict[str, str]:
        with self._lock:
            if self._states is None:
                lines = self._path("states").read_text("utf-8").splitlines()
                self._states = dict(line.split("\t", 1) for line in lines if "\t" in line)
            return self._states

    def _by_city(self, table: str, columns: Sequence[str], key: str) -> dict[str, list[Row]]:
        with self._lock:
            if table not in self._tables:
                found: dict[str, list[Row]] = {}
                for row in self._rows(table, columns):
                    if _whole(row):
                        found.setdefault(row[key], []).append({column: row[column] for column in columns})
                self._tables[table] = found
            return self._tables[table]

    def _path(self, table: str) -> Path:
        path = self.folder / FILES[table]
        if not path.is_file():
            raise DataError(f"TravelPlanner's database lacks {FILES[table]}: unzip it to {self.folder}")
        return path

    def _rows(self, table: str, columns: Sequence[str]) -> Iterator[dict[str, str]]:
        path = self._path(table)
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file, restval="")
            self._check(path, rows.fieldnames or (), columns)
            yield from rows

    def _check(self, path: Path, there: Sequence[str], columns: Sequence[str]) -> None:
        if lacking := [column for column in columns if column not in there]:
            raise DataError(f"{path} has no column {lacking[0]!r}")

    def _flight_index(self) -> dict[tuple[str, str], array[int]]:
        """Where the rows of each pair of cities begin, in bytes."""
        path = self._path("flights")
        pairs: dict[tuple[str, str], array[int]] = {}
        with path.open("rb") as file:
            self._columns = next(csv.reader([file.readline().decode("utf-8")]), [])
            self._check(path, self._columns, FLIGHT)
            origin, destination = (self._columns.index(name) for name in ("OriginCityName", "DestCityName"))
            at = file.tell()
            for line in file:
                cells = _cells(line)
                if len(cells) > max(origin, destination):
                    pairs.setdefault((cells[origin], cells[destination]), array("q")).append(at)
                at += len(line)
        return pairs

    def _flight_rows(self, offsets: Sequence[int]) -> Iterator[Row]:
        with self._path("flights").open("rb") as file:
            for offset in offsets:
                file.seek(offset)
                row = dict(zip(self._columns, _cells(file.readline()), strict=False))
                if len(row) == len(self._columns) and _whole(row):
                    yield {column: row[column] for column in FLIGHT}


def _cells(line: bytes) -> list[str]:
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    return next(csv.reader([text]), []) if '"' in text else text.split(",")


def _whole(row: Mapping[str, Any]) -> bool:
    return all(isinstance(cell, str) and cell not in _MISSING for cell in row.values())
