"""A small world to travel in: two cities of a state, a way there, and a plan that meets every constraint."""

from __future__ import annotations

import copy
import csv
import json
from pathlib import Path
from typing import Any

from forethought.evals.benchmarks.travel_planner.database import FILES
from forethought.evals.benchmarks.travel_planner.query import Query
from forethought.evals.benchmarks.travel_planner.reference import ReferenceSandbox
from forethought.evals.benchmarks.travel_planner.sandbox import ACCOMMODATION, ATTRACTION, FLIGHT, RESTAURANT

Json = dict[str, Any]
HOME, STATE = "Hemsbach", "Lowland"
CITIES = ("Aston", "Brill")


def _restaurants(city: str) -> list[Json]:
    kinds = ("French, Cafe", "Indian", "Cafe", "Tea, Indian", "Pizza", "Cafe", "Tea", "BBQ")
    names = [f"{city} Table {n}" for n in range(1, 9)]
    names[2] = f"{city}, Old  Mill"
    rows = zip(names, range(10, 90, 10), kinds, strict=True)
    return [dict(zip(RESTAURANT, (name, cost, kind, 4.0, city), strict=True)) for name, cost, kind in rows]


def _attractions(city: str) -> list[Json]:
    return [
        dict(
            zip(
                ATTRACTION,
                (f"{city} Museum {n}", 1.5, 2.5, f"{n} High St, {city}", "1", "w", city),
                strict=True,
            )
        )
        for n in range(1, 5)
    ]


def _accommodations(city: str) -> list[Json]:
    rows = [
        (f"{city} House", 100.0, "Entire home/apt", "No pets", 1.0, 2, 4.0, city),
        (f"{city} Long Stay", 50.0, "Private room", "No smoking", 5.0, 2, 4.0, city),
        (f"{city} Dorm", 20.0, "Shared room", "No parties & No visitors", 1.0, 1, 3.0, city),
    ]
    return [dict(zip(ACCOMMODATION, row, strict=True)) for row in rows]


def _flight(number: str, price: int, date: str, origin: str, destination: str) -> Json:
    row = (number, price, "09:00", "11:00", "2 hours 0 minutes", date, origin, destination, 300.0)
    return dict(zip(FLIGHT, row, strict=True))


def reference() -> Json:
    """The reference information, as JSON."""
    made: Json = {}
    for city in CITIES:
        made[f"Attractions in {city}"] = _attractions(city)
        made[f"Restaurants in {city}"] = _restaurants(city)
        made[f"Accommodations in {city}"] = _accommodations(city)
    dates = ("2022-03-01", "2022-03-03", "2022-03-05")
    legs = [(HOME, CITIES[0]), (CITIES[0], CITIES[1]), (CITIES[1], HOME)]
    for number, (date, (origin, destination)) in enumerate(zip(dates, legs, strict=True), 1):
        ends = f"from {origin} to {destination}"
        made[f"Flight {ends} on {date}"] = (
            [_flight(f"F000000{number}", 100, date, origin, destination)]
            if number != 2
            else f"There is no flight {ends} on {date}."
        )
        road = f"{ends}, duration: 3 hours 5 mins, distance: 1,200 km, cost:"
        made[f"Self-driving {ends}"] = f"self-driving, {road} 60"
        made[f"Taxi {ends}"] = f"taxi, {road} 1200"
    return made


def query(**changes: Any) -> Query:
    """Five days, two cities, two travellers."""
    given: Json = {
        "org": HOME, "dest": STATE, "days": 5, "visiting_city_number": 2, "people_number": 2,
        "budget": 5_000.0, "level": "easy",
    }  # fmt: skip
    return Query(**{**given, **changes})


def row(**changes: Any) -> Json:
    """The dataset's row for `query()`."""
    return {
        "org": HOME, "dest": STATE, "days": 5, "visiting_city_number": 2, "date": "['2022-03-01']",
        "people_number": 2,
        "local_constraint": repr(dict.fromkeys(("house rule", "cuisine", "room type", "transportation"))),
        "budget": 5_000, "query": "Plan five days in Lowland.", "level": "easy", **changes,
    }  # fmt: skip


def good_plan() -> list[Json]:
    """Meets every commonsense constraint; it costs 2 * (100 + 100) + 1200 + 800 + 2 * 440 dollars."""
    a, b = (f"{city}({STATE})" for city in CITIES)
    return [
        _day(1, f"from {HOME} to {a}", f"Flight Number: F0000001, from {HOME} to {a}, Departure Time: 09:00",
             "--1", f"Aston Museum 1, {a};", f"Aston House, {a}", a),
        _day(2, a, "-", "234", f"Aston Museum 2, {a};Aston Museum 3, {a};", f"Aston House, {a}", a),
        _day(3, f"from {a} to {b}", f"Taxi, from {a} to {b}, duration: 3 hours, distance: 1,200 km",
             "5--", "-", f"Brill House, {b}", a),
        _day(4, b, "-", "123", f"Brill Museum 1, {b};", f"Brill House, {b}", b),
        _day(5, f"from {b} to {HOME}", f"Flight Number: F0000003, from {b} to {HOME}, Departure Time: 09:00",
             "45-", "-", "-", b),
    ]  # fmt: skip


def _day(number: int, city: str, transport: str, meals: str, visits: str, house: str, eats_in: str) -> Json:
    names = {"-": "-"} | {
        str(n): f"{item['Name']}, {eats_in}"
        for n, item in enumerate(_restaurants(eats_in.partition("(")[0]), 1)
    }
    breakfast, lunch, dinner = (names[meal] for meal in meals)
    return {
        "days": number, "current_city": city, "transportation": transport, "breakfast": breakfast,
        "attraction": visits, "lunch": lunch, "dinner": dinner, "accommodation": house,
    }  # fmt: skip


def changed(day: int, **fields: Any) -> list[Json]:
    """The good plan with fields of one day changed; a field that is None is taken out."""
    plan = copy.deepcopy(good_plan())
    plan[day - 1].update(fields)
    plan[day - 1] = {name: value for name, value in plan[day - 1].items() if value is not None}
    return plan


def reference_sandbox() -> ReferenceSandbox:
    """The world as the reference information has it."""
    return ReferenceSandbox(reference(), HOME, STATE)


def write_database(folder: Path) -> Path:
    """The world as a database folder, with a row that has an empty cell, and a flight of other cities."""
    tables: dict[str, list[Json]] = {
        "attractions": [],
        "restaurants": [],
        "accommodations": [],
        "flights": [],
    }
    roads: list[Json] = []
    for title, content in reference().items():
        kind = title.split()[0].lower().replace("flight", "flights")
        if isinstance(content, list):
            tables[kind] += content
        elif title.startswith("Self-driving"):
            origin, destination = title.removeprefix("Self-driving from ").split(" to ")
            road = {"duration": "3 hours 5 mins", "distance": "1,200 km"}
            roads.append({"origin": origin, "destination": destination, "cost": "", **road})
    tables["restaurants"].append(dict(zip(RESTAURANT, ("Nameless", 5, "", 1.0, "Aston"), strict=True)))
    tables["flights"].insert(1, _flight("F9999999", 1, "2022-03-01", "Elsewhere", "Aston"))
    far = {
        "origin": HOME,
        "destination": "Brill",
        "cost": "",
        "duration": "1 day 2 hours",
        "distance": "9,999 km",
    }
    for name, rows in {**tables, "distances": [*roads, far]}.items():
        path = folder / FILES[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    states = folder / FILES["states"]
    states.parent.mkdir(parents=True, exist_ok=True)
    states.write_text("".join(f"{city}\t{STATE}\n" for city in CITIES) + f"{HOME}\tUpland", "utf-8")
    return folder


def write_data(folder: Path, split: str = "validation", information: Any = None, **columns: Any) -> Path:
    """A data folder with one task and its reference information."""
    given = {**row(), **columns}
    (folder / "database").mkdir(parents=True, exist_ok=True)
    tables = folder / "database" / f"{split}_ref_info.jsonl"
    tables.write_text(json.dumps(reference() if information is None else information) + "\n", "utf-8")
    with (folder / f"{split}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(given))
        writer.writeheader()
        writer.writerow(given)
    return folder


def as_answer(plan: list[Json]) -> str:
    """The plan as an agent would write it."""
    return f"Here is the plan.\n```json\n{json.dumps(plan, indent=1)}\n```\nEnjoy!"
