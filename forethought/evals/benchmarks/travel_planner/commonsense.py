"""The eight commonsense constraints (TravelPlanner, table 1), judged as the official evaluation does.

Its habits are kept, since figures could not be compared otherwise; each is named where it is. Where it would
stop with an error (a day without a city, a flight that is written in another way), the constraint at hand is
not met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from forethought.evals.benchmarks.travel_planner.plan import MEALS, PLACES, Day, Plan
from forethought.evals.benchmarks.travel_planner.query import Query
from forethought.evals.benchmarks.travel_planner.sandbox import Mode, Sandbox, called, number
from forethought.evals.benchmarks.travel_planner.text import EMPTY, name_and_city, route, without_state

UNFILLED = "You don't need to fill in the information for this or later days."
"""What the annotation tool writes for days that a trip does not have."""


class Unmet(Exception):
    """A constraint is not met; the text says why."""


@dataclass(frozen=True)
class Outcome:
    """Whether a constraint is met; `met` is None where the query does not ask for it."""

    met: bool | None
    why: str = ""


Check = Callable[[Query, Plan, Sandbox], None]


def commonsense(query: Query, plan: Plan, sandbox: Sandbox) -> dict[str, Outcome]:
    """Each commonsense constraint by name."""
    days = plan[: query.days]
    return {name: _outcome(check, query, days, sandbox) for name, check in COMMONSENSE.items()}


def _outcome(check: Check, query: Query, days: Plan, sandbox: Sandbox) -> Outcome:
    try:
        check(query, days, sandbox)
    except Unmet as reason:
        return Outcome(False, str(reason))
    return Outcome(True)


def filled(day: Day, field: str) -> str:
    """What a day plans in `field`, '' for nothing."""
    text = day.get(field, "")
    return "" if text in EMPTY else text


def visits(day: Day) -> list[str]:
    """The attractions of a day that count: those that a semicolon ends. The official evaluation ignores what
    comes after the last one."""
    return filled(day, "attraction").split(";")[:-1]


def city_of(day: Day, number: int) -> str:
    """Where a day is spent. Raises Unmet where it does not say."""
    if "current_city" not in day:
        raise Unmet(f"day {number} names no city")
    return day["current_city"]


def cities_of(day: Day, number: int) -> list[str]:
    """The city of a day, or both ends of its journey, without states. Raises Unmet."""
    city = city_of(day, number)
    if "from" not in city:
        return [without_state(city)]
    ends = route(city)
    if ends is None:
        raise Unmet(f"day {number}: {city!r} is no journey from one city to another")
    return [without_state(end) for end in ends]


def _city_list(query: Query, plan: Plan) -> Iterator[str]:
    for index, day in enumerate(plan):
        cities = cities_of(day, index + 1)
        if index == 0 and len(cities) == 2 and cities[0] != query.org:
            raise Unmet(f"the journey does not begin in {query.org}")
        yield from cities


def reasonable_route(query: Query, plan: Plan, sandbox: Sandbox) -> None:
    """A closed circle through real cities of the destination, each visited once."""
    cities = list(_city_list(query, plan))
    if not cities or cities[0] != cities[-1]:
        raise Unmet("the journey does not end where it began")
    if len(cities) < 3:
        raise Unmet("no city is visited")
    _one_visit_each(cities)
    for index, city in enumerate(cities):
        state = sandbox.state(city)
        if state is None:
            raise Unmet(f"{city} is no city of {sandbox.name}")
        if 0 < index < len(cities) - 1 and query.days > 3 and state != query.dest:
            raise Unmet(f"{city} is not in {query.dest}")


def _one_visit_each(cities: Sequence[str]) -> None:
    """Each stay is named at least twice in a row (the arrival and a day or the departure) and not resumed."""
    seen: set[str] = set()
    at = 0
    for city, run in groupby(cities):
        length, last = len(list(run)), len(cities) - 1
        if city in seen and at not in (0, last):
            raise Unmet(f"{city} is visited twice")
        if length == 1 and 0 < at < last:
            raise Unmet(f"{city} is only passed through")
        seen.add(city)
        at += length


def diverse_restaurants(query: Query, plan: Plan, sandbox: Sandbox) -> None:
    """No restaurant twice."""
    _distinct(text for day in plan for meal in MEALS if (text := filled(day, meal)))


def diverse_attractions(query: Query, plan: Plan, sandbox: Sandbox) -> None:
    """No attraction twice."""
    _distinct(visit for day in plan for visit in visits(day))


def _distinct(texts: Iterator[str]) -> None:
    seen: set[str] = set()
    for text in texts:
        if text in seen:
            raise Unmet(f"{text} comes twice")
        seen.add(text)


def transport_kind(text: str) -> str:
    """taxi, self-driving, flight or ''."""
    lower = text.lower()
    return next((kind for kind in ("taxi", "self-driving", "flight") if kind in lower), "")


def consistent_transport(query: Query, plan: Plan, sandbox: Sandbox) -> None:
    """There is transport on the first day, and a car of one's own is not mixed with flights or taxis."""
    if not plan or not filled(plan[0], "transportation"):
        raise Unmet("day 1 has no transportation")
    kinds = {transport_kind(text) for day in plan if (text := filled(day, "transportation"))}
    if "self-driving" in kinds and kinds & {"taxi", "flight"}:
        raise Unmet(f"{' and '.join(sorted(kinds - {''}))} do not go together")


def within_current_city(query: Query, plan: Plan, sandbox: Sandbox) -> None:
    """What a day plans lies in its city.

    The official evaluation takes the name of a city for a list of cities on days without a journey, and so
    asks for its single letters: such a day meets the constraint almost always.
    """
    for index, day in enumerate(plan, 1):
        names = cities_of(day, index)
        cities = names if len(names) == 2 else list(names[0])
        transport = filled(day, "transportation")
        if transport and not all(city in transport for city in cities):
            raise Unmet(f"day {index}: the transportation is not between its cities")
        planned = [(meal, text) for meal in MEALS if (text := filled(day, meal))]
        planned += [("attraction", visit) for visit in visits(day)]
        for field, text in planned:
            if not any(city in text for city in cities):
                raise Unmet(f"day {index}: the {field} is not in its city")
        stay = filled(day, "accommodation")
        if stay and (not cities or cities[-1] not in stay):
            raise Unmet(f"day {index}: the accommodation is not in its city")


def within_sandbox(query: Query, plan: Plan, sandbox: Sandbox) -> None:
    """Everything named exists. Transport other than flight, self-driving and taxi is not looked up."""
    for index, day in enumerate(plan, 1):
        if "transportation" not in day:
            raise Unmet(f"day {index} has no transportation")
        _transport_exists(day, index, sandbox)
        for meal in MEALS:
            if text := filled(day, meal):
                name, city = name_and_city(text)
                _exists(called(sandbox.restaurants(city), "Name", name), index, meal, text)
        for visit in visits(day):
            name, city = name_and_city(visit)
            _exists(called(sandbox.attractions(city), "Name", name), index, "attraction", visit)
        if text := filled(day, "accommodation"):
            name, city = name_and_city(text)
            _exists(called(sandbox.accommodations(city), "NAME", name), index, "accommodation", text)


def _exists(found: Sequence[object], day: int, field: str, text: str) -> None:
    if not found:
        raise Unmet(f"day {day}: the {field} {text!r} does not exist")


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


def _transport_exists(day: Day, index: int, sandbox: Sandbox) -> None:
    text = filled(day, "transportation")
    ends = [without_state(end) for end in journey(day) or ("-", "-")]
    if "flight number" in text.lower():
        wanted = flight_number(text)
        if not any(row["Flight Number"] == wanted for row in sandbox.flights(ends[0], ends[1])):
            raise Unmet(f"day {index}: there is no such flight")
    elif mode := road_mode(text):
        road = sandbox.drive(ends[0], ends[1])
        if road is None or road.cost(mode) is None:
            raise Unmet(f"day {index}: there is no {mode} from {ends[0]} to {ends[1]}")


def minimum_nights(query: Query, plan: Plan, sandbox: Sandbox) -> None:
    """A stay is as long as the house asks, where only one house has that name."""
    if any("accommodation" not in day for day in plan):
        raise Unmet("a day has no accommodation")
    for text, run in groupby(day["accommodation"] for day in plan):
        nights = len(list(run))
        name, city = name_and_city(text)
        found = called(sandbox.accommodations(city), "NAME", name) if text not in EMPTY else []
        if len(found) == 1 and nights < (least := number(found[0], "minimum nights")):
            raise Unmet(f"{text} asks for {least:g} nights, {nights} are planned")


def complete_information(query: Query, plan: Plan, sandbox: Sandbox) -> None:
    """As many days and cities as asked for, nothing essential left out, and at least half of it filled in."""
    cities = [city_of(day, index) for index, day in enumerate(plan, 1) if day]
    if sum(city != UNFILLED for city in cities) != query.days:
        raise Unmet(f"the plan does not have {query.days} days")
    if len(set(_city_list(query, plan)) - {query.org}) != query.visiting_city_number:
        raise Unmet(f"not {query.visiting_city_number} cities are visited")
    for index, day in enumerate(plan, 1):
        _complete_day(query, day, index)
    given = sum(text not in EMPTY for day in plan for text in day.values())
    if given / (6 * query.days) < 0.5:
        raise Unmet("more than half of the information is absent")


def _complete_day(query: Query, day: Day, index: int) -> None:
    for field in PLACES:
        if field not in day:
            raise Unmet(f"day {index} has no {field}")
    city = day["current_city"]
    if ("from " in city or "to " in city) and day["transportation"] in EMPTY:
        raise Unmet(f"day {index}: a journey without transportation")
    if "from " not in city and " to " not in city and day["attraction"] in EMPTY:
        raise Unmet(f"day {index}: a stay without attraction")
    if index != query.days and day["accommodation"] in EMPTY:
        raise Unmet(f"day {index} has no accommodation")
    if "from " not in city and any(day[meal] in EMPTY for meal in MEALS):
        raise Unmet(f"day {index}: a stay without all meals")


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
