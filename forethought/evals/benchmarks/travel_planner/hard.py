"""The hard constraints (TravelPlanner, table 1): what the query itself asks for, as the official evaluation
judges it.

They are judged only of plans whose information is complete and exists: what else would a price be of?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from forethought.evals.benchmarks.travel_planner.commonsense import (
    filled,
    flight_number,
    journey,
    road_mode,
)
from forethought.evals.benchmarks.travel_planner.plan import MEALS, Day, Plan
from forethought.evals.benchmarks.travel_planner.query import Query
from forethought.evals.benchmarks.travel_planner.sandbox import Row, Sandbox, called, number
from forethought.evals.benchmarks.travel_planner.text import name_and_city, without_state

SEATS = {"self-driving": 5, "taxi": 4}
"""Travellers that one car takes."""
_RULES = ("smoking", "parties", "children under 10", "visitors", "pets")
_ROOMS = {"shared room": "Shared room", "private room": "Private room", "entire room": "Entire home/apt"}


def hard(query: Query, plan: Plan, sandbox: Sandbox) -> dict[str, bool]:
    """Whether each hard constraint that the query has is met."""
    days = plan[: query.days]
    return {name: HARD[name](query, days, sandbox) for name in hard_constraints(query)}


def hard_constraints(query: Query) -> list[str]:
    """The hard constraints that a query has; the budget is always one."""
    wanted = {
        "room_rule": query.house_rule,
        "cuisine": query.cuisine,
        "room_type": query.room_type,
        "transportation": query.transportation,
    }
    return ["budget", *(name for name, value in wanted.items() if value)]


def total_cost(query: Query, plan: Plan, sandbox: Sandbox) -> float:
    """Dollars for all travellers. What is not found costs nothing."""
    return sum(_transport_cost(query, day, sandbox) + _day_cost(query, day, sandbox) for day in plan)


def _transport_cost(query: Query, day: Day, sandbox: Sandbox) -> float:
    text, ends = filled(day, "transportation"), journey(day)
    if not text or ends is None:
        return 0
    origin, destination = (without_state(end) for end in ends)
    if "flight number" in text.lower():
        wanted = flight_number(text)
        prices = (
            number(row, "Price")
            for row in sandbox.flights(origin, destination)
            if row["Flight Number"] == wanted
        )
        return next(prices, 0) * query.people_number
    mode, road = road_mode(text), sandbox.drive(origin, destination)
    if mode is None or road is None:
        return 0
    return (road.cost(mode) or 0) * math.ceil(query.people_number / SEATS[mode])


def _day_cost(query: Query, day: Day, sandbox: Sandbox) -> float:
    meals = sum(number(row, "Average Cost") for meal in MEALS if (row := _restaurant(day, meal, sandbox)))
    house = _house(day, sandbox)
    rooms = math.ceil(query.people_number / (number(house, "maximum occupancy") or 1)) if house else 0
    return meals * query.people_number + (number(house, "price") * rooms if house else 0)


def _restaurant(day: Day, meal: str, sandbox: Sandbox) -> Row | None:
    name, city = name_and_city(filled(day, meal))
    return next(iter(called(sandbox.restaurants(city), "Name", name)), None)


def _house(day: Day, sandbox: Sandbox) -> Row | None:
    name, city = name_and_city(filled(day, "accommodation"))
    return next(iter(called(sandbox.accommodations(city), "NAME", name)), None)


def _houses(plan: Plan, sandbox: Sandbox) -> Iterator[Row]:
    return (house for day in plan if (house := _house(day, sandbox)))


def budget(query: Query, plan: Plan, sandbox: Sandbox) -> bool:
    """The trip costs no more than it may."""
    return total_cost(query, plan, sandbox) <= query.budget


def room_rule(query: Query, plan: Plan, sandbox: Sandbox) -> bool:
    """No house forbids what the travellers need."""
    if query.house_rule not in _RULES:
        return True
    return all(f"No {query.house_rule}" not in str(house["house_rules"]) for house in _houses(plan, sandbox))


def room_type(query: Query, plan: Plan, sandbox: Sandbox) -> bool:
    """Every room is of the kind asked for."""
    kinds = {str(house["room type"]) for house in _houses(plan, sandbox)}
    if query.room_type == "not shared room":
        return "Shared room" not in kinds
    wanted = _ROOMS.get(query.room_type or "")
    return wanted is None or kinds <= {wanted}


def cuisine(query: Query, plan: Plan, sandbox: Sandbox) -> bool:
    """Every cuisine asked for is eaten once, away from home. As in the official evaluation, the rest of a day
    does not count from its first meal in the city of departure on."""
    eaten = [
        str(row["Cuisines"])
        for day in plan
        for meal in _away(day, query)
        if (row := _restaurant(day, meal, sandbox))
    ]
    return all(any(kind in cuisines for cuisines in eaten) for kind in query.cuisine)


def _away(day: Day, query: Query) -> Iterator[str]:
    for meal in MEALS:
        text = filled(day, meal)
        if text and name_and_city(text)[1] == query.org:
            return
        if text:
            yield meal


def transportation(query: Query, plan: Plan, sandbox: Sandbox) -> bool:
    """No journey is of the kind that is ruled out."""
    banned = {"no flight": "Flight", "no self-driving": "Self-driving"}.get(query.transportation or "")
    return banned is None or all(banned not in filled(day, "transportation") for day in plan)


HARD: dict[str, Callable[[Query, Plan, Sandbox], bool]] = {
    "budget": budget,
    "room_rule": room_rule,
    "cuisine": cuisine,
    "room_type": room_type,
    "transportation": transportation,
}
