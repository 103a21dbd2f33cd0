"""The world of TravelPlanner as its constraints and tools see it, whatever it is read from."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from forethought.evals.benchmarks.travel_planner.text import on_one_line

Row = Mapping[str, Any]
"""One line of a table, with the database's own column names."""
Mode = Literal["self-driving", "taxi"]
Kind = Literal["attractions", "restaurants", "accommodations"]

ATTRACTION = ("Name", "Latitude", "Longitude", "Address", "Phone", "Website", "City")
RESTAURANT = ("Name", "Average Cost", "Cuisines", "Aggregate Rating", "City")
ACCOMMODATION = (
    "NAME", "price", "room type", "house_rules", "minimum nights", "maximum occupancy", "review rate number",
    "city",
)  # fmt: skip
FLIGHT = (
    "Flight Number", "Price", "DepTime", "ArrTime", "ActualElapsedTime", "FlightDate", "OriginCityName",
    "DestCityName", "Distance",
)  # fmt: skip
_KILOMETRES = re.compile(r"([\d,]+(?:\.\d+)?)\s*km")


@dataclass(frozen=True)
class Drive:
    """A road between two cities."""

    duration: str
    distance: str
    """As the database writes it, such as 1,294 km."""

    def cost(self, mode: Mode) -> int | None:
        """Dollars for one car: 5 cents a kilometre by one's own, a dollar by taxi; None where it takes a day
        or more, or the distance is unknown."""
        found = _KILOMETRES.fullmatch(self.distance.strip())
        if found is None or "day" in self.duration:
            return None
        kilometres = float(found[1].replace(",", ""))
        return int(kilometres * 0.05) if mode == "self-driving" else int(kilometres)


class Sandbox(ABC):
    """What there is: everything is looked up by a city's name without its state."""

    name: str
    """Where it comes from, for explanations."""

    @abstractmethod
    def places(self, kind: Kind, city: str) -> Sequence[Row]:
        """Rows with the columns of ATTRACTION, RESTAURANT or ACCOMMODATION."""

    @abstractmethod
    def flights(self, origin: str, destination: str) -> Sequence[Row]:
        """Rows with the columns of FLIGHT, of every date."""

    @abstractmethod
    def drive(self, origin: str, destination: str) -> Drive | None:
        """The road between two cities, if there is one."""

    @abstractmethod
    def state(self, city: str) -> str | None:
        """The state of a city; None: there is no such city."""

    @abstractmethod
    def cities(self, state: str) -> Sequence[str]:
        """The cities of a state."""

    def attractions(self, city: str) -> Sequence[Row]:
        """Rows with the columns of ATTRACTION."""
        return self.places("attractions", city)

    def restaurants(self, city: str) -> Sequence[Row]:
        """Rows with the columns of RESTAURANT."""
        return self.places("restaurants", city)

    def accommodations(self, city: str) -> Sequence[Row]:
        """Rows with the columns of ACCOMMODATION."""
        return self.places("accommodations", city)


def number(row: Row, column: str) -> float:
    """A figure of a row; 0 where it is none."""
    try:
        return float(row[column])
    except (KeyError, TypeError, ValueError):
        return 0.0


def called(rows: Sequence[Row], column: str, name: str) -> list[Row]:
    """The rows whose name holds `name`: how the official evaluation finds a place."""
    return [row for row in rows if name in on_one_line(str(row[column]))]
