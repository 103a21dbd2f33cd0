"""A tiny TravelPlanner of our own, laid out as the public repository, with one task and a plan for it."""

from __future__ import annotations

import copy
import csv
import json
from pathlib import Path
from typing import Any

from forethought.evals.benchmarks.travel_planner import FILES
from forethought.evals.environments.checkouts.travel_planner import COMMONSENSE, HARD

Json = dict[str, Any]
_APIS = """
import requests
from utils.func import name_of

LOADED = []


class Table:
    def to_string(self, index):
        return "F1  100"


class Flights:
    def __init__(self):
        LOADED.append("flights")

    def run(self, origin, destination, departure_date):
        return Table() if origin == "Hemsbach" else f"There is no flight from {origin}."


class Cities:
    def run(self, state):
        return {"Lowland": ["Aston", "Brill"]}[state]
"""
_COMMONSENSE = f"""
from tqdm import tqdm
from tools.flights.apis import Flights

print("what is printed is no answer")
flight, accommodation, restaurants, googleDistanceMatrix, attractions = Flights(), *[None] * 4


def _check(name):
    def check(query, plan):
        '''Broken by a plan that names the function; stops at a day without a city.'''
        if name == "is_reasonable_visiting_city":
            [day["current_city"] for day in plan[: query["days"]]]
        broken = name in str(plan)
        return not broken, f"{{name}} is broken" if broken else None
    return check


globals().update({{name: _check(name) for name in {list(COMMONSENSE.values())}}})
"""
_HARD = f"""
from tools.flights.apis import LOADED, Flights

flight = Flights()
assert LOADED == ["flights"], "the flights are read twice"


def get_total_cost(query, plan):
    return 100 * query["people_number"] * len(plan)


def _check(key):
    return lambda query, plan: (query["local_constraint"][key] in str(plan), f"no {{key}}")


globals().update({{name: _check(key) for key, name in {list(HARD.values())}}})
"""
_COSTS = """
from evaluation.hard_constraint import get_total_cost
from tools.flights.apis import Flights


class ReactEnv:
    def __init__(self):
        self.flight = Flights()

    def run(self, tested_data):
        tested_data["transportation"].index("-")
        return f"The cost of your plan is {get_total_cost(tested_data, [tested_data])} dollars."
"""
_CODE = {
    "utils/func.py": "import gradio as gr\n\n\ndef name_of(text):\n    return gr.Error(text)\n",
    "tools/__init__.py": "",
    "tools/flights/apis.py": _APIS,
    "tools/cities/apis.py": "from tools.flights.apis import Cities\n",
    "tools/planner/env.py": _COSTS,
    "evaluation/commonsense_constraint.py": _COMMONSENSE,
    "evaluation/hard_constraint.py": _HARD,
}


def row(**changes: Any) -> Json:
    """The data set's row of the task: five days for two."""
    constraint = dict.fromkeys(("house rule", "cuisine", "room type", "transportation"))
    return {
        "org": "Hemsbach", "dest": "Lowland", "days": 5, "visiting_city_number": 2, "date": "['2022-03-01']",
        "people_number": 2, "local_constraint": repr(constraint), "budget": 5_000,
        "query": "Plan five days in Lowland.", "level": "easy",
        "reference_information": "[{'Description': 'Restaurants in Aston', 'Content': 'Aston  Table 1'}]",
        **changes,
    }  # fmt: skip


def good_plan() -> list[Json]:
    """Meets everything, for 1,000 dollars."""
    fields = ("transportation", "breakfast", "attraction", "lunch", "dinner", "accommodation")
    return [{"days": n, "current_city": "Aston", **dict.fromkeys(fields, "-")} for n in range(1, 6)]


def changed(day: int, **fields: Any) -> list[Json]:
    """The plan with fields of one day changed."""
    plan = copy.deepcopy(good_plan())
    plan[day - 1].update(fields)
    return plan


def write_checkout(folder: Path, split: str = "validation", **columns: Any) -> Path:
    """The repository with its database, and the data set's file of one split."""
    for name, text in {**dict.fromkeys(FILES, ""), **_CODE}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip(), "utf-8")
    with (folder / f"{split}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(row()))
        writer.writeheader()
        writer.writerow(row(**columns))
    return folder


def as_answer(plan: list[Json]) -> str:
    """The plan as an agent would write it."""
    return f"Here is the plan.\n```json\n{json.dumps(plan, indent=1)}\n```\nEnjoy!"
