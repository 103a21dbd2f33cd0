"""The text of a plan in prompts: whole, but bounded where it is very long."""

from __future__ import annotations

from typing import Any

from forethought.nodes.support.plan_text import plan_text


def planned(finished: int, pending: int) -> Any:
    """A plan of as many subtasks."""
    return {
        "subtasks": [
            {
                "id": f"s{n}",
                "description": f"do {n} " + "d" * 600,
                "depends_on": [],
                "expected": "e" * 100,
                "status": "finished" if n < finished else "pending",
            }
            for n in range(finished + pending)
        ]
    }


def test_the_finished_subtasks_of_a_long_plan_are_a_number_and_the_open_ones_whole() -> None:
    first, *blocks = plan_text(planned(1_000, 30)).split("\n\n")
    assert first == "1000 subtasks are finished besides those below."
    assert blocks == plan_text(planned(1_000, 30), only_open=True).split("\n\n")
    assert len(blocks) == 30


def test_a_plan_of_ordinary_length_is_told_whole() -> None:
    assert plan_text(planned(100, 50)).count("d" * 600) == 150
