"""How a job ends: what it cost, and what is worth another try."""

from __future__ import annotations

from forethought.batch.outcomes import usage_of


def test_of_several_budgets_that_were_too_short_the_longest_is_told() -> None:
    roles = {"planner": {"calls": 1, "out_of_time": 60.0}, "tool": {"calls": 2, "out_of_time": 60.0}}
    assert usage_of({"usage": roles}) == {"calls": 3, "out_of_time": 60.0}
