"""Runs on a LangGraph server, as its clients make them: chat, streams, files, questions, failures."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.server.support import DevServer, Json, agent_policy, go_on, run, run_all
from tests.support.model_server import Fault
from tests.support.replies import call, finish

pytestmark = pytest.mark.server
CHAT: Json = {"messages": [{"role": "user", "content": "Which colour is it?"}]}


def last(result: Json) -> tuple[str, str]:
    """Type and text of the last message."""
    message = result["messages"][-1]
    return message["type"], message["content"]


def test_chat_alone_is_enough_and_ends_with_the_answer(server: DevServer) -> None:
    server.models.policy = agent_policy(finish("blue"), answer="It is blue.")
    _, result = run(server, CHAT)
    assert (last(result), result["status"], result["task"]) == (
        ("ai", "It is blue."),
        "answered",
        "Which colour is it?",
    )
    assert server.models.names == ["Plan", "PlanDiagnosis", "ToolChoice", "AnswerDraft"]


def test_a_stream_tells_of_each_node_and_of_what_is_going_on(server: DevServer) -> None:
    thread = server.client.threads.create()["thread_id"]
    parts = list(
        server.client.runs.stream(thread, "agent", input=CHAT, stream_mode=["updates", "custom", "values"])
    )
    nodes = [name for part in parts if part.event == "updates" for name in part.data]
    assert nodes == [
        "planner",
        "prospective_reflector",
        "replan_trigger",
        "tool_agent",
        "tool_executor",
        "replan_trigger",
        "answer_agent",
    ]
    thinking = [part.data for part in parts if part.event == "custom" and part.data["event"] == "thinking"]
    assert [event["role"] for event in thinking] == ["planner", "reflector", "tool", "answer"]
    assert (thinking[2]["subtask"], thinking[2]["n"]) == ("s1", 1)
    assert [part.data for part in parts if part.event == "values"][-1]["status"] == "answered"


def test_files_come_in_messages_too(server: DevServer) -> None:
    """The content leaves the conversation, and a block that names a place on the server's disk is refused."""
    server.models.policy = agent_policy(call(tool="read_file", path="a.txt", part=None, question=None))
    data = base64.b64encode(b"the colour is blue").decode()
    words = {"type": "text", "text": "Which?"}
    file = {"type": "file", "file": {"filename": "a.txt", "file_data": f"data:text/plain;base64,{data}"}}
    thread, result = run(server, {"messages": [{"role": "user", "content": [words, file]}]})
    assert "the colour is blue" in result["trajectory"][0]["observation"]
    values: Any = server.client.threads.get_state(thread)["values"]
    assert data not in str(values)
    assert values["messages"][0]["content"][1]["name"] == "a.txt"
    for block in (
        {"type": "file", "url": "file:///etc/passwd"},
        {"type": "file", "file": {"file_id": "/etc/passwd"}},
        {"type": "image_url", "image_url": {"url": "/etc/passwd"}},
    ):
        _, refused = run(server, {"messages": [{"role": "user", "content": [words, block]}]})
        assert refused["status"] == "failed"
        assert "has no content" in last(refused)[1]


@pytest.mark.parametrize("reply", ["blue", {"decision": "answer", "value": "blue", "reason": ""}])
def test_a_question_interrupts_and_its_answer_resumes(server: DevServer, reply: Any) -> None:
    server.models.policy = agent_policy(call(tool="ask_user", question="Which one?", choices=["red", "blue"]))
    thread, result = run(server, CHAT)
    asked = result["__interrupt__"][0]["value"]
    assert (asked["kind"], asked["question"], asked["choices"]) == ("question", "Which one?", ["red", "blue"])
    assert server.client.threads.get(thread)["status"] == "interrupted"
    resumed = go_on(server, thread, command={"resume": reply})
    assert (resumed["trajectory"][0]["observation"], resumed["trajectory"][0]["origin"]) == ("blue", "user")
    assert (last(resumed)[0], resumed["status"]) == ("ai", "answered")


def test_a_failed_task_ends_with_a_message_too(server: DevServer) -> None:
    server.models.policy = agent_policy(plan="no plan at all")
    _, result = run(server, CHAT)
    kind, text = last(result)
    assert (kind, result["status"], result["answer"]) == ("ai", "failed", "")
    assert text.startswith("I could not answer")


def test_a_task_that_cannot_be_taken_on_is_refused_in_one_line(server: DevServer) -> None:
    refused: list[tuple[Json, str]] = [
        ({"messages": [{"role": "user", "content": " "}]}, "the task is empty"),
        ({}, "the task is empty"),
        ({"task": 5}, "the task must be text"),
        ({"task": "x", "files": [{"name": "a.txt", "data": "?"}]}, "a.txt: data is not valid base64"),
        ({"task": "x", "files": ["/etc/passwd"]}, "named files need a folder"),
    ]
    results = run_all(server, [(given, {}) for given, _ in refused])
    for result, (_, said) in zip(results, refused, strict=True):
        kind, text = last(result)
        assert (kind, result["status"]) == ("ai", "failed")
        assert "\n" not in text
        assert said in text
    assert not server.models.requests


def test_a_provider_that_refuses_is_named_and_the_thread_can_go_on(server: DevServer) -> None:
    server.models.policy = lambda seen: Fault("401")
    thread, result = run(server, CHAT)
    assert "the key was refused" in result["__error__"]["message"]
    server.models.policy = agent_policy(answer="late")
    assert go_on(server, thread, input=None)["answer"] == "late"


def test_no_node_blocks_the_servers_loop(server: DevServer) -> None:
    page = base64.b64encode(b"<html><body><h1>Colours</h1><p>It is blue.</p></body></html>").decode()
    server.models.policy = agent_policy(
        call(tool="read_file", finishes=False, path="a.html", part=None, question=None),
        call(tool="python", finishes=False, code="2 ** 10"),
        finish("blue"),
    )
    _, result = run(server, {"task": "Which?", "files": [{"name": "a.html", "data": page}]})
    assert [(step["tool"], step["ok"]) for step in result["trajectory"]] == [
        ("read_file", True),
        ("python", True),
        (None, True),
    ]
    assert "BlockingError" not in server.log.read_text()
