"""The hard constraints (TravelPlanner, table 1): what the query itself asks for, as the official evaluation
judges it.

They are judged only of plans whose information is complete and exists: what else would a price be of?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from forethought.evals.benchmarks.travel_planner.commonsense import (
    Outcome,
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


def hard(query: Query, plan: Plan, sandbox: Sandbox) -> dict[str, Outcome]:
    """Each hard constraint by name; `met` is None where the query does not ask for it."""
    days = plan[: query.days]
    return {name: check(query, days, sandbox) for name, check in HARD.items()}


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


def budget(query: Query, plan: Plan, sandbox: Sandbox) -> Outcome:
    """The trip costs no more than it may."""
    cost = total_cost(query, plan, sandbox)
    return Outcome(cost <= query.budget, f"it costs {cost:g} of {query.budget:g} dollars")


def room_rule(query: Query, plan: Plan, sandbox: Sandbox) -> Outcome:
    """No house forbids what the travellers need."""
    if query.house_rule is None:
        return Outcome(None)
    if query.house_rule not in _RULES:
        return Outcome(True)
    forbidding = f"No {query.house_rule}"
    for house in _houses(plan, sandbox):
        if forbidding in str(house["house_rules"]):
            return Outcome(False, f"{house['NAME']}: {forbidding}")
    return Outcome(True)


def room_type(query: Query, plan: Plan, sandbox: Sandbox) -> Outcome:
    """Every room is of the kind asked for."""
    if query.room_type is None:
        return Outcome(None)
    for house in _houses(plan, sandbox):
        kind = str(house["room type"])
        wanted = _ROOMS.get(query.room_type, kind)
        wrong = kind == "Shared room" if query.room_type == "not shared room" else kind != wanted
        if wrong:
            return Outcome(False, f"{house['NAME']} is a {kind}")
    return Outcome(True)


def cuisine(query: Query, plan: Plan, sandbox: Sandbox) -> Outcome:
    """Every cuisine asked for is eaten once, away from home. As in the official evaluation, the rest of a day
    does not count from its first meal in the city of departure on."""
    if not query.cuisine:
        return Outcome(None)
    eaten = {
        kind
        for day in plan
        for meal in _away(day, query)
        if (row := _restaurant(day, meal, sandbox))
        for kind in query.cuisine
        if kind in str(row["Cuisines"])
    }
    lacking = sorted(set(query.cuisine) - eaten)
    return Outcome(not lacking, f"{', '.join(lacking)} is not eaten" if lacking else "")


def _away(day: Day, query: Query) -> Iterator[str]:
    for meal in MEALS:
        text = filled(day, meal)
        if text and name_and_city(text)[1] == query.org:
            return
        if text:
            yield meal


def transportation(query: Query, plan: Plan, sandbox: Sandbox) -> Outcome:
    """No journey is of the kind that is ruled out."""
    if query.transportation is None:
        return Outcome(None)
    banned = {"no flight": "Flight", "no self-driving": "Self-driving"}.get(query.transportation)
    for index, day in enumerate(plan, 1):
        if banned and banned in filled(day, "transportation"):
            return Outcome(False, f"day {index}: {banned}")
    return Outcome(True)


HARD: dict[str, Callable[[Query, Plan, Sandbox], Outcome]] = {
    "budget": budget,
    "room_rule": room_rule,
    "cuisine": cuisine,
    "room_type": room_type,
    "transportation": transportation,
}
