"""Runs TravelPlanner's own evaluation, in a process of its own: its package `tools` has the name of ours.

    python travel_planner_official.py FOLDER < cases.jsonl > outcomes.jsonl

FOLDER holds its evaluation, tools, utils and database. A case is {"query", "plan"}, its outcome maps each
constraint to true, false, null or "error"; or it is {"queries", "plans"}, its outcome the six rates.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import types
from pathlib import Path
from typing import Any

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


def judged(commonsense: Any, hard: Any, query: dict[str, Any], plan: list[Any]) -> dict[str, Any]:
    """What its functions say of one plan."""
    found: dict[str, Any] = {}
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
            found |= {f"hard_{name}": "error" for name in HARD}
    return found


def totals(evaluation: Any, queries: list[Any], plans: list[Any], folder: Path) -> dict[str, float] | str:
    """What its `eval_score` makes of the whole training set."""
    evaluation.load_dataset = lambda *_, **__: {"train": json.loads(json.dumps(queries))}
    path = folder / "plans.jsonl"
    path.write_text("".join(json.dumps({"plan": plan}) + "\n" for plan in plans), "utf-8")
    try:
        return dict(evaluation.eval_score("train", str(path))[0])
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main() -> None:
    """Judge every case, then every set of 45 as a whole."""
    folder = Path(sys.argv[1]).resolve()
    for name in ("gradio", "datasets"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["datasets"].load_dataset = None  # type: ignore[attr-defined]
    sys.modules["gradio"].Error = Exception  # type: ignore[attr-defined]
    sys.path[:0] = [str(folder), str(folder / "evaluation")]
    os.chdir(folder / "evaluation")
    out = sys.stdout
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        import commonsense_constraint  # type: ignore[import-not-found]
        import eval as evaluation  # type: ignore[import-not-found]
        import hard_constraint  # type: ignore[import-not-found]

        for line in sys.stdin:
            case = json.loads(line)
            if "plans" in case:
                found: Any = totals(evaluation, case["queries"], case["plans"], folder)
            else:
                found = judged(commonsense_constraint, hard_constraint, case["query"], case["plan"])
            out.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
