"""Holds our TravelPlanner scorer against the official evaluation, constraint by constraint.

    git clone https://github.com/OSU-NLP-Group/TravelPlanner
    python benchmarks/agreement/travel_planner.py --repo TravelPlanner [--database FOLDER]

Judged are the 45 gold plans of the training set, each of them with every fault of `travel_planner_perturbed`,
and the 180 plans of its `example_evaluation.jsonl` against one query. What the database folder lacks (without
the option: all of it) is made of the reference information of the 45 training tasks, in a temporary folder.
Needs pandas. Exits with 1 where a disagreement is none of the known ones.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from travel_planner_perturbed import perturbed
from travel_planner_training import Task, training_tasks

from forethought.evals.benchmarks.travel_planner.commonsense import COMMONSENSE
from forethought.evals.benchmarks.travel_planner.database import FILES, Database
from forethought.evals.benchmarks.travel_planner.hard import HARD, total_cost
from forethought.evals.benchmarks.travel_planner.plan import parse_plan
from forethought.evals.benchmarks.travel_planner.query import query_of_row
from forethought.evals.benchmarks.travel_planner.reference import ReferenceSandbox, reference_of
from forethought.evals.benchmarks.travel_planner.sandbox import (
    ACCOMMODATION,
    ATTRACTION,
    FLIGHT,
    RESTAURANT,
    Sandbox,
)
from forethought.evals.benchmarks.travel_planner.scoring import judge, micro_rates, values_of

OFFICIAL = Path(__file__).with_name("travel_planner_official.py")
TOTALS = {
    "Delivery Rate": "delivery",
    "Commonsense Constraint Micro Pass Rate": "commonsense_micro",
    "Commonsense Constraint Macro Pass Rate": "commonsense_macro",
    "Hard Constraint Micro Pass Rate": "hard_micro",
    "Hard Constraint Macro Pass Rate": "hard_macro",
    "Final Pass Rate": "final_pass",
}


@dataclass(frozen=True)
class Case:
    """A plan to be judged by both."""

    kind: str
    row: Mapping[str, Any]
    plan: list[dict[str, Any]]


COLUMNS = {
    "attractions": ATTRACTION,
    "restaurants": RESTAURANT,
    "accommodations": ACCOMMODATION,
    "flights": FLIGHT,
    "distances": ("origin", "destination", "duration", "distance"),
}
ROAD = re.compile(r"self-driving, from (.+) to (.+), duration: (.+), distance: (.+), cost: .+")
Rows = dict[str, dict[tuple[Any, ...], None]]
"""The rows of each table, each once, in order."""


def build_database(tasks: Sequence[Task], given: Path | None, folder: Path) -> None:
    """The six files of the database in `folder`: those of `given`, else from the reference information."""
    rows = reference_rows(tasks)
    for table, name in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if given and (given / name).is_file():
            (folder / name).symlink_to((given / name).resolve())
        elif table == "states":
            # The destination of one task may be the departure of another: its state is what counts.
            known: dict[Any, Any] = dict(sorted(rows[table], key=lambda one: one[1] != "Elsewhere"))
            (folder / name).write_text(
                "\n".join(f"{city}\t{state}" for city, state in known.items()), "utf-8"
            )
        else:
            with (folder / name).open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(COLUMNS[table])
                writer.writerows(rows[table])


def reference_rows(tasks: Sequence[Task]) -> Rows:
    """What the reference information of all tasks holds, as rows of the database."""
    rows: Rows = {table: {} for table in FILES}
    for task in tasks:
        rows["states"][task.row["org"], "Elsewhere"] = None
        for title, content in task.tables.items():
            table = title.split()[0].lower().replace("flight", "flights")
            if isinstance(content, list):
                rows[table] |= dict.fromkeys(tuple(row[name] for name in COLUMNS[table]) for row in content)
            elif road := ROAD.fullmatch(content):
                rows["distances"][road.groups()] = None
            if title.startswith("Attractions in "):
                state = task.row["dest"] if task.row["days"] > 3 else "Elsewhere"
                rows["states"][title.removeprefix("Attractions in "), state] = None
    return rows


def official(folder: Path, lines: Iterable[Mapping[str, Any]]) -> list[Any]:
    """What the official evaluation says of each line."""
    done = subprocess.run(
        [sys.executable, str(OFFICIAL), str(folder)],
        input="".join(json.dumps(line) + "\n" for line in lines),
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"the official code failed: {done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def ours(case: Case, sandbox: Sandbox) -> tuple[dict[str, Any], dict[str, float]]:
    """Our outcome by constraint, in the official's form, and the metrics."""
    query, plan = query_of_row(case.row), parse_plan(json.dumps(case.plan))
    judged = judge(query, plan, sandbox)
    found: dict[str, Any] = {name: outcome.met for name, outcome in judged.commonsense.items()}
    if judged.hard:
        found |= {f"hard_{name}": outcome.met for name, outcome in judged.hard.items()}
        found["cost"] = total_cost(query, plan[: query.days], sandbox)
    return found, values_of(query, judged)


def explained(theirs: Any, mine: Any) -> str:
    """Why the two may part; '' where there is no known reason."""
    return (
        "the official evaluation stops with an error; ours: not met"
        if theirs == "error" and mine is not True
        else ""
    )


def compare(
    cases: Sequence[Case], theirs: Sequence[Any], sandbox: Sandbox
) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Counts by constraint and result, and the disagreements that nothing explains."""
    counts: Counter[tuple[str, str]] = Counter()
    amiss = []
    for case, there in zip(cases, theirs, strict=True):
        here, _ = ours(case, sandbox)
        for name in [*COMMONSENSE, *(f"hard_{name}" for name in HARD), "cost"]:
            if name not in there and name not in here:
                continue
            one, two = there.get(name, "not judged"), here.get(name, "not judged")
            if one == two:
                counts[name, f"both {one}" if name != "cost" else "equal"] += 1
            elif why := explained(one, two):
                counts[name, why] += 1
            else:
                counts[name, "DISAGREE"] += 1
                amiss.append(f"{case.kind} {name}: official {one}, ours {two}: {json.dumps(case.plan)[:400]}")
    return counts, amiss


def cases_of(tasks: Sequence[Task], sandbox: Sandbox, repo: Path) -> list[Case]:
    """The gold plans, the perturbed ones, and the repository's example plans for the last query."""
    gold = [Case("gold", task.row, [day for day in task.plan if day]) for task in tasks]
    faulty = [
        Case(kind, task.row, plan)
        for seed, task in enumerate(tasks)
        for kind, plan in perturbed(task.plan, task.row, sandbox, seed).items()
    ]
    lines = (repo / "postprocess" / "example_evaluation.jsonl").read_text("utf-8").splitlines()
    plans = [[day for day in plan if day] for line in lines if (plan := json.loads(line)["plan"])]
    # Some end with a record of costs, which is no day.
    examples = [
        Case("example", {**tasks[-1].row, "days": sum("current_city" in day for day in plan)}, plan)
        for plan in plans
    ]
    return [*gold, *faulty, *examples]


def compare_totals(cases: Sequence[Case], folder: Path, sandbox: Sandbox) -> list[str]:
    """Holds the rates over each set of 45 plans against the official totals; what differs."""
    kinds = [kind for kind in dict.fromkeys(case.kind for case in cases) if kind != "example"]
    sets = [[case for case in cases if case.kind == kind] for kind in kinds]
    asked = [{"queries": [case.row for case in one], "plans": [case.plan for case in one]} for one in sets]
    differing, stopped = [], []
    for kind, one, theirs in zip(kinds, sets, official(folder, asked), strict=True):
        if isinstance(theirs, str):
            stopped.append(f"{kind} ({theirs.partition(':')[0]})")
            continue
        mine = rates([ours(case, sandbox)[1] for case in one])
        differing += [
            f"{kind}: {name} is {theirs[name]:.4f} officially, {mine[key]:.4f} here"
            for name, key in TOTALS.items()
            if abs(theirs[name] - mine[key]) > 1e-9
        ]
        if kind == "gold":
            print("gold plans: " + ", ".join(f"{key} {mine[key]:.1%}" for key in TOTALS.values()))
    print(f"totals of {len(sets) - len(stopped)} sets of 45 plans (6 rates each): {len(differing)} differ")
    print(f"the official totals stop at a plan of {len(stopped)} sets: {', '.join(stopped)}")
    return differing


def rates(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The six rates of the paper."""
    means = {
        name: sum(one[name] for one in values) / len(values) for name in TOTALS.values() if name in values[0]
    }
    return {**means, **micro_rates(values)}


def printed_tables(tasks: Sequence[Task]) -> list[str]:
    """Whether the printed reference information is read into the same cells as the JSON one."""
    cells, amiss = 0, []
    for number, task in enumerate(tasks, 1):
        tables, printed = reference_of(task.tables), reference_of(task.printed)
        for title, rows in tables.items():
            there = printed.get(title)
            if isinstance(rows, str) or not isinstance(there, list):
                amiss += [f"task {number}, {title}"] if rows != there else []
                continue
            for one, two in zip(rows, there, strict=True):
                cells += len(one)
                amiss += [
                    f"task {number}, {title}: {two[name]!r}"
                    for name in one
                    if not _same(one[name], two[name])
                ]
    print(f"printed reference information: {cells} cells read as in the JSON, {len(amiss)} differ")
    return amiss


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, int | float):
        return abs(float(two) - one) < 1e-3
    # Printed tables show a line break as \\n and lose spaces at the ends.
    return bool(str(one).strip().replace("\n", "\\n") == two)


def reference_alone(tasks: Sequence[Task], cases: Sequence[Case], theirs: Sequence[Any]) -> None:
    """What changes where a plan is held against its own reference information instead of the database."""
    alone = {
        task.row["query"]: ReferenceSandbox(reference_of(task.tables), task.row["org"], task.row["dest"])
        for task in tasks
    }
    own = [(case, there) for case, there in zip(cases, theirs, strict=True) if case.kind != "example"]
    parted: Counter[str] = Counter()
    for case, there in own:
        here, _ = ours(case, alone[case.row["query"]])
        names = [name for name in COMMONSENSE if there[name] != "error" and there[name] != here.get(name)]
        parted.update(f"{name}, {case.kind}" for name in names)
    print(f"against the reference information alone, {parted.total()} outcomes of {len(own)} plans change:")
    print("  " + "; ".join(f"{name}: {count}" for name, count in parted.most_common()))


def main() -> int:
    """Compare and print; 1 where something is amiss."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--repo", type=Path, required=True)
    parser.add_argument("--database", type=Path, help="the unzipped database, or what there is of it")
    given = parser.parse_args()
    tasks = training_tasks(given.repo)
    amiss = printed_tables(tasks)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_database(tasks, given.database, folder / "database")
        for part in ("evaluation", "tools", "utils"):
            shutil.copytree(given.repo / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        sandbox = Database(folder / "database")
        cases = cases_of(tasks, sandbox, given.repo)
        theirs = official(folder, ({"query": case.row, "plan": case.plan} for case in cases))
        counts, more = compare(cases, theirs, sandbox)
        amiss += more
        amiss += compare_totals(cases, folder, sandbox)
    kinds = Counter(case.kind if case.kind in ("gold", "example") else "perturbed" for case in cases)
    print(f"{len(cases)} plans: {dict(kinds)}")
    for (constraint, result), count in sorted(counts.items()):
        print(f"  {constraint:28} {result:60} {count}")
    reference_alone(tasks, cases, theirs)
    print("\n".join(amiss) or "no unexplained disagreement")
    return bool(amiss)


if __name__ == "__main__":
    sys.exit(main())
