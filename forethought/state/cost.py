"""What each mechanism of a task cost, and what it changed, as far as a record shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict  # pydantic needs it below Python 3.12

from forethought.models.allowance import total

State = Mapping[str, Any]
Note = dict[str, int | str]
"""Counts by what was counted."""

MECHANISMS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "first_look": ((), ""),
    "planning": (("planner",), ""),
    "plan_intra": (("plan_intra",), "plans revised"),
    "prospective_reflection": (("reflector",), "plans revised"),
    "replanning": (("replanning",), "plans replaced"),
    "planned_calls": (("planned_calls",), "made without a model"),
    "moves": (("tool",), ""),
    "tool_intra": (("tool_intra",), "moves revised or dropped"),
    "tools": (("inspector",), ""),
    "foresight": (("foresight_tools", "foresight_user"), "results held back, or new plans"),
    "repeats": ((), "calls prevented"),
    "short_term_memory": ((), ""),
    "long_term_memory": ((), ""),
    "consent": (("consent",), ""),
    "answer": (("answer",), ""),
    "answer_intra": (("answer_intra",), "answers corrected, or new rounds"),
    "answer_checks": (("answer_checks",), "answers corrected"),
    "round_reflection": (("retrospective",), ""),
}
"""By mechanism: the keys of `usage` that it is booked under, and what it changes ('': no record can show
that). Those that a switch of the Context turns off have the switch's name. The calls of self-evaluation
(`*_intra`) are those after a role's first reply."""

IN_WAVES = ("tool", "tool_intra", "inspector", "foresight_tools", "planned_calls")
"""Keys of `usage` whose seconds are also in those of the steps."""


class CostRow(TypedDict):
    """One mechanism's part in a task. Those of a task sum up to its usage."""

    mechanism: str
    calls: int
    """Model calls."""
    input_tokens: int
    """Including cached ones."""
    cached_tokens: int
    output_tokens: int
    usd: float | None
    """null if a price is unknown."""
    seconds: float
    """Of models, or of tools in the row `tools`; parallel calls add up."""
    changed: int | None
    """How often it changed something; null if unknown."""
    skipped: int
    """How often `effort` left it out."""
    note: str
    """What it changed, found and left out."""


def cost_rows(state: State) -> list[CostRow]:
    """The mechanisms that took part in the state's present task, or that a rule left out, in the run's
    order."""
    usage, notes, skips = state.get("usage") or {}, _notes(state), _skips(state)
    booked = {key for keys, _ in MECHANISMS.values() for key in keys}
    others = {key: ((key,), "") for key in usage if key not in booked}
    steps, rows = _of_task(state, "trajectory"), []
    for name, (keys, change) in {**MECHANISMS, **others}.items():
        spent: Mapping[str, Any] = total(*(usage.get(key) or {} for key in keys))
        if name == "tools":  # a step's seconds are its models' and its tool's
            spent = {**spent, "seconds": spent["seconds"] + sum(map(tool_seconds, steps))}
        note = notes.get(name, {})
        count = spent.get("changed", 0) + int(note.pop("changed", 0))
        words = {**({change: count} if count else {}), **note}
        if whys := skips.get(name):
            words["skipped"] = f"{len(whys)} ({'; '.join(dict.fromkeys(whys))})"
        if spent["calls"] or words:
            rows.append(_row(name, spent, count if change else None, words, len(skips.get(name, []))))
    return rows


def _row(name: str, spent: Mapping[str, Any], changed: int | None, words: Note, skipped: int) -> CostRow:
    return {
        "mechanism": name,
        "calls": spent["calls"],
        "input_tokens": spent["input_tokens"],
        "cached_tokens": spent["cached_tokens"],
        "output_tokens": spent["output_tokens"],
        "usd": None if spent["unpriced"] else round(float(spent["usd"]), 6),
        "seconds": round(spent["seconds"], 3),
        "changed": changed,
        "skipped": skipped,
        "note": "; ".join(f"{what}: {count}" for what, count in words.items()),
    }


def tool_seconds(step: Mapping[str, Any]) -> float:
    """A step's seconds less those of its models."""
    return max(0.0, float(step["seconds"] - (step.get("usage") or {}).get("seconds", 0.0)))


def _notes(state: State) -> dict[str, Note]:
    """By mechanism what the records hold of it; under `changed`, changes that are not booked with usage."""
    steps, reviews = _of_task(state, "trajectory"), _of_task(state, "plan_reviews")
    causes = Counter(step["cause"] for step in steps)
    replans = _of_task(state, "replans")
    kinds = Counter(replan["kind"] for replan in replans)
    mended = [replan["n"] for replan in replans if replan["kind"] == "checks"]
    too_low = sum(step["cause"] == "proposal" and bool(step["evaluation"]) for step in steps)
    remembering = sum(any(not shown.startswith("result:") for shown in step["shown"]) for step in steps)
    rounds = (state.get("progress") or {}).get("round", 1) - 1
    draft: Mapping[str, Any] = state.get("draft") or {}
    checks = [check["ok"] for check in draft.get("checks") or []]
    at_once = bool(draft.get("answer")) and not (state.get("plan") or {}).get("subtasks") and not steps
    notes: dict[str, Note] = {
        "first_look": _look_note(state),
        "planning": {"answered at once": int(at_once and "answer" not in (state.get("usage") or {}))},
        "prospective_reflection": {
            "changed": sum(review["revised"] for review in reviews),
            "planning errors found": sum(len(review["errors"]) for review in reviews),
            "left unresolved": sum(review["unresolved"] for review in reviews),
        },
        "replanning": {
            f"asked for by {kind}": count for kind, count in sorted(kinds.items()) if kind != "checks"
        },
        "tools": {"steps with a call": sum(step["action"] == "call" for step in steps)},
        "tool_intra": {"changed": too_low},
        "foresight": {
            "changed": kinds["surprise"],
            "surprises": sum(step["surprise"] in ("minor", "serious") for step in steps),
        },
        "repeats": {"changed": causes["repeat"]},
        "short_term_memory": {"shown to moves": remembering},
        "long_term_memory": {"failed rounds shown": rounds if state.get("long_term") else 0},
        "answer_intra": {"changed": rounds},
        "answer_checks": {
            "checks": len(checks),
            "not met": checks.count("no"),
            "corrective moves": sum(step["n"] > n for step in steps for n in mended),
        },
    }
    return {
        name: {what: count for what, count in note.items() if count or what == "changed"}
        for name, note in notes.items()
    }


def _look_note(state: State) -> Note:
    look = state.get("look") or {}
    files = look.get("files") or []
    signs = sum(file.get("signs", 0) for file in files)
    whole = sum(file["shown"] == "whole" for file in files)
    return {"files": len(files) + look.get("unseen", 0), "shown whole": whole, "signs": signs}


def _skips(state: State) -> dict[str, list[str]]:
    """By mechanism, why rules of effort left it out, each time."""
    reasons: dict[str, list[str]] = {}
    for skip in _of_task(state, "skipped"):
        reasons.setdefault(skip["mechanism"], []).append(skip["why"])
    return reasons


def _of_task(state: State, channel: str) -> list[Mapping[str, Any]]:
    """The channel's records that belong to the present task."""
    task = (state.get("progress") or {}).get("task", 1)
    return [record for record in state.get(channel) or [] if record.get("task", task) == task]
