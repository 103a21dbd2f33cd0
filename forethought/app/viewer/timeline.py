"""A run's steps in their order, with what happened between them: rounds, waves, plans, re-plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from forethought.state.cost import tool_seconds

Json = dict[str, Any]
STEPS_A_PAGE = 50


def timeline(
    result: Mapping[str, Any], long_term: Mapping[str, Any], *, step: int = 0, page: int = 0, whole: bool
) -> Json:
    """One page of a report's steps: {entries, pages, page, numbers, total}.

    The page is the one with `step`, or `page` (from 1); by default the first, of a running task the last.
    `whole`: all steps on one page. An entry is {kind, ...}: round, plans, wave, step, replan.
    """
    steps: Sequence[Json] = result["steps"]
    size = max(1, len(steps)) if whole else STEPS_A_PAGE
    starts = list(range(0, len(steps), size)) or [0]
    numbered = next((at // size + 1 for at, one in enumerate(steps) if one["n"] == step), 0)
    default = len(starts) if result["status"] in ("running", "interrupted") else 1
    page = min(max(numbered or page or default, 1), len(starts))
    shown = steps[starts[page - 1] : starts[page - 1] + size]
    ends = [*(steps[start]["n"] - 1 for start in starts[1:]), None]
    first = steps[starts[page - 1] - 1] if page > 1 else None
    return {
        "entries": [*_entries(shown, first, ends[page - 1], result, long_term)],
        "numbers": {one["n"] for one in shown},
        "total": len(steps),
        "page": page,
        "pages": [
            {
                "page": at + 1,
                "first": steps[start]["n"],
                "last": steps[min(start + size, len(steps)) - 1]["n"],
            }
            for at, start in enumerate(starts)
            if steps
        ],
    }


def _entries(
    steps: Sequence[Json],
    before: Mapping[str, Any] | None,
    until: int | None,
    result: Mapping[str, Any],
    long_term: Mapping[str, Any],
) -> Iterator[Json]:
    """The entries of consecutive steps; `before` is the step before them. What came after step `until` is
    the next page's (None: there is none)."""
    since = before["n"] if before else -1
    replans = [one for one in result["replans"] if since <= one["n"] and (until is None or one["n"] < until)]
    for old, new in pairwise([before, *steps]):
        assert new is not None
        while replans and replans[0]["n"] < new["n"]:
            yield {"kind": "replan", "replan": replans.pop(0)}
        if old is None or old["round"] != new["round"]:
            if old is not None and (failed := long_term.get(str(old["round"]))):
                yield {"kind": "failed_round", **failed}
            yield {"kind": "round", "round": new["round"]}
        if old is None or old["plan_version"] != new["plan_version"]:
            yield {"kind": "plan", "version": new["plan_version"], "reviews": _reviews(old, new, result)}
        if old is None or old["wave"] != new["wave"]:
            beside = [one["n"] for one in steps if one["wave"] == new["wave"]]
            yield {"kind": "wave", "wave": new["wave"], "side_by_side": len(beside)}
        yield {"kind": "step", **step_record(new)}
    yield from ({"kind": "replan", "replan": one} for one in replans)
    if until is None:
        version = steps[-1]["plan_version"] if steps else 0
        left = [one for one in result["plan_reviews"] if one["plan_version"] > version]
        if left:
            yield {"kind": "plan", "version": (result["plan"] or {}).get("version"), "reviews": left}


def _reviews(old: Mapping[str, Any] | None, new: Mapping[str, Any], result: Mapping[str, Any]) -> list[Json]:
    """The diagnoses that were made between two steps."""
    since = old["plan_version"] if old else 0
    return [one for one in result["plan_reviews"] if since < one["plan_version"] <= new["plan_version"]]


def step_record(step: Mapping[str, Any]) -> Json:
    """A step with its times and its cost, in seconds, tokens and USD (None: no known price)."""
    usage: Mapping[str, Any] = step.get("usage") or {}
    return {
        "expected": "",
        "thought": "",
        "evaluation": "",
        "foresight": None,
        "approval": "",
        "note": "",
        **step,
        "own_seconds": tool_seconds(step),
        "model_seconds": usage.get("seconds", 0.0),
        "calls": usage.get("calls", 0),
        "tokens": usage.get("input_tokens", 0) + usage.get("output_tokens", 0),
        "usd": None if usage.get("unpriced") else usage.get("usd", 0.0),
    }
