"""`eval run travelplanner` in the sole-planning mode: CostEnquiry, as the papers' agents have it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from forethought.trajectories.read import read_trajectories
from tests.forethought.app.conftest import Cli
from tests.forethought.app.eval.conftest import lines
from tests.support.travel import as_answer, good_plan, write_checkout


def test_sole_planning_asks_what_a_day_costs(cli: Cli, served: Callable[..., Any], tmp_path: Path) -> None:
    day = {"people_number": 2, "day": 1, "current_city": "Aston"}
    moves = [
        {"thought": "t", "action": "call", "tool": "cost_enquiry", "arguments": day},
        {
            "thought": "t",
            "action": "call",
            "tool": "cost_enquiry",
            "arguments": {**day, "transportation": "Rocket"},
        },
        {"thought": "t", "action": "finish", "answer": as_answer(good_plan())},
    ]
    served(lambda seen: moves[seen.text.count("action: cost_enquiry")])
    folder = write_checkout(tmp_path / "checkout")
    done = cli(
        *("eval", "run", "travelplanner", "--method", "react", "--data", str(folder)),
        *("--out", "o", "--yes"),
    )
    assert done.code == 0, done.err
    run = read_trajectories(Path("o/trajectories/react/validation-1--1.json"))[0].trajectory
    assert run.steps[0].observation == "The cost of your plan is 200 dollars."
    assert "The cost cannot be calculated (ValueError" in run.steps[1].observation
    assert lines()[0]["score"] == 1.0
