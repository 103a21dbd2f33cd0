"""What a run cost, as it is told."""

from __future__ import annotations

from forethought.app import render
from forethought.app.report import usage_of


def test_estimates_and_fallbacks_are_told() -> None:
    roles = {
        "planner": {"calls": 1, "input_tokens": 1000, "output_tokens": 50, "usd": 0.25, "estimated": 1},
        "tool": {"calls": 2, "input_tokens": 500, "output_tokens": 10, "usd": 0.5, "fallbacks": 2},
    }
    usage = usage_of({"usage": roles})
    assert (usage["estimated"], usage["fallbacks"], usage["usd"]) == (1, 2, 0.75)
    assert render.tokens(usage) == "about 1,500 + 60 tokens (0 cached)"
    assert render.tokens({**usage, "estimated": 0}) == "1,500 + 60 tokens (0 cached)"
