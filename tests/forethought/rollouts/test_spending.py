"""Sums and differences of what re-runs cost."""

from __future__ import annotations

from forethought.models.allowance import total
from forethought.rollouts.spending import between


def test_figures_are_summed_and_of_the_budgets_that_were_too_short_the_longest_is_kept() -> None:
    whole = total({"calls": 2, "out_of_time": 30.0}, {"calls": 3, "out_of_time": 60.0}, {"usd": 0.5})
    assert (whole["calls"], whole["out_of_time"], whole["usd"]) == (5, 60.0, 0.5)


def test_a_budget_that_was_too_short_is_nothing_that_was_spent() -> None:
    before = {"planner": {"calls": 1, "out_of_time": 60.0}, "tool": {"calls": 2}}
    after = {"planner": {"calls": 2}, "tool": {"calls": 5, "estimated": 1}}
    spent = between(before, after)
    assert (spent["calls"], spent["estimated"], "out_of_time" in spent) == (4, 1, False)
