"""A run's nodes, model calls and tool calls are spans of one tree, with its thread on each."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from forethought.models.types import TransportError
from forethought.telemetry.logs import JsonFormatter
from tests.support.agent import Drive, Script, World, broken
from tests.support.model_server import Fault
from tests.support.replies import call, plan, sub


async def test_every_node_model_call_and_tool_call_is_a_span(drive: Drive, spans: Any) -> None:
    world = World({"a": [broken("no such key", cause="not_found"), "the observation itself"]})
    moves = {"a": [call("a"), call("a", note="again")]}
    await drive(Script(plans=[plan(sub("a"), sub("b"))], moves=moves), world, task="the very question")
    made = spans()
    nodes = {span.context.span_id: span for span in made if "forethought.node" in span.attributes}
    names = [span.name for span in made]
    assert names.count("execute_tool lookup") == 3
    assert names.count("chat openai:scripted") == 6
    assert {"planner", "prospective_reflector", "tool_agent", "tool_executor", "answer_agent"} <= set(names)
    for span in made:
        assert span.attributes["gen_ai.conversation.id"] == "t"
        if span.name.startswith(("chat", "execute_tool")):
            assert span.parent.span_id in nodes
    calls = [span for span in made if span.name == "execute_tool lookup"]
    assert sorted(span.attributes["forethought.outcome"] for span in calls) == ["failed", "ok", "ok"]
    chats = [span.attributes for span in made if span.name.startswith("chat")]
    assert {chat["gen_ai.usage.input_tokens"] for chat in chats} == {100}
    assert {chat["forethought.role"] for chat in chats} == {"planner", "reflector", "tool", "answer"}
    sent = [span for span in made if span.name == "tool_agent"]
    assert {span.attributes["forethought.subtask"] for span in sent} == {"a", "b"}
    attributes = json.dumps([dict(span.attributes) for span in made])
    for text in ("the very question", "the observation itself", "the answer", "a good call"):
        assert text not in attributes


async def test_a_model_that_cannot_be_reached_ends_its_span_and_its_nodes(drive: Drive, spans: Any) -> None:
    with pytest.raises(TransportError):
        await drive(lambda seen: Fault("503"))
    assert {span.name: span.attributes.get("error.type") for span in spans()} == {
        "chat openai:scripted": "TransportError",
        "planner": "TransportError",
    }


async def test_each_line_of_the_log_names_thread_and_node(
    drive: Drive, caplog: pytest.LogCaptureFixture
) -> None:
    lines: list[Any] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(json.loads(JsonFormatter().format(record)))

    handler = Keeping()
    logging.getLogger("forethought.run").addHandler(handler)
    caplog.set_level(logging.INFO, "forethought.run")
    try:
        await drive(Script())
    finally:
        logging.getLogger("forethought.run").removeHandler(handler)
    assert {line["thread_id"] for line in lines} == {"t"}
    chats = [line for line in lines if line["operation"] == "chat"]
    assert [line["node"] for line in chats] == [
        "planner",
        "prospective_reflector",
        "tool_agent",
        "answer_agent",
    ]
    assert chats[0]["gen_ai.usage.output_tokens"] == 20
