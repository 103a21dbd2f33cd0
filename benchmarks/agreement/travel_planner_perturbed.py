"""Faults put into TravelPlanner's gold plans, each a function of a plan, its query and the sandbox."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

from forethought.evals.benchmarks.travel_planner.sandbox import Row, Sandbox, number
from forethought.evals.benchmarks.travel_planner.text import name_and_city, without_state

Day = dict[str, Any]
Fault = Callable[[list[Day], dict[str, Any], Sandbox, random.Random], None]
MEALS = ("breakfast", "lunch", "dinner")


def perturbed(plan: list[Day], query: dict[str, Any], sandbox: Sandbox, seed: int) -> dict[str, list[Day]]:
    """The plan with each fault, and with two of them at once."""
    made = {}
    for name, fault in FAULTS.items():
        made[name] = _with([fault], plan, query, sandbox, f"{seed} {name}")
    for turn in range(4):
        chosen = random.Random(f"{seed} {turn}").sample(list(FAULTS.values()), 2)
        made[f"two_faults_{turn + 1}"] = _with(chosen, plan, query, sandbox, f"{seed} pair {turn}")
    return made


def _with(
    faults: list[Fault], plan: list[Day], query: dict[str, Any], sandbox: Sandbox, seed: str
) -> list[Day]:
    days = copy.deepcopy([day for day in plan if day])
    for fault in faults:
        if days:
            fault(days, query, sandbox, random.Random(seed))
    return days


def _planned(days: list[Day], field: str) -> list[Day]:
    return [day for day in days if day.get(field) not in (None, "", "-")]


def _city(day: Day) -> str:
    return str(day.get("current_city", "-"))


def _some(days: list[Day], field: str, dice: random.Random) -> Day:
    return dice.choice(_planned(days, field) or days)


def _named(row: Row, text: str, column: str = "NAME") -> str:
    """The name of a row with the city as the plan writes it."""
    return f"{row[column]}, {text.rpartition(',')[2].strip()}"


def repeated_restaurant(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    first, second = _some(days, "dinner", dice), _some(days, "lunch", dice)
    second["lunch"] = first.get("dinner", "-")


def invented_restaurant(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    day = _some(days, "lunch", dice)
    day["lunch"] = f"The Nowhere Diner, {str(day.get('lunch', '-')).rpartition(',')[2].strip()}"


def restaurant_at_home(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    dice.choice(days)["breakfast"] = f"Subway, {query['org']}"


def other_restaurants(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    for day in days:
        for meal in MEALS:
            rows = sandbox.restaurants(name_and_city(str(day.get(meal, "-")))[1])
            if rows:
                day[meal] = _named(dice.choice(rows), day[meal], "Name")


def _stay(days: list[Day], sandbox: Sandbox, choose: Callable[[list[Row]], Row]) -> None:
    for day in _planned(days, "accommodation"):
        rows = list(sandbox.accommodations(name_and_city(day["accommodation"])[1]))
        if rows:
            day["accommodation"] = _named(choose(rows), day["accommodation"])


def dearest_house(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    _stay(days, sandbox, lambda rows: max(rows, key=lambda row: number(row, "price")))


def longest_minimum(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    _stay(days, sandbox, lambda rows: max(rows, key=lambda row: number(row, "minimum nights")))


def strictest_house(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    _stay(days, sandbox, lambda rows: max(rows, key=lambda row: str(row["house_rules"]).count("No ")))


def shared_room(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    _stay(days, sandbox, lambda rows: max(rows, key=lambda row: str(row["room type"]) == "Shared room"))


def changing_houses(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    _stay(days, sandbox, dice.choice)


def no_accommodation(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    _some(days, "accommodation", dice)["accommodation"] = dice.choice(["-", ""])


def repeated_attraction(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    day = _some(days, "attraction", dice)
    day["attraction"] = day.get("attraction", "-") + day.get("attraction", "-")


def invented_attraction(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    day = _some(days, "attraction", dice)
    day["attraction"] = f"The Great Hole, {without_state(_city(day))};"


def unended_attraction(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    for day in _planned(days, "attraction"):
        day["attraction"] = f"{day['attraction']}The Great Hole, Atlantis"


def no_attraction(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    _some(days, "attraction", dice)["attraction"] = "-"


def dropped_day(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    del days[dice.randrange(len(days))]


def lost_last_day(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    del days[-1]


def doubled_day(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    days.insert(1, copy.deepcopy(days[min(1, len(days) - 1)]))


def swapped_days(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    days[0], days[-1] = days[-1], days[0]


def wrong_city(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    dice.choice(days)["current_city"] = dice.choice(["Atlantis", query["org"], "Denver", "Houston"])


def wrong_journey(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    days[0]["current_city"] = _city(days[0]).replace(query["org"], "Omaha")


def vague_journey(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    days[-1]["current_city"] = f"away from {query['dest']}"


def no_transportation(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    _some(days, "transportation", dice)["transportation"] = "-"


def own_car_once(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    day = _some(days, "transportation", dice)
    day["transportation"] = f"Self-driving, {_city(day)}, duration: 1 hour, distance: 9 km, cost: 1"


def taxis(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    for day in _planned(days, "transportation"):
        day["transportation"] = f"Taxi, {_city(day)}"


def train(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    _some(days, "transportation", dice)["transportation"] = "Train, at noon"


def unknown_flight(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    day = _some(days, "transportation", dice)
    day["transportation"] = f"Flight Number: F0000000, {_city(day)}, Departure Time: 05:38"


def oddly_written_flight(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    day = _some(days, "transportation", dice)
    day["transportation"] = f"flight number F3573659, {_city(day)}"


def missing_dinner(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    _some(days, "dinner", dice)["dinner"] = "-"


def half_empty(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    for day in days:
        day |= dict.fromkeys(dice.sample(["breakfast", "lunch", "dinner", "attraction"], 3), "-")


def lost_field(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    dice.choice(days).pop(dice.choice(["dinner", "attraction", "accommodation", "transportation"]), None)


def lost_city(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    dice.choice(days).pop("current_city", None)


def costs_beside(days: list[Day], query: Row, sandbox: Sandbox, dice: random.Random) -> None:
    for day in _planned(days, "dinner"):
        day["dinner"] = f"{day['dinner']}; Cost: 30"


FAULTS: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        repeated_restaurant, invented_restaurant, restaurant_at_home, other_restaurants, dearest_house,
        longest_minimum, strictest_house, shared_room, changing_houses, no_accommodation,
        repeated_attraction, invented_attraction, unended_attraction, no_attraction, dropped_day,
        lost_last_day, doubled_day, swapped_days, wrong_city, wrong_journey, vague_journey,
        no_transportation, own_car_once, taxis, train, unknown_flight, oddly_written_flight, missing_dinner,
        half_empty, lost_field, lost_city, costs_beside,
    )
}  # fmt: skip
