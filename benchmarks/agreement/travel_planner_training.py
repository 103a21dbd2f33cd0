"""TravelPlanner's training set out of a checkout of its repository, which holds its queries, plans and
reference information, but not the columns that say what a query asks for: those are read out of the queries.

    python -m benchmarks.agreement.travel_planner_training --repo TravelPlanner --out DATA

writes DATA/train.jsonl and DATA/database/train_ref_info.jsonl, on which `forethought eval run travelplanner
--data DATA --option split=train` runs without the gated data set.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CUISINES = ("American", "Mediterranean", "Chinese", "Italian", "Indian", "French", "Mexican")
LOCAL_CONSTRAINTS = 60
"""What the official evaluation counts for the training set: 105 hard constraints, 45 of them budgets."""
_NUMBERS = {"one": 1, "two": 2, "three": 3, "a pair": 2, "a single": 1}
_PEOPLE = re.compile(
    r"(?:group|party) of (\w+)|(\w+) (?:people|individuals|persons?)\b|for (two|a pair)\b", re.IGNORECASE
)
_RULES = {
    "parties": r"\bparties\b",
    "smoking": r"\bsmoking\b",
    "children under 10": r"\bchildren under (?:the age of )?10\b",
    "pets": r"\bpets?\b|pet-friendly",
    "visitors": r"\bvisitors\b",
}
_ROOMS = {"private room": r"private rooms?", "entire room": r"entire rooms?"}
_TRAVEL = {
    "no flight": r"(?:not|no|avoid)[^.]*\b(?:flights?|flying|flight)\b",
    "no self-driving": r"non-self-driving|not plan (?:on self-driving|to drive)|don't plan to self-drive",
}


@dataclass(frozen=True)
class Task:
    """One training task: the dataset's row, its gold plan, and the reference information."""

    row: dict[str, Any]
    plan: list[dict[str, Any]]
    tables: dict[str, Any]


def training_tasks(repo: Path) -> list[Task]:
    """The 45 tasks in order. Raises ValueError where the constraints read are not as many as there are."""
    conversations = _json_lines(repo / "finetuning_data" / "std_travelplanner.jsonl")
    tables = _json_lines(repo / "database" / "train_ref_info.jsonl")
    tasks = [_task(*item) for item in zip(range(len(tables)), conversations, tables, strict=True)]
    found = sum(value is not None for task in tasks for value in task.row["local_constraint"].values())
    if found != LOCAL_CONSTRAINTS:
        raise ValueError(
            f"{found} local constraints were read out of the queries, {LOCAL_CONSTRAINTS} there are"
        )
    return tasks


def _json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _task(index: int, conversation: dict[str, Any], tables: dict[str, Any]) -> Task:
    _, asked, answered = (message["content"] for message in conversation["messages"])
    query, plan = asked.rpartition("\nQuery:")[2], ast.literal_eval(answered)
    return Task(_row(index, query.strip(), plan, tables), plan, tables)


def _row(index: int, query: str, plan: Sequence[dict[str, Any]], tables: dict[str, Any]) -> dict[str, Any]:
    days = [day for day in plan if day]
    first = re.fullmatch(r"from (.+) to ([^(]+)(?:\((.+)\))?", days[0]["current_city"])
    budget = re.search(r"\$([\d,]+)", query)
    if first is None or budget is None:
        raise ValueError(f"no journey or no budget can be read out of: {query}")
    dates = sorted({found[0] for title in tables if (found := re.search(r"\d{4}-\d\d-\d\d", title))})
    return {
        "org": first[1],
        "dest": first[3] or first[2],
        "days": len(days),
        "visiting_city_number": (len(days) - 1) // 2,
        "date": dates,
        "people_number": _people(query),
        "local_constraint": {
            "house rule": _named(_RULES, query),
            "cuisine": [name for name in CUISINES if re.search(rf"\b{name}\b", query)] or None,
            "room type": _named(_ROOMS, query),
            "transportation": _named(_TRAVEL, query),
        },
        "budget": int(budget[1].replace(",", "")),
        "query": query,
        "level": ("easy", "medium", "hard")[index // 15],
    }


def _named(patterns: dict[str, str], query: str) -> str | None:
    return next((name for name, text in patterns.items() if re.search(text, query, re.IGNORECASE)), None)


def _people(query: str) -> int:
    found = _PEOPLE.search(query)
    if found is None:
        return 1
    word = next(part for part in found.groups() if part).lower()
    return int(word) if word.isdigit() else _NUMBERS.get(word, 1)


def main() -> None:
    """Write the training set as a data folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "--repo", type=Path, required=True, help="checkout of github.com/OSU-NLP-Group/TravelPlanner"
    )
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    tasks = training_tasks(given.repo)
    (given.out / "database").mkdir(parents=True, exist_ok=True)
    rows = "".join(json.dumps(task.row, ensure_ascii=False) + "\n" for task in tasks)
    (given.out / "train.jsonl").write_text(rows, "utf-8")
    tables = "".join(json.dumps(task.tables, ensure_ascii=False) + "\n" for task in tasks)
    (given.out / "database" / "train_ref_info.jsonl").write_text(tables, "utf-8")
    print(f"{len(tasks)} tasks in {given.out}")


if __name__ == "__main__":
    main()
