"""Traces of LangSmith, Langfuse and OpenTelemetry: the same run, and what each tells besides."""

from __future__ import annotations

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


def test_each_trace_of_an_export_is_a_run() -> None:
    second = {**given.LANGFUSE, "id": "t2"}
    second["observations"] = [{**each, "traceId": "t2"} for each in second["observations"]]
    assert [loaded.trajectory.id for loaded in all_from_json([given.LANGFUSE, second])] == ["t1", "t2"]
