"""Lean replies: their size, the mistakes that parsing corrects, and those that go back to the model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from forethought.models.ask import Models
from forethought.models.pricing import estimate_tokens
from forethought.models.types import ReplySpec
from forethought.nodes.answer_agent import answer_messages
from forethought.nodes.planner import planner_messages
from forethought.nodes.support.services import Services
from forethought.nodes.tool_agent import subtask_of, tool_messages
from forethought.prompts.lean_replies import lacking, lean_answer_spec, lean_plan_spec
from forethought.prompts.tool_choice import tool_choice_spec
from forethought.settings import Settings
from forethought.state.agent import AgentState
from forethought.state.context import Context
from forethought.state.reply_style import with_style
from forethought.tools.files import FileStore
from forethought.tools.registry import toolbox
from tests.support.agent import World
from tests.support.sample_state import early

LEAN = with_style(Context(), lean=True)
TOOLS = {"lookup": World().tool()}
MOVE = tool_choice_spec(TOOLS, LEAN)
SPECS = (lean_plan_spec(answers=True), lean_answer_spec(mends=True), MOVE)


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
    for child in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from nodes(child)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_a_lean_reply_has_at_most_six_fields_and_no_union(spec: ReplySpec[Any]) -> None:
    assert len(spec.schema["properties"]) <= 6
    assert not [node for node in nodes(spec.schema) if {"anyOf", "oneOf", "$ref"} & node.keys()]


def test_the_fixed_prompts_of_a_task_on_a_file_and_all_its_tools_take_at_most_900_tokens(
    settings: Callable[..., Settings],
) -> None:
    made = settings()
    services = Services(made, toolbox(made), Models(made), FileStore(made.blobs_dir))
    state: AgentState = {**early(), "files": [{"name": "costs.xlsx", "hash": "0" * 64, "size": 1_000}]}
    messages = [
        planner_messages({**state, "plan": {}}, services, LEAN),
        tool_messages(state, subtask_of(state, "read_costs"), services, LEAN)[0],
        answer_messages(state, services, LEAN),
    ]
    systems = {prompt[0].text for prompt in messages}  # the rules and the tools are the same for all
    texts = [*systems, *(message.text for prompt in messages for message in prompt[1:])]
    assert len(systems) == 1
    assert all(f"{name}(" in texts[0] for name in services.offered(state))
    assert sum(map(estimate_tokens, texts)) <= 900


def test_a_careless_plan_is_set_right() -> None:
    written = {
        "subtasks": [
            "read a",
            {"id": "b", "description": "read b", "depends_on": ["later", "s1"]},
            {"id": "b", "description": "read c", "depends_on": "b"},
        ]
    }
    parsed = lean_plan_spec(answers=True).parse(written)
    assert [(item.id, item.depends_on) for item in parsed.subtasks] == [("s1", []), ("b", ["s1"]), ("s3", [])]


@pytest.mark.parametrize("value", [{}, {"subtasks": "all"}, {"subtasks": [{"id": "a"}]}, []])
def test_a_reply_without_subtasks_is_sent_back(value: Any) -> None:
    with pytest.raises(ValidationError):
        lean_plan_spec(answers=True).parse(value)


def test_an_action_that_names_a_tool_is_a_call_of_it() -> None:
    move = MOVE.parse({"action": "lookup", "arguments": json.dumps({"key": "a"}), "finishes": True})
    assert (move.action, move.tool, move.arguments, move.finishes) == ("call", "lookup", {"key": "a"}, True)
    full = MOVE.parse({"action": "call", "tool": "lookup", "arguments": {"key": "a"}})
    assert (full.action, full.tool) == ("call", "lookup")


def test_a_worker_gives_its_reason_for_a_new_plan_as_the_result() -> None:
    move = MOVE.parse({"action": "replan", "result": "the file is empty"})
    assert (move.action, move.reason) == ("replan", "the file is empty")


@pytest.mark.parametrize("text", ["", "None.", "nothing", "N/A", '""', "Nothing is missing.", None, "no"])
def test_words_for_no_gap_are_empty(text: Any) -> None:
    assert lacking(text) == ""


def test_a_gap_is_a_failed_check_with_work_for_it() -> None:
    written = {"missing": "the price of B", "answer": "A costs 3.", "used_steps": ["step 2", 4]}
    draft = lean_answer_spec(mends=True).parse(written)
    assert [(check.about, check.ok) for check in draft.checks] == [("the price of B", "no")]
    assert "the price of B" in draft.work
    assert draft.used_steps == [2, 4]
    assert lean_answer_spec(mends=False).parse(written).work == ""
