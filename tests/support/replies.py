"""Replies of a model, in short: what a test scripts (see tests/support/agent.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.support.model_server import Fault

Json = dict[str, Any]
INVALID = Fault("badjson")
"""A reply that is no JSON."""


def sub(
    key: str, after: Sequence[str] = (), *, tool: str | None = None, description: str = "", expected: str = ""
) -> Json:
    """A planned subtask."""
    return {
        "id": key,
        "description": description or f"do {key}",
        "tool": tool,
        "depends_on": list(after),
        "expected": expected,
    }


def plan(
    *subtasks: Json, score: int = 9, evaluation: str = "a good plan", discard: Sequence[str] = ()
) -> Json:
    """A Plan."""
    return {"subtasks": list(subtasks), "discard": list(discard), "evaluation": evaluation, "score": score}


def diagnosis(*error_types: str, situation: str = "a situation", notes: str = "tool notes") -> Json:
    """A PlanDiagnosis that finds the errors named."""
    errors = [
        {"error_type": kind, "evidence": f"evidence of {kind}", "risk": "a risk"} for kind in error_types
    ]
    return {"situation": situation, "tool_notes": notes, "errors": errors}


def revision(*subtasks: Json, changes: str = "made better") -> Json:
    """A PlanRevision."""
    return {"subtasks": list(subtasks), "changes": changes}


def call(
    key: str = "x",
    *,
    tool: str = "lookup",
    finishes: bool = True,
    score: int = 9,
    expected: str | None = None,
    surprise: str = "none",
    evaluation: str = "a good call",
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
        score=score,
        expected=expected,
        surprise=surprise,
        evaluation=evaluation,
        thought=thought,
    )


def finish(result: str, *, score: int = 9, surprise: str = "none") -> Json:
    """A ToolChoice that ends the subtask."""
    return _choice("finish", result=result, score=score, surprise=surprise)


def ask_replan(reason: str = "the plan is wrong", *, score: int = 9) -> Json:
    """A ToolChoice that asks for a new plan."""
    return _choice("replan", reason=reason, score=score)


def verdict(
    deviation: str = "none", reflection: str = "", *, difference: str = "a difference", replan: bool = False
) -> Json:
    """A ForesightVerdict."""
    return {"difference": difference, "deviation": deviation, "reflection": reflection, "replan": replan}


def lesson(
    failed: str = "the wrong sheet was read",
    worked: str = "read the index first",
    *,
    why: str = "",
    steps: Sequence[int] = (),
    error_type: str | None = None,
) -> Json:
    """A LessonDraft."""
    return {"steps": list(steps), "failed": failed, "why": why, "worked": worked, "error_type": error_type}


def answer(
    text: str = "the answer", used: Sequence[int] = (), *, score: int = 9, evaluation: str = "a good answer"
) -> Json:
    """An AnswerDraft."""
    return {"answer": text, "used_steps": list(used), "evaluation": evaluation, "score": score}


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
        "evaluation": "a good move",
        "score": 9,
    }
    return {**empty, "action": action, **fields}
