"""TravelPlanner's own constraints and searches, in a process of their own.

    python -m forethought.evals.environments.checkouts.travel_planner CHECKOUT

The checkout has the database unzipped in its folder `database`. A constraint at which the official code stops
with an error, and the whole official evaluation with it, is not met here, and its explanation says so.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from forethought.evals.environments.worker import serve, stand_in

Json = dict[str, Any]
Verdicts = dict[str, tuple[bool, str]]
"""By constraint: whether it is met, and if not, why."""
COMMONSENSE = {
    "within_sandbox": "is_valid_information_in_sandbox",
    "complete_information": "is_not_absent",
    "within_current_city": "is_valid_information_in_current_city",
    "reasonable_city_route": "is_reasonable_visiting_city",
    "diverse_restaurants": "is_valid_restaurants",
    "diverse_attractions": "is_valid_attractions",
    "consistent_transportation": "is_valid_transportation",
    "minimum_nights_stay": "is_valid_accommodaton",
}
"""The eight constraints of the paper's table 1, and the functions that judge them."""
HARD = {
    "room_rule": ("house rule", "is_valid_room_rule"),
    "cuisine": ("cuisine", "is_valid_cuisine"),
    "room_type": ("room type", "is_valid_room_type"),
    "transportation": ("transportation", "is_valid_transportation"),
}
"""What a query may ask for beside its budget: the key of its local_constraint, and the function."""


class Evaluation:
    """The checkout's modules over its database, which is read once: the flights are millions of rows."""

    def __init__(self) -> None:
        self.commonsense: Any = importlib.import_module("commonsense_constraint")
        flights: Any = importlib.import_module("tools.flights.apis")
        flights.Flights = lambda: self.commonsense.flight
        self.hard: Any = importlib.import_module("hard_constraint")
        cities: Any = importlib.import_module("tools.cities.apis")
        self.searches: dict[str, Any] = {
            "flight_search": self.commonsense.flight,
            "distance_matrix": self.commonsense.googleDistanceMatrix,
            "accommodation_search": self.commonsense.accommodation,
            "restaurant_search": self.commonsense.restaurants,
            "attraction_search": self.commonsense.attractions,
            "city_search": cities.Cities(),
        }
        self._costs: Any = None

    def search(self, tool: str, arguments: Json) -> str:
        """What one of the two-stage mode's tools finds, as the official agents see it."""
        result = self.searches[tool].run(**arguments)
        return str(result.to_string(index=False) if hasattr(result, "to_string") else result)

    def cost(self, day: Json) -> str:
        """What a day of a plan costs, as CostEnquiry of the sole-planning mode tells it."""
        if self._costs is None:
            sys.modules["evaluation.hard_constraint"] = self.hard
            self._costs = importlib.import_module("tools.planner.env").ReactEnv()
        try:
            return str(self._costs.run(day))
        except Exception as error:
            return f"The cost cannot be calculated ({type(error).__name__}: {error}): check the day's form."

    def judge(self, query: Json, plan: list[Json]) -> dict[str, Verdicts]:
        """Each constraint; the hard ones only of a plan that is complete and names what exists."""
        common = {
            name: _verdict(getattr(self.commonsense, function), query, plan)
            for name, function in COMMONSENSE.items()
        }
        if not (common["complete_information"][0] and common["within_sandbox"][0]):
            return {"commonsense": common, "hard": {}}
        hard = {"budget": _verdict(self._is_affordable, query, plan)}
        for name, (key, function) in HARD.items():
            if query["local_constraint"].get(key):
                hard[name] = _verdict(getattr(self.hard, function), query, plan)
        return {"commonsense": common, "hard": hard}

    def _is_affordable(self, query: Json, plan: list[Json]) -> tuple[bool, str]:
        cost = self.hard.get_total_cost(query, plan)
        return cost <= query["budget"], f"the trip costs {cost}"


def _verdict(check: Callable[[Json, list[Json]], Any], query: Json, plan: list[Json]) -> tuple[bool, str]:
    try:
        met, reason = check(query, plan)
    except Exception as error:
        return False, f"the official check fails with {type(error).__name__}: {error}"
    return bool(met), "" if met else str(reason)


def main(checkout: str) -> None:
    """Serve the checkout."""
    sys.path[:0] = [checkout, f"{checkout}/evaluation"]
    stand_in(quiet=("gradio", "requests", "tqdm"))
    evaluation = Evaluation()
    serve({"judge": evaluation.judge, "search": evaluation.search, "cost": evaluation.cost})


if __name__ == "__main__":
    main(*sys.argv[1:])
