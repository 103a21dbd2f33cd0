"""A run's steps in their order, with what happened between them: rounds, waves, plans, re-plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

from forethought.app.text import first_line, to_json
from forethought.state.cost import tool_seconds

Json = dict[str, Any]
STEPS_A_PAGE = 50


def timeline(
    result: Mapping[str, Any], memory: Mapping[str, Any], *, step: int = 0, page: int = 0, whole: bool
) -> Json:
    """One page of a report's steps: {entries, pages, page, numbers, total}.

    The page is the one with `step`, or `page` (from 1); by default the first, of a running task the last.
    `whole`: all steps on one page. `memory` has the channels short_term and long_term. An entry is
    {kind, ...}: round, failed_round, plan, skips, wave, step or replan.
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
        "entries": [*_entries(shown, first, ends[page - 1], result, memory)],
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
    memory: Mapping[str, Any],
) -> Iterator[Json]:
    """The entries of consecutive steps; `before` is the step before them. What came after step `until` is
    the next page's (None: there is none)."""
    long_term = memory.get("long_term") or {}
    since = before["n"] if before else -1
    between = [one for one in _between(result) if since <= one[0] and (until is None or one[0] < until)]
    for old, new in pairwise([before, *steps]):
        assert new is not None
        if old is None or old["round"] != new["round"]:
            if old is not None:
                yield from _failed_round(long_term, old["round"])
            yield {"kind": "round", "round": new["round"]}
        while between and between[0][0] < new["n"]:
            yield between.pop(0)[1]
        if old is None or old["plan_version"] != new["plan_version"]:
            yield {"kind": "plan", "version": new["plan_version"]}
        if old is None or old["wave"] != new["wave"]:
            beside = [one["n"] for one in steps if one["wave"] == new["wave"]]
            yield {"kind": "wave", "wave": new["wave"], "side_by_side": len(beside)}
        yield {"kind": "step", **step_record(new, memory)}
    yield from (entry for _, entry in between)
    if until is None and steps:
        yield from _failed_round(long_term, steps[-1]["round"])
        if (result["plan"] or {}).get("version", 0) > steps[-1]["plan_version"]:
            yield {"kind": "plan", "version": result["plan"]["version"]}


def _between(result: Mapping[str, Any]) -> list[tuple[int, Json]]:
    """What happened after steps: requests for new plans, and what `effort` left out, by the step's number."""
    replans = [(one["n"], {"kind": "replan", "replan": one}) for one in result["replans"]]
    skipped = groupby(result["skipped"], key=lambda one: one["n"])
    skips = [(n, {"kind": "skips", "skips": [*found]}) for n, found in skipped]
    return sorted([*replans, *skips], key=lambda entry: entry[0])


def _failed_round(long_term: Mapping[str, Any], number: int) -> Iterator[Json]:
    """The round as long-term memory keeps it, if its answer did not pass."""
    record = long_term.get(str(number)) or {}
    if "score" in record:
        yield {"kind": "failed_round", "evaluation": "", "reflection": "", **record, "round": number}


def step_record(step: Mapping[str, Any], memory: Mapping[str, Any]) -> Json:
    """A step as a page shows it: its times in seconds, its cost (USD: None if a price is unknown), what
    short-term memory has of it, and `gist`, one line that says what it did."""
    usage: Mapping[str, Any] = step.get("usage") or {}
    of_subtask = (memory.get("short_term") or {}).get(step["subtask"]) or {}
    return {
        "expected": "",
        "thought": "",
        "evaluation": "",
        "foresight": None,
        "approval": "",
        "note": "",
        **step,
        "gist": _gist(step),
        "rejected": [one for one in of_subtask.get("rejected") or [] if one.get("n") == step["n"]],
        "own_seconds": tool_seconds(step),
        "model_seconds": usage.get("seconds", 0.0),
        "calls": usage.get("calls", 0),
        "tokens": usage.get("input_tokens", 0) + usage.get("output_tokens", 0),
        "usd": None if usage.get("unpriced") else usage.get("usd", 0.0),
    }


def _gist(step: Mapping[str, Any]) -> str:
    """The arguments of a call, each by its first line; of another move, the first line of what came of it."""
    if step["action"] != "call":
        return "".join(first_line(step["observation"]))
    named = {name: value for name, value in (step.get("arguments") or {}).items() if value is not None}
    texts = {name: value if isinstance(value, str) else to_json(value, None) for name, value in named.items()}
    return ", ".join(f"{name}: {''.join(first_line(text))}" for name, text in texts.items())
