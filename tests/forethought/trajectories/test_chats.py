"""One run in every form of messages that is known: the same steps, and what each form tells besides."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from forethought.trajectories.read import all_from_json, from_json
from forethought.trajectories.types import Loaded
from tests.forethought.trajectories import chat_examples as given

DUMPED = dumpd(
    [
        SystemMessage(given.SYSTEM, id="m0"),
        HumanMessage(given.TASK, id="m1"),
        AIMessage(given.THOUGHT, id="m2", tool_calls=[{"name": "find", "args": {"parcel": 7}, "id": "a"}]),
        ToolMessage(given.SEEN, id="m3", tool_call_id="a"),
        AIMessage(given.ANSWER, id="m4"),
    ]
)
SAME: dict[str, Any] = {
    "chat": given.CHAT,
    "chat under messages": {"messages": given.CHAT},
    "response": given.RESPONSE,
    "response items": given.RESPONSE_ITEMS,
    "state of a run of OpenAI's Agents SDK": given.AGENTS_STATE,
    "response items with ids": [
        {"id": f"i{n}", "type": "message", **item} for n, item in enumerate(given.RESPONSE_ITEMS)
    ],
    "langchain": given.LANGCHAIN,
    "langchain, by dumps alone": DUMPED,
    "langchain with ids": [{"id": f"m{n}", **each} for n, each in enumerate(given.LANGCHAIN)],
    "langgraph's state": {"values": {"messages": given.LANGCHAIN}, "next": [], "config": {}},
    "pydantic-ai": given.PYDANTIC_AI,
    "inspect": given.INSPECT,
    "llama-factory": given.LLAMA_FACTORY,
}


@pytest.mark.parametrize("name", SAME)
def test_every_form_gives_the_same_run(name: str) -> None:
    run = from_json(SAME[name], "run").trajectory
    look, say = run.steps
    assert (run.task, run.instructions, run.answer) == (given.TASK, given.SYSTEM, given.ANSWER)
    assert (look.planning, look.action) == (given.THOUGHT, 'find({"parcel": 7})')
    assert (look.tool, look.arguments) == ("find", {"parcel": 7})
    assert (look.given, look.observation, look.failure) == ("", given.SEEN, "")
    assert (say.action, say.observation) == (given.ANSWER, "")


def test_tools_are_read_where_a_form_lists_them() -> None:
    for name in ("response", "inspect", "llama-factory"):
        (tool,) = from_json(SAME[name]).trajectory.tools
        assert (tool.name, tool.description) == ("find", "Find it.")
        assert tool.parameters == {"properties": {"parcel": {}}}


def test_a_conversation_of_sharegpt() -> None:
    run = from_json(given.SHARE_GPT).trajectory
    assert (run.task, run.instructions, run.answer) == (given.TASK, given.SYSTEM, given.ANSWER)
    assert [tool.name for tool in run.tools] == ["find"]
    assert [(step.action, step.observation) for step in run.steps] == [
        ('find({"parcel": 7})', given.SEEN),
        (given.ANSWER, ""),
    ]


def test_an_inspect_log_tells_outcome_limit_files_and_task() -> None:
    loaded = from_json(given.INSPECT)
    run = loaded.trajectory
    assert (run.id, run.task_id, run.environment) == ("parcels-p7-2", "p7", "parcels")
    assert (run.files, run.limit, run.halted) == (("map.txt",), "message", True)
    assert (loaded.reference.outcome, loaded.reference.gold) == ("failure", ("GOLD 3",))


def test_a_grade_of_inspect_is_no_outcome() -> None:
    for value, outcome in ((0.7, "unknown"), ("P", "unknown"), (1.0, "success"), ("N", "failure")):
        sample = {**given.INSPECT["samples"][0], "scores": {"rubric": {"value": value}}}
        loaded = from_json({**given.INSPECT, "samples": [sample]})
        assert loaded.reference.outcome == outcome
        assert bool(loaded.trajectory.notes) == (outcome == "unknown")


def test_tau2_shows_the_agent_what_the_agent_saw() -> None:
    loaded = from_json(given.TAU2)
    run = loaded.trajectory
    greet, look, say = run.steps
    assert (run.task, run.task_id, run.instructions) == (given.TASK, "parcels-4", given.SYSTEM)
    assert (greet.action, greet.observation) == ("Hi!", given.TASK)
    assert (look.observation, say.observation) == (given.SEEN, "")
    assert (run.limit, loaded.reference.outcome) == ("max_steps", "failure")
    assert "GOLD" not in run.model_dump_json()
    assert "GOLD" in loaded.reference.solution


def test_responses_that_follow_one_another_are_one_run() -> None:
    output = given.RESPONSE["output"]
    first = {**given.RESPONSE, "id": "r1", "output": output[:2]}
    second = {"id": "r2", "previous_response_id": "r1", "input": output[2:3], "output": output[3:]}
    other = {
        **given.RESPONSE,
        "id": "r3",
        "output": output[3:],
        "incomplete_details": {"reason": "max_output_tokens"},
    }
    together, alone = (loaded.trajectory for loaded in all_from_json([first, second, other]))
    assert together.steps == from_json(given.RESPONSE).trajectory.steps
    assert (len(alone.steps), alone.limit) == (1, "max_output_tokens")


def test_whole_responses_may_stand_among_the_messages_of_mini_swe_agent() -> None:
    call = {"type": "function_call", "call_id": "a", "name": "bash", "arguments": '{"command": "ls"}'}
    seen = {"type": "function_call_output", "call_id": "a", "output": "<returncode>0</returncode>"}
    replied = {"object": "response", "output": [call], "extra": {"actions": [{"command": "ls"}]}}
    messages = [*given.CHAT[:2], replied, seen, given.MINI_SWE["messages"][-1]]
    (step,) = from_json({**given.MINI_SWE, "messages": messages}).trajectory.steps
    assert (step.action, step.observation) == ('bash({"command": "ls"})', "<returncode>0</returncode>")


def test_messages_without_any_of_the_agent_say_so() -> None:
    run = from_json(given.CHAT[:2]).trajectory
    assert (run.steps, run.notes) == ((), ("No message of it is the agent's.",))


def test_mini_swe_agent_calls_are_calls_and_a_limit_is_a_limit() -> None:
    run = from_json(given.MINI_SWE).trajectory
    (step,) = run.steps
    assert (step.tool, step.arguments) == ("bash", {"command": "ls"})
    assert (run.id, run.task_id, run.limit, run.answer) == ("repo-1", "repo-1", "LimitsExceeded", "")


def test_swe_agent_steps_and_what_it_submitted_when_its_money_was_spent() -> None:
    run = from_json(given.SWE_AGENT, "x").trajectory
    first, last = run.steps
    assert (run.task, run.instructions, run.answer) == (given.TASK, given.SYSTEM, "diff --git")
    assert (first.planning, first.action, first.observation) == (given.THOUGHT, "ls", "a.py")
    assert (last.action, run.limit) == ("submit", "submitted (exit_cost)")
    assert "demonstration" not in run.model_dump_json()


def test_an_agent_executors_pairs() -> None:
    run = from_json(given.EXECUTOR).trajectory
    look, say = run.steps
    assert (run.task, run.answer) == (given.TASK, given.ANSWER)
    assert (look.planning, look.tool, look.observation) == (given.THOUGHT, "find", given.SEEN)
    assert say.action == given.ANSWER


@pytest.mark.parametrize(
    ("change", "outcome"),
    [({"success": False}, "failure"), ({"reward": 1.0}, "success"), ({}, "unknown")],
)
def test_an_outcome_at_the_top_of_a_chat(change: dict[str, Any], outcome: str) -> None:
    loaded: Loaded = from_json({"messages": given.CHAT, **change})
    assert loaded.reference.outcome == outcome


def test_files_that_come_with_the_task_are_named() -> None:
    blocks = [{"type": "text", "text": given.TASK}, {"type": "file", "file": {"filename": "map.pdf"}}]
    run = from_json([{"role": "user", "content": blocks}, *given.CHAT[2:]]).trajectory
    assert (run.files, run.task) == (("map.pdf",), f"{given.TASK}\n[file map.pdf]")


def test_a_retried_call_and_a_failed_one_are_failures_of_the_tool() -> None:
    pydantic = [dict(message) for message in given.PYDANTIC_AI]
    pydantic[2] = {
        "kind": "request",
        "parts": [{"part_kind": "retry-prompt", "content": [{"msg": "no int"}]}],
    }
    anthropic = [
        {"role": "user", "content": given.TASK},
        {"role": "assistant", "content": [{"type": "tool_use", "name": "find", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "is_error": True, "content": "no route"}]},
    ]
    for value, said in ((pydantic, "no int"), (anthropic, "no route")):
        step = from_json(value).trajectory.steps[0]
        assert step.failure == "tool_execution_error"
        assert said in step.observation
