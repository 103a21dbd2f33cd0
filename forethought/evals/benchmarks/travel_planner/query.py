"""What a traveller asks for: the structured columns of a TravelPlanner task."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from forethought.evals.types import DataError

LEVELS = ("easy", "medium", "hard")


@dataclass(frozen=True)
class Query:
    """One task, with the names of the dataset's columns."""

    org: str
    dest: str
    """A city for three days, else a state."""
    days: int
    visiting_city_number: int
    people_number: int
    budget: float
    """US dollars, for all travellers."""
    level: str
    house_rule: str | None = None
    """What the house must allow: smoking, parties, children under 10, visitors or pets."""
    cuisine: tuple[str, ...] = ()
    room_type: str | None = None
    transportation: str | None = None
    """no flight or no self-driving."""

    def json(self) -> dict[str, Any]:
        """Plain JSON, as `query_of` takes it back."""
        return {**asdict(self), "cuisine": list(self.cuisine)}


def query_of(kept: Mapping[str, Any]) -> Query:
    """The query that `Query.json` made."""
    return Query(**{**kept, "cuisine": tuple(kept["cuisine"])})


def query_of_row(row: Mapping[str, Any]) -> Query:
    """The query in a row of the dataset. Raises DataError, one line."""
    try:
        wanted = row["local_constraint"]
        # A CSV file holds the object as Python writes it.
        wanted = ast.literal_eval(wanted) if isinstance(wanted, str) else wanted
        query = Query(
            org=str(row["org"]),
            dest=str(row["dest"]),
            days=int(row["days"]),
            visiting_city_number=int(row["visiting_city_number"]),
            people_number=int(row["people_number"]),
            budget=float(row["budget"]),
            level=str(row["level"]),
            house_rule=wanted.get("house rule"),
            cuisine=tuple(wanted.get("cuisine") or ()),
            room_type=wanted.get("room type"),
            transportation=wanted.get("transportation"),
        )
    except KeyError as error:
        raise DataError(f"the column {error.args[0]} is missing") from error
    except (TypeError, ValueError, AttributeError, SyntaxError) as error:
        raise DataError(f"a column is not what it should be ({error})") from error
    if query.days < 1 or query.people_number < 1 or query.level not in LEVELS:
        raise DataError("days and people_number must be 1 or more, and level easy, medium or hard")
    return query
