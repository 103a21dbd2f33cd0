"""What a person sees of a plan before approving it."""

from __future__ import annotations

import io
from typing import Any

from forethought.app.display import make_console
from forethought.app.questions import show_question


def shown(subtask: dict[str, Any]) -> str:
    """What the question whether a plan with this subtask is approved looks like, on one line."""
    whole = {"id": "a", "description": "Look at it", "depends_on": [], "expected": "", **subtask}
    console = make_console(io.StringIO())
    with console.capture() as capture:
        console.print(show_question({"kind": "plan", "plan": {"version": 1, "subtasks": [whole]}}))
    return " ".join(capture.get().split())


def test_the_call_that_a_subtask_begins_with_is_shown_until_it_is_made() -> None:
    call = {"tool": "visit_webpage", "arguments": {"url": "http://x/\x1b[31my", "part": None}}
    text = shown({"status": "pending", "call": call})
    assert "Look at it" in text
    assert 'visit_webpage(url="http://x/' in text
    assert "\x1b" not in text
    assert "visit_webpage(" not in shown({"status": "finished", "call": call})
    assert "(" not in shown({"status": "pending", "call": None}).removeprefix("Approve this plan? ")


def test_a_long_call_is_cut() -> None:
    call = {"tool": "python", "arguments": {"code": "begin" + "x" * 2_000}}
    text = shown({"status": "pending", "call": call})
    assert 'python(code="begin' in text
    assert "…" in text
    assert text.count("x") < 600
