"""The eight commonsense constraints (TravelPlanner, table 1), judged as the official evaluation does.

Its habits are kept, since figures could not be compared otherwise; each is named where it is. Where it would
stop with an error (a day without a city, a flight that is written in another way), the constraint at hand is
not met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from forethought.evals.benchmarks.travel_planner.plan import MEALS, PLACES, Day, Plan
from forethought.evals.benchmarks.travel_planner.query import Query
from forethought.evals.benchmarks.travel_planner.sandbox import Mode, Sandbox, called, number
from forethought.evals.benchmarks.travel_planner.text import EMPTY, name_and_city, route, without_state

UNFILLED = "You don't need to fill in the information for this or later days."
"""What the annotation tool writes for days that a trip does not have."""


class Unmet(Exception):
    """The constraint at hand is not met."""


Check = Callable[[Query, Plan, Sandbox], bool]


def commonsense(query: Query, plan: Plan, sandbox: Sandbox) -> dict[str, bool]:
    """Whether each commonsense constraint is met."""
    days = plan[: query.days]
    return {name: _is_met(check, query, days, sandbox) for name, check in COMMONSENSE.items()}


def _is_met(check: Check, query: Query, days: Plan, sandbox: Sandbox) -> bool:
    try:
        return check(query, days, sandbox)
    except Unmet:
        return False


def filled(day: Day, field: str) -> str:
    """What a day plans in `field`, '' for nothing."""
    text = day.get(field, "")
    return "" if text in EMPTY else text


def visits(day: Day) -> list[str]:
    """The attractions of a day that count: those that a semicolon ends. The official evaluation ignores what
    comes after the last one."""
    return filled(day, "attraction").split(";")[:-1]


def city_of(day: Day) -> str:
    """Where a day is spent. Raises Unmet where it does not say."""
    if "current_city" not in day:
        raise Unmet
    return day["current_city"]


def cities_of(day: Day) -> list[str]:
    """The city of a day, or both ends of its journey, without states. Raises Unmet."""
    city = city_of(day)
    if "from" not in city:
        return [without_state(city)]
    ends = route(city)
    if ends is None:
        raise Unmet
    return [without_state(end) for end in ends]


def _city_list(query: Query, plan: Plan) -> Iterator[str]:
    """The cities of all days in order. Raises Unmet where the journey does not begin at home."""
    for index, day in enumerate(plan):
        cities = cities_of(day)
        if index == 0 and len(cities) == 2 and cities[0] != query.org:
            raise Unmet
        yield from cities


def reasonable_route(query: Query, plan: Plan, sandbox: Sandbox) -> bool:
    """A closed circle through real cities of the destination, each visited once."""
    cities = list(_city_list(query, plan))
    if len(cities) < 3 or cities[0] != cities[-1] or not _is_one_visit_each(cities):
        return False
    states = [sandbox.state(city) for city in cities]
    return None not in states and (query.days <= 3 or set(states[1:-1]) == {query.dest})


def _is_one_visit_each(cities: Sequence[str]) -> bool:
    """Whether each stay is named twice in a row (the arrival and a day or the departure) and not resumed."""
    seen: set[str] = set()
    at = 0
    for city, run in groupby(cities):
        length, last = len(list(run)), len(cities) - 1
        if (city in seen and at not in (0, last)) or (length == 1 and 0 < at < last):
            return False
        seen.add(city)
        at += length
    return True


def diverse_restaurants(query: Query, plan: Plan, sandbox: Sandbox) -> bool:
    """No restaurant twice."""
    return _are_distinct([text for day in plan for meal in MEALS if (text := filled(day, meal))])


def diverse_attractions(query: Query, plan: Plan, sandbox: Sandbox) -> bool:
    """No attraction twice."""
    return _are_distinct([visit for day in plan for visit in visits(day)])


def _are_distinct(texts: Sequence[str]) -> bool:
    return len(set(texts)) == len(texts)


def transport_kind(text: str) -> str:
    """taxi, self-driving, flight or ''."""
    lower = text.lower()
    return next((kind for kind in ("taxi", "self-driving", "flight") if kind in lower), "")


def consistent_transport(query: Query, plan: Plan, sandbox: Sandbox) -> bool:
    """There is transport on the first day, and a car of one's own is not mixed with flights or taxis."""
    if not plan or not filled(plan[0], "transportation"):
        return False
    kinds = {transport_kind(text) for day in plan if (text := filled(day, "transportation"))}
    return "self-driving" not in kinds or not kinds & {"taxi", "flight"}


def within_current_city(query: Query, plan: Plan, sandbox: Sandbox) -> bool:
    """What a day plans lies in its city.

    The official evaluation takes the name of a city for a list of cities on days without a journey, and so
    asks for its single letters: such a day meets the constraint almost always.
    """
    for day in plan:
        names = cities_of(day)
        cities = names if len(names) == 2 else list(names[0])
        transport, stay = filled(day, "transportation"), filled(day, "accommodation")
        if transport and not all(city in transport for city in cities):
            return False
        planned = [text for meal in MEALS if (text := filled(day, meal))] + visits(day)
        if not all(any(city in text for city in cities) for text in planned):
            return False
        if stay and (not cities or cities[-1] not in stay):
            return False
    return True


def within_sandbox(query: Query, plan: Plan, sandbox: Sandbox) -> bool:
    """Everything named exists. Transport other than flight, self-driving and taxi is not looked up."""
    for day in plan:
        places = [(sandbox.restaurants, "Name", text) for meal in MEALS if (text := filled(day, meal))]
        places += [(sandbox.attractions, "Name", visit) for visit in visits(day)]
        if text := filled(day, "accommodation"):
            places.append((sandbox.accommodations, "NAME", text))
        if "transportation" not in day or not _transport_exists(day, sandbox):
            return False
        for rows_in, column, text in places:
            name, city = name_and_city(text)
            if not called(rows_in(city), column, name):
                return False
    return True


def journey(day: Day) -> tuple[str, str] | None:
    """Both ends of a day's journey as its transportation says, or else its city."""
    return route(day.get("transportation", "")) or route(day.get("current_city", ""))


def flight_number(text: str) -> str | None:
    """The number in `Flight Number: F0123456, ...`; None where it is not written so."""
    _, mark, rest = text.partition("Flight Number: ")
    return rest.partition(",")[0] if mark else None


def road_mode(text: str) -> Mode | None:
    """By which car a journey is made; one's own where both are named."""
    lower = text.lower()
    if "self-driving" in lower:
        return "self-driving"
    return "taxi" if "taxi" in lower else None


def _transport_exists(day: Day, sandbox: Sandbox) -> bool:
    text = filled(day, "transportation")
    origin, destination = (without_state(end) for end in journey(day) or ("-", "-"))
    if "flight number" in text.lower():
        wanted = flight_number(text)
        return any(row["Flight Number"] == wanted for row in sandbox.flights(origin, destination))
    mode, road = road_mode(text), sandbox.drive(origin, destination)
    return mode is None or (road is not None and road.cost(mode) is not None)


def minimum_nights(query: Query, plan: Plan, sandbox: Sandbox) -> bool:
    """A stay is as long as the house asks, where only one house has that name."""
    if any("accommodation" not in day for day in plan):
        return False
    for text, run in groupby(day["accommodation"] for day in plan):
        nights = len(list(run))
        name, city = name_and_city(text)
        found = called(sandbox.accommodations(city), "NAME", name) if text not in EMPTY else []
        if len(found) == 1 and nights < number(found[0], "minimum nights"):
            return False
    return True


def complete_information(query: Query, plan: Plan, sandbox: Sandbox) -> bool:
    """As many days and cities as asked for, nothing essential left out, and at least half of it filled in."""
    cities = [city_of(day) for day in plan if day]
    if sum(city != UNFILLED for city in cities) != query.days:
        return False
    if len(set(_city_list(query, plan)) - {query.org}) != query.visiting_city_number:
        return False
    if not all(_is_complete(query, day, index) for index, day in enumerate(plan, 1)):
        return False
    return sum(text not in EMPTY for day in plan for text in day.values()) / (6 * query.days) >= 0.5


def _is_complete(query: Query, day: Day, index: int) -> bool:
    """Whether a day has all fields, and in them what a journey, a stay and a night need."""
    if any(field not in day for field in PLACES):
        return False
    city = day["current_city"]
    needed = [] if index == query.days else ["accommodation"]
    if "from " in city or "to " in city:
        needed.append("transportation")
    if "from " not in city and " to " not in city:
        needed.append("attraction")
    if "from " not in city:
        needed += MEALS
    return all(day[field] not in EMPTY for field in needed)


COMMONSENSE: dict[str, Check] = {
    "within_sandbox": within_sandbox,
    "complete_information": complete_information,
    "within_current_city": within_current_city,
    "reasonable_city_route": reasonable_route,
    "diverse_restaurants": diverse_restaurants,
    "diverse_attractions": diverse_attractions,
    "consistent_transportation": consistent_transport,
    "minimum_nights_stay": minimum_nights,
}
