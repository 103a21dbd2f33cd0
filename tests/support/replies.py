"""Replies of a model, in short: what a test scripts (see tests/support/agent.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.support.model_server import Fault

Json = dict[str, Any]
INVALID = Fault("badjson")
"""A reply that is no JSON."""


def sub(
    key: str,
    after: Sequence[str] = (),
    *,
    call: Json | None = None,
    calls: Sequence[Json] = (),
    description: str = "",
    expected: str = "",
) -> Json:
    """A planned subtask."""
    return {
        "id": key,
        "description": description or f"do {key}",
        "depends_on": list(after),
        "calls": [call] if call else list(calls),
        "expected": expected,
    }


def defect(text: str = "a flaw", effect: str = "risky", *, mend: str = "now") -> Json:
    """A Defect."""
    return {"evidence": "the task", "defect": text, "effect": effect, "mend": mend}


def defects(score: int, text: str = "a flaw", *, mend: str = "now") -> list[Json]:
    """Defects that make this score."""
    if score >= 9:
        return [defect(text, "slight", mend=mend)] * (10 - score)
    effect, highest = ("risky", 8) if score >= 5 else ("wrong", 4)
    return [defect(text, effect, mend=mend)] * (highest + 1 - score)


def plan(
    *subtasks: Json,
    score: int = 9,
    evaluation: str = "a trifle",
    discard: Sequence[str] = (),
    answer: str = "",
) -> Json:
    """A Plan with defects that make this score."""
    return {
        "known": ["what is known"],
        "open": ["what is open"],
        "subtasks": list(subtasks),
        "answer": answer,
        "discard": list(discard),
        "defects": defects(score, evaluation),
    }


def diagnosis(
    *error_types: str,
    situation: str = "a situation",
    notes: str = "tool notes",
    subtasks: Sequence[Json] = (),
) -> Json:
    """A PlanDiagnosis that finds the errors named, with the revised plan where it is asked for one."""
    errors = [
        {"evidence": f"evidence of {kind}", "risk": "a risk", "error_type": kind} for kind in error_types
    ]
    return {"situation": situation, "tool_notes": notes, "errors": errors, "subtasks": list(subtasks)}


def revision(*subtasks: Json, changes: str = "made better") -> Json:
    """A PlanRevision."""
    return {"changes": changes, "subtasks": list(subtasks)}


def call(
    key: str = "x",
    *,
    tool: str = "lookup",
    finishes: bool = True,
    score: int = 9,
    expected: str | None = None,
    surprise: str = "none",
    evaluation: str = "a trifle",
    thought: str = "a thought",
    **arguments: Any,
) -> Json:
    """A ToolChoice that calls; by default `lookup(key)`."""
    given = {"key": key, "note": None, **arguments} if tool == "lookup" else arguments
    return _choice(
        "call",
        tool=tool,
        arguments=given,
        finishes=finishes,
        expected=expected,
        surprise=surprise,
        defects=defects(score, evaluation),
        thought=thought,
    )


def finish(result: str, *, score: int = 9, surprise: str = "none") -> Json:
    """A ToolChoice that ends the subtask."""
    return _choice("finish", result=result, surprise=surprise, defects=defects(score))


def ask_replan(reason: str = "the plan is wrong", *, score: int = 9) -> Json:
    """A ToolChoice that asks for a new plan."""
    return _choice("replan", reason=reason, defects=defects(score))


def verdict(
    deviation: str = "none", reflection: str = "", *, difference: str = "a difference", replan: bool = False
) -> Json:
    """A ForesightVerdict."""
    return {"difference": difference, "deviation": deviation, "reflection": reflection, "replan": replan}


def answer(
    text: str = "the answer",
    used: Sequence[int] = (),
    *,
    score: int = 9,
    evaluation: str = "a trifle",
    mend: str = "facts",
) -> Json:
    """An AnswerDraft with defects that make this score."""
    return {
        "findings": ["a finding"],
        "answer": text,
        "used_steps": list(used),
        "defects": defects(score, evaluation, mend=mend),
    }


def check(about: str = "the year", ok: str = "yes", done: str = "as read") -> Json:
    """A Check of an answer."""
    return {"about": about, "done": done, "ok": ok}


def checked(text: str = "the answer", *checks: Json, work: str = "", used: Sequence[int] = ()) -> Json:
    """An AnswerDraft with checks."""
    return {"checks": list(checks), "answer": text, "work": work, "used_steps": list(used)}


def _choice(action: str, **fields: Any) -> Json:
    empty: Json = {
        "thought": "a thought",
        "surprise": "none",
        "tool": None,
        "arguments": None,
        "finishes": None,
        "result": None,
        "reason": None,
        "expected": None,
        "defects": [],
    }
    return {**empty, "action": action, **fields}


def granting(*grants: Json) -> Json:
    """A reply to the prompt `grants`."""
    return {"grants": list(grants)}


def grant(tool: str, times: int = 1, condition: str = "", **values: list[str]) -> Json:
    """A grant of a call with these values."""
    arguments = [{"name": name, "values": allowed} for name, allowed in values.items()]
    return {"tool": tool, "arguments": arguments, "times": times, "condition": condition}
