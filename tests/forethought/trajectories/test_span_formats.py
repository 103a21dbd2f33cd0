"""Traces of LangSmith, Langfuse and OpenTelemetry: the same run, and what each tells besides."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forethought.trajectories.read import all_from_json, from_json
from tests.forethought.trajectories import chat_examples as chat
from tests.forethought.trajectories import span_examples as given

SAME: dict[str, Any] = {
    "langsmith": given.LANGSMITH,
    "langsmith flat": given.LANGSMITH_FLAT,
    "langfuse": given.LANGFUSE,
    "langfuse observations": given.LANGFUSE["observations"],
    "langfuse download": {
        "trace": {key: value for key, value in given.LANGFUSE.items() if key != "observations"},
        "observations": [
            {key: value for key, value in each.items() if key != "traceId"}
            for each in given.LANGFUSE["observations"]
        ],
    },
    "otel": given.OTEL,
    "otel spread": given.OTEL_SPREAD,
    "otel events": given.OTEL_EVENTS,
    "openinference": given.OPEN_INFERENCE,
}


@pytest.mark.parametrize("name", SAME)
def test_every_trace_gives_the_same_run(name: str) -> None:
    run = from_json(SAME[name], "run").trajectory
    look, say = run.steps
    assert (run.id, run.task, run.instructions, run.answer) == ("t1", chat.TASK, chat.SYSTEM, chat.ANSWER)
    assert (look.planning, look.action) == (chat.THOUGHT, 'find({"parcel": 7})')
    assert (look.given, look.observation, look.failure) == ("", chat.SEEN, "")
    assert (say.action, say.observation) == (chat.ANSWER, "")


@pytest.mark.parametrize("name", ["langsmith", "langfuse", "otel"])
def test_tools_outcome_and_task_of_a_trace(name: str) -> None:
    loaded = from_json(SAME[name])
    (tool,) = loaded.trajectory.tools
    assert (tool.name, tool.description) == ("find", "Find it.")
    if name != "otel":
        assert loaded.trajectory.task_id == "e7"
    assert loaded.reference.outcome == "failure"
    assert "GOLD" not in loaded.trajectory.model_dump_json()


def test_no_run_of_a_tree_without_ids_is_lost() -> None:
    tools = [{"run_type": "tool", "name": f"t{n}", "start_time": f"{n:02}"} for n in range(15)]
    tree = {"run_type": "chain", "inputs": {"task": "x"}, "child_runs": tools}
    assert [step.tool for step in from_json(tree).trajectory.steps] == [f"t{n}" for n in range(15)]


def test_scores_that_are_grades_leave_the_outcome_open_and_are_told() -> None:
    rated = {**given.LANGSMITH, "feedback_stats": {"helpfulness": {"avg": 0.6}}}
    loaded = from_json(rated)
    assert loaded.reference.outcome == "unknown"
    assert loaded.trajectory.notes == ("Its scores do not tell whether it succeeded: helpfulness 0.6.",)


def test_a_category_of_feedback_tells_the_outcome() -> None:
    rated = {
        **given.LANGSMITH,
        "feedback_stats": {"verdict": {"n": 1, "avg": None, "values": {"correct": 1}}},
    }
    assert from_json(rated).reference.outcome == "success"


def test_a_score_of_something_else_is_no_outcome() -> None:
    rated = {**given.LANGFUSE, "scores": [{"name": "toxicity", "value": 0}]}
    loaded = from_json(rated)
    assert loaded.reference.outcome == "unknown"
    assert loaded.trajectory.notes == ("Its scores do not tell whether it succeeded: toxicity 0.",)


def test_an_export_of_langfuse_whose_texts_are_json_within_json_is_read() -> None:
    coded = {**given.LANGFUSE, "input": json.dumps(json.dumps({"prompt": chat.TASK}))}
    coded["observations"] = [
        {**each, **{key: json.dumps(json.dumps(each[key])) for key in ("input", "output")}}
        for each in given.LANGFUSE["observations"]
    ]
    assert from_json(coded).trajectory == from_json(given.LANGFUSE).trajectory


def test_a_trace_that_came_to_langfuse_by_opentelemetry_tells_tools_and_instructions() -> None:
    attributes = {
        "gen_ai.tool.definitions": json.dumps([chat.FUNCTION]),
        "gen_ai.system_instructions": "Sort.",
    }
    agent = given.observation("1", "AGENT", input=chat.TASK, metadata=json.dumps({"attributes": attributes}))
    model = given.observation("2", "GENERATION", "1", input=chat.CHAT[1:2], output=chat.CHAT[4])
    run = from_json({"id": "t1", "observations": [agent, model]}).trajectory
    assert (run.instructions, run.tools[0].name) == ("Sort.", "find")


def test_messages_of_gemini_are_read_from_a_trace() -> None:
    called = {"parts": [{"text": chat.THOUGHT}, {"function_call": {"name": "find", "args": {"parcel": 7}}}]}
    seen = {"parts": [{"function_response": {"name": "find", "response": {"result": chat.SEEN}}}]}
    asked = {"role": "user", "parts": [{"text": chat.TASK}]}
    config = {"system_instruction": chat.SYSTEM, "tools": [{"function_declarations": [chat.FUNCTION]}]}
    contents = [asked, {"role": "model", **called}, {"role": "user", **seen}]
    spans = [
        given.observation(
            "1",
            "GENERATION",
            input={"contents": [asked], "config": config},
            output={"content": {"role": "model", **called}},
        ),
        given.observation(
            "2",
            "GENERATION",
            input={"contents": contents},
            output={"candidates": [{"content": {"role": "model", "parts": [{"text": chat.ANSWER}]}}]},
        ),
    ]
    run = from_json({"id": "t1", "observations": spans}).trajectory
    assert (run.task, run.instructions, run.tools[0].name) == (chat.TASK, chat.SYSTEM, "find")
    assert [step.action for step in run.steps] == ['find({"parcel": 7})', chat.ANSWER]
    assert chat.SEEN in run.steps[0].observation


def test_a_model_span_around_others_only_frames_them() -> None:
    outer = given.observation("1", "GENERATION", input={"prompt": chat.TASK}, output=chat.ANSWER)
    within = [
        {**each, "parentObservationId": "1"} for each in given.LANGFUSE["observations"] if each["id"] > "1"
    ]
    run = from_json({"id": "t1", "observations": [outer, *within]}).trajectory
    assert [step.action for step in run.steps] == ['find({"parcel": 7})', chat.ANSWER]
    twice = [outer, {**outer, "id": "2", "parentObservationId": "1"}]
    assert len(from_json({"id": "t1", "observations": twice}).trajectory.steps) == 1


def test_a_recursion_limit_halts_a_trace() -> None:
    error = "GraphRecursionError('Recursion limit of 25 reached')"
    run = from_json({**given.LANGSMITH, "error": error}).trajectory
    assert (run.halted, run.limit) == (True, "GraphRecursionError")
    assert error in run.steps[-1].observation


def test_a_tool_that_broke_is_a_failure_of_its_step() -> None:
    broken = [
        {**each, "error": "no route", "outputs": None} if each["run_type"] == "tool" else each
        for each in given.LANGSMITH_FLAT
    ]
    step = from_json(broken).trajectory.steps[0]
    assert (step.failure, step.observation) == ("tool_execution_error", "[tool error] no route")


def test_what_a_tool_gave_besides_its_result_is_kept() -> None:
    whole = '{"result": "shelf 3", "stock": 0}'
    spans = [
        {**each, "output": whole} if each["type"] == "TOOL" else each
        for each in given.LANGFUSE["observations"]
    ]
    assert from_json(spans).trajectory.steps[0].observation == whole


def test_each_trace_of_an_export_is_a_run() -> None:
    second = {**given.LANGFUSE, "id": "t2"}
    second["observations"] = [{**each, "traceId": "t2"} for each in second["observations"]]
    assert [loaded.trajectory.id for loaded in all_from_json([given.LANGFUSE, second])] == ["t1", "t2"]
