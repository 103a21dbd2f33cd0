"""NATURAL PLAN's own evaluation of single answers, in a process of its own.

python -m forethought.evals.environments.checkouts.natural_plan CHECKOUT
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from forethought.evals.environments.worker import serve, stand_in

Json = dict[str, Any]
SCRIPTS = {
    "trip": "evaluate_trip_planning",
    "meeting": "evaluate_meeting_planning",
    "calendar": "evaluate_calendar_scheduling",
}


def judge(task: str, row: Json, answer: str) -> Json:
    """Whether the answer to a row is solved, and what was read of it.

    An answer at which the official function fails with an error, as at a person whom the task does not know,
    is not solved.
    """
    script: Any = importlib.import_module(SCRIPTS[task])
    try:
        scorer = {"trip": _trip, "meeting": _meeting, "calendar": _calendar}[task]
        solved, details = scorer(script, row, answer)
    except Exception as error:
        solved, details = False, f"the official function fails with {type(error).__name__}: {error}"
    return {"solved": bool(solved), "explanation": details}


def _trip(script: Any, row: Json, answer: str) -> tuple[bool, str]:
    plan = script.parse_response(answer)
    solved = script.compute_example_score(row["cities"], row["durations"], plan)
    return solved, f"read: {plan}; golden: {row['cities']}, days {row['durations']}"


def _meeting(script: Any, row: Json, answer: str) -> tuple[bool, str]:
    place, start = row["constraints"][0]
    friends = script.process_constraints(row["constraints"][1:])

    def met(steps: list[str]) -> int:
        return int(script.validator_from_text(steps, friends, place, start, row["dist_matrix"]))

    mine, golden = met(script.parse_text_plan(answer)), met(row["golden_plan"])
    return mine == golden, f"meetings: {mine}; golden plan: {golden}"


def _calendar(script: Any, row: Json, answer: str) -> tuple[bool, str]:
    return script.compute_solve_rate([answer], [row["golden_plan"]]), f"golden: {row['golden_plan']}"


def main(checkout: str) -> None:
    """Serve the checkout."""
    sys.path.insert(0, checkout)
    stand_in(quiet=("absl",))
    serve({"judge": judge})


if __name__ == "__main__":
    main(*sys.argv[1:])
