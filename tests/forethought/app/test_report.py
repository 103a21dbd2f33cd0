"""What a run cost, as it is told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from forethought.app.report import report, usage_of
from forethought.app.view import usage_line


def test_estimates_and_fallbacks_are_told() -> None:
    roles = {
        "planner": {"calls": 1, "input_tokens": 1000, "output_tokens": 50, "usd": 0.25, "estimated": 1},
        "tool": {"calls": 2, "input_tokens": 500, "output_tokens": 10, "usd": 0.5, "fallbacks": 2},
    }
    usage = usage_of({"usage": roles})
    assert (usage["estimated"], usage["fallbacks"], usage["usd"]) == (1, 2, 0.75)
    assert usage_line(usage) == "3 model calls, about 1,500 + 60 tokens (0 cached), $0.7500"
    assert "about" not in usage_line({**usage, "estimated": 0})


def test_a_task_stopped_in_its_first_node_is_not_given_the_earlier_answer() -> None:
    planner = SimpleNamespace(name="planner", error=None)
    snapshot: Any = SimpleNamespace(
        values={"status": "answered", "answer": "8 claims"},
        tasks=(planner,),
        interrupts=(),
        next=("planner",),
    )
    said = report("t1", snapshot)
    assert (said["status"], said["answer"]) == ("stopped", "")
    snapshot.tasks = (SimpleNamespace(name="score_keeper", error=None),)
    assert report("t1", snapshot)["answer"] == "8 claims"
