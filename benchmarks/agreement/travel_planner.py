"""TravelPlanner's evaluation, constraint by constraint, on the gold plans and the repository's examples.

The checkout is OSU-NLP-Group/TravelPlanner; the database is made of the reference information of its 45
training tasks. Needs pandas.
"""

from __future__ import annotations

import contextlib
import copy
import csv
import importlib
import io
import json
import os
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
from forethought.evals.benchmarks.travel_planner.plan import parse_plan
from forethought.evals.benchmarks.travel_planner.query import query_of_row
from forethought.evals.benchmarks.travel_planner.sandbox import (
    ACCOMMODATION,
    ATTRACTION,
    FLIGHT,
    RESTAURANT,
    Sandbox,
)
from forethought.evals.benchmarks.travel_planner.scoring import judge
from forethought.evals.environments.worker import stand_in

Day = dict[str, Any]
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


def _build_database(tasks: Sequence[Task], folder: Path) -> None:
    """The six files of the database in `folder`, from the reference information."""
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
        if table == "states":
            (folder / name).write_text(
                "\n".join(f"{city}\t{state}" for city, state in states.items()), "utf-8"
            )
        else:
            with (folder / name).open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([_COLUMNS[table], *rows[table]])


def _official(commonsense: Any, hard: Any, query: Mapping[str, Any], plan: list[Day]) -> dict[str, Any]:
    """What the official functions say of a plan."""
    with contextlib.redirect_stdout(io.StringIO()):
        found: dict[str, Any] = {
            name: bool(getattr(commonsense, function)(query, plan)[0])
            for name, function in COMMONSENSE.items()
        }
        if found["within_sandbox"] and found["complete_information"]:
            outcomes = hard.evaluation(query, plan)
            found |= {f"hard_{name}": outcomes[key][0] for name, key in HARD.items()}
            found["cost"] = float(hard.get_total_cost(query, plan))
    return found


def _ours(row: Mapping[str, Any], plan: list[Day], sandbox: Sandbox) -> dict[str, Any]:
    """What our functions say of it, in the same words; a constraint that the query lacks is None there."""
    query, days = query_of_row(row), parse_plan(json.dumps(plan))
    judged = judge(query, days, sandbox)
    found: dict[str, Any] = dict(judged.commonsense)
    if judged.hard:
        found |= {f"hard_{name}": judged.hard.get(name) for name in HARD}
        found["cost"] = total_cost(query, days[: query.days], sandbox)
    return found


def _cases(tasks: Sequence[Task], repo: Path) -> Iterator[tuple[dict[str, Any], list[Day]]]:
    """Gold plans, and the repository's example plans for the last query."""
    for task in tasks:
        yield task.row, [day for day in task.plan if day]
    for line in (repo / "postprocess/example_evaluation.jsonl").read_text("utf-8").splitlines():
        if plan := [day for day in json.loads(line)["plan"] or () if day]:
            # Some end with a record of costs, which is no day.
            yield {**tasks[-1].row, "days": sum("current_city" in day for day in plan)}, plan


def compare(travel_planner: Path) -> Iterable[Comparison]:
    """Each constraint and the cost of every plan, by both."""
    tasks = training_tasks(travel_planner)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _build_database(tasks, folder / "database")
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
        for row, plan in _cases(tasks, travel_planner):
            theirs, mine = _official(commonsense, hard, row, copy.deepcopy(plan)), _ours(row, plan, sandbox)
            for name in {**theirs, **mine}:
                found[name].add(theirs.get(name), mine.get(name), json.dumps(plan))
    yield from found.values()
