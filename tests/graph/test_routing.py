"""The conditions on the edges, as pure functions of state."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.graph import END
from langgraph.types import Send

from forethought.graph import routing


@pytest.mark.parametrize(("status", "to"), [("failed", END), ("running", "prospective_reflector")])
def test_after_the_planner(status: Any, to: str) -> None:
    assert routing.after_planner({"status": status}) == to


@pytest.mark.parametrize(
    ("approval", "after_reflector", "after_approval"),
    [
        ("", "replan_trigger", "replan_trigger"),
        ("wanted", "approve_plan", "replan_trigger"),
        ("approved", "replan_trigger", "replan_trigger"),
        ("edited", "replan_trigger", "prospective_reflector"),
        ("rejected", "replan_trigger", "planner"),
    ],
)
def test_around_approval(approval: Any, after_reflector: str, after_approval: str) -> None:
    state: Any = {"plan": {"approval": approval}}
    assert routing.after_reflector(state) == after_reflector
    assert routing.after_approval(state) == after_approval


def test_a_wave_is_sent_with_ids_only() -> None:
    dispatch: list[Any] = [{"subtask": "a", "n": 1}, {"subtask": "b", "n": 2}]
    state: Any = {"dispatch": dispatch, "decision": {"to": "tools"}, "plan": {"subtasks": []}}
    assert routing.after_trigger(state) == [Send("tool_agent", item) for item in dispatch]
    sends = routing.after_tool_agent({"proposals": {"a": {"subtask": "a", "n": 1, "tool": "t"}}})  # type: ignore[typeddict-item]
    assert sends == [Send("tool_executor", {"subtask": "a", "n": 1})]


@pytest.mark.parametrize(("to", "node"), [("planner", "planner"), ("answer", "answer_agent")])
def test_without_a_wave(to: Any, node: str) -> None:
    assert routing.after_trigger({"dispatch": [], "decision": {"to": to, "reason": "", "n": 0}}) == node


@pytest.mark.parametrize(
    ("status", "to"),
    [
        ("running", "planner"),
        ("answered", END),
        ("best_effort", END),
        ("budget_exhausted", END),
        ("failed", END),
    ],
)
def test_after_the_answer(status: Any, to: str) -> None:
    assert routing.after_answer({"status": status}) == to
