"""TravelPlanner's evaluation, constraint by constraint, on gold plans and on plans with faults.

The checkout is OSU-NLP-Group/TravelPlanner; `database` is what there is of the unzipped database. The rest
(without it: all) is made of the reference information of the 45 training tasks. Needs pandas.
"""

from __future__ import annotations

import contextlib
import copy
import csv
import importlib
import io
import json
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.agreement.comparison import Comparison
from benchmarks.agreement.travel_planner_training import Task, training_tasks
from forethought.evals.benchmarks.travel_planner.database import FILES, Database
from forethought.evals.benchmarks.travel_planner.hard import total_cost
from forethought.evals.benchmarks.travel_planner.plan import MEALS, PLACES, parse_plan
from forethought.evals.benchmarks.travel_planner.query import query_of_row
from forethought.evals.benchmarks.travel_planner.reference import reference_of
from forethought.evals.benchmarks.travel_planner.sandbox import (
    ACCOMMODATION,
    ATTRACTION,
    FLIGHT,
    RESTAURANT,
    Sandbox,
)
from forethought.evals.benchmarks.travel_planner.scoring import judge
from forethought.evals.benchmarks.travel_planner.text import name_and_city
from forethought.evals.environments.worker import stand_in

Day = dict[str, Any]
FAULTY = 20
"""Plans with faults for each gold plan."""
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
HARD = {
    "budget": "valid_cost",
    "room_rule": "valid_room_rule",
    "cuisine": "valid_cuisine",
    "room_type": "valid_room_type",
    "transportation": "valid_transportation",
}
_COLUMNS: dict[str, Sequence[str]] = {
    "attractions": ATTRACTION,
    "restaurants": RESTAURANT,
    "accommodations": ACCOMMODATION,
    "flights": FLIGHT,
    "distances": ("origin", "destination", "duration", "distance"),
}
_ROAD = re.compile(r"self-driving, from (.+) to (.+), duration: (.+), distance: (.+), cost: .+")


def _build_database(tasks: Sequence[Task], given: Path | None, folder: Path) -> None:
    """The six files of the database in `folder`: those of `given`, else from the reference information."""
    rows: dict[str, dict[tuple[Any, ...], None]] = {table: {} for table in FILES}
    states = {task.row["org"]: "Elsewhere" for task in tasks}
    for task in tasks:
        for title, content in task.tables.items():
            table = title.split()[0].lower().replace("flight", "flights")
            if isinstance(content, list):
                rows[table] |= dict.fromkeys(tuple(row[name] for name in _COLUMNS[table]) for row in content)
            elif road := _ROAD.fullmatch(content):
                rows["distances"][road.groups()] = None
            if title.startswith("Attractions in ") and task.row["days"] > 3:
                states[title.removeprefix("Attractions in ")] = task.row["dest"]
            elif title.startswith("Attractions in "):
                states.setdefault(title.removeprefix("Attractions in "), "Elsewhere")
    for table, name in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if given and (given / name).is_file():
            (folder / name).symlink_to(given / name)
        elif table == "states":
            (folder / name).write_text(
                "\n".join(f"{city}\t{state}" for city, state in states.items()), "utf-8"
            )
        else:
            with (folder / name).open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([_COLUMNS[table], *rows[table]])


def _faulty(plan: Sequence[Day], query: Mapping[str, Any], sandbox: Sandbox, rng: random.Random) -> list[Day]:
    """The plan with one or two faults."""
    days = copy.deepcopy([day for day in plan if day])
    for _ in range(rng.choice((1, 1, 2))):
        _put_fault(days, query, sandbox, rng)
    return days


def _put_fault(days: list[Day], query: Mapping[str, Any], sandbox: Sandbox, rng: random.Random) -> None:
    day, other, field = rng.choice(days), rng.choice(days), rng.choice([*PLACES, "current_city"])
    city, kind = str(day.get("current_city", "-")), rng.randrange(10)
    if kind == 0 and len(days) > 1:
        days.remove(day)
    elif kind == 1:
        days.insert(1, copy.deepcopy(other))
    elif kind == 2:
        days[0], days[-1] = days[-1], days[0]
    elif kind == 3:
        day.pop(field, None)
    elif kind == 4:
        day[field] = rng.choice(["-", "", other.get(field, "-"), str(day.get(field, "-")) * 2])
    elif kind == 5:
        day["current_city"] = rng.choice(
            ["Atlantis", query["org"], "Denver", city.replace(query["org"], "Omaha")]
        )
    elif kind == 6:
        flights = [
            f"Flight Number: F0000000, {city}, Departure Time: 05:38",
            f"flight number F3573659, {city}",
        ]
        roads = [f"Self-driving, {city}, duration: 1 hour, distance: 9 km, cost: 1", f"Taxi, {city}"]
        day["transportation"] = rng.choice([*flights, *roads, "Train, at noon"])
    elif kind == 7:
        place = str(day.get(field, "-")).rpartition(",")[2].strip(" ;")
        day[field] = rng.choice(
            [f"The Nowhere, {place}", f"The Nowhere, {place};", f"Subway, {query['org']}"]
        )
    else:
        for meal in MEALS if kind == 8 else ():
            _replace(day, meal, sandbox.restaurants, "Name", rng)
        for one in days if kind == 9 else ():
            _replace(one, "accommodation", sandbox.accommodations, "NAME", rng)


def _replace(day: Day, field: str, rows_in: Any, column: str, rng: random.Random) -> None:
    """Another place of the same city."""
    _, city = name_and_city(str(day.get(field, "-")))
    if rows := rows_in(city):
        day[field] = f"{rng.choice(rows)[column]}, {day[field].rpartition(',')[2].strip()}"


def _official(commonsense: Any, hard: Any, query: Mapping[str, Any], plan: list[Day]) -> dict[str, Any]:
    """What the official functions say of a plan; "error" where one fails."""
    found: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for name, function in COMMONSENSE.items():
            try:
                found[name] = bool(getattr(commonsense, function)(query, plan)[0])
            except Exception:
                found[name] = "error"
        if found["within_sandbox"] is True and found["complete_information"] is True:
            try:
                outcomes = hard.evaluation(query, plan)
                found |= {f"hard_{name}": outcomes[key][0] for name, key in HARD.items()}
                found["cost"] = float(hard.get_total_cost(query, plan))
            except Exception:
                found |= dict.fromkeys((f"hard_{name}" for name in HARD), "error")
    return found


def _ours(row: Mapping[str, Any], plan: list[Day], sandbox: Sandbox) -> dict[str, Any]:
    query, days = query_of_row(row), parse_plan(json.dumps(plan))
    judged = judge(query, days, sandbox)
    found: dict[str, Any] = {name: outcome.met for name, outcome in judged.commonsense.items()}
    if judged.hard:
        found |= {f"hard_{name}": outcome.met for name, outcome in judged.hard.items()}
        found["cost"] = total_cost(query, days[: query.days], sandbox)
    return found


def _cases(tasks: Sequence[Task], sandbox: Sandbox, repo: Path) -> Iterator[tuple[dict[str, Any], list[Day]]]:
    """Gold plans, faulty ones, and the repository's example plans for the last query."""
    for number, task in enumerate(tasks):
        rng = random.Random(number)
        yield task.row, [day for day in task.plan if day]
        for _ in range(FAULTY):
            yield task.row, _faulty(task.plan, task.row, sandbox, rng)
    for line in (repo / "postprocess/example_evaluation.jsonl").read_text("utf-8").splitlines():
        if plan := [day for day in json.loads(line)["plan"] or () if day]:
            # Some end with a record of costs, which is no day.
            yield {**tasks[-1].row, "days": sum("current_city" in day for day in plan)}, plan


def _printed_tables(tasks: Sequence[Task]) -> Comparison:
    """The printed reference information, read into the same cells as the JSON one."""
    found = Comparison("TravelPlanner, cells of printed reference information")
    for task in tasks:
        tables, printed = reference_of(task.tables), reference_of(task.printed)
        for title, rows in tables.items():
            if isinstance(rows, str):
                found.add(rows, printed[title], title)
                continue
            for one, two in zip(rows, printed[title], strict=True):
                for name, cell in one.items():
                    found.add(_cell(cell, two[name]), two[name], title)  # type: ignore[index]
    return found


def _cell(value: Any, printed: Any) -> Any:
    """What is to be read of a printed cell: numbers within rounding; texts show a line break as \\n."""
    if isinstance(value, int | float):
        return printed if abs(float(printed) - value) < 1e-3 else value
    return str(value).strip().replace("\n", "\\n")


def compare(travel_planner: Path, database: Path | None = None) -> Iterable[Comparison]:
    """Each constraint and the cost of every plan, by both."""
    tasks = training_tasks(travel_planner)
    yield _printed_tables(tasks)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _build_database(tasks, database, folder / "database")
        for part in ("evaluation", "tools", "utils"):
            shutil.copytree(travel_planner / part, folder / part)
        stand_in(quiet=("gradio", "datasets"))
        sys.path[:0] = [str(folder), str(folder / "evaluation")]
        os.chdir(folder / "evaluation")
        with contextlib.redirect_stdout(io.StringIO()):
            commonsense = importlib.import_module("commonsense_constraint")
            hard = importlib.import_module("hard_constraint")
        names = [*COMMONSENSE, *(f"hard_{name}" for name in HARD), "cost"]
        found = {name: Comparison(f"TravelPlanner, {name}") for name in names}
        sandbox = Database(folder / "database")
        for row, plan in _cases(tasks, sandbox, travel_planner):
            theirs, mine = _official(commonsense, hard, row, copy.deepcopy(plan)), _ours(row, plan, sandbox)
            for name in names:
                if name in theirs or name in mine:
                    failed = theirs.get(name) == "error"
                    reason = "the official evaluation stops with an error"
                    case = json.dumps(plan)
                    found[name].add(
                        theirs.get(name), mine.get(name), case, reason if failed else "unexplained"
                    )
    yield from found.values()
