"""Calls that a plan carries: made without asking a model, and otherwise like any other call."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from forethought.tools.base import Observation, make_tool
from tests.support.agent import Drive, Script, World, broken
from tests.support.replies import ask_replan, call, diagnosis, plan, sub

Json = dict[str, Any]
NOTES = {"name": "notes.txt", "data": base64.b64encode(b"some notes").decode()}


def lookup(key: str = "x", **more: Any) -> Json:
    """A planned call of `lookup`."""
    return {"tool": "lookup", "arguments": {"key": key, "note": None, **more}}


def code(text: str) -> Json:
    """A planned program."""
    return {"tool": "python", "arguments": {"code": text}}


async def test_a_planned_call_asks_no_model(drive: Drive) -> None:
    plans = [plan(sub("a", call=lookup("x")), sub("b", call=lookup("y")))]
    out = await drive(Script(plans=plans), effort="auto")
    assert out.asked("ToolChoice") == []
    assert sorted(out.world.calls) == ["x", "y"]
    assert out.subtasks == {"a": "finished", "b": "finished"}
    assert out.state["results"]["a"]["text"] == "value of x"
    step = out.steps[0]
    assert (step["ok"], step["finished"], step["score"], step["usage"]["calls"]) == (True, True, 0, 0)
    assert out.status == "answered"


async def test_a_planned_call_that_does_not_finish_is_gone_on_from(drive: Drive) -> None:
    first = sub("a", call=lookup("x"), expected='what holds "the end"') | {"finishes": False}
    out = await drive(Script(plans=[plan(first)], moves={"a": [call("y")]}), effort="auto")
    (asked,) = out.asked("ToolChoice")
    assert "value of x" in asked.last
    assert out.world.calls == ["x", "y"]
    assert [(step["ok"], step["finished"]) for step in out.steps] == [(True, False), (True, True)]
    assert out.state["results"]["a"]["text"] == "value of y"


@pytest.mark.parametrize(
    "wrong",
    [
        {"tool": "hammer", "arguments": {}},
        {"tool": "lookup", "arguments": {"kee": "x"}},
        {"tool": "lookup", "arguments": "no object"},
        "lookup x",
    ],
)
async def test_a_planned_call_that_cannot_be_made_is_left_to_the_worker(drive: Drive, wrong: Any) -> None:
    out = await drive(Script(plans=[plan(sub("a", call=wrong))]), effort="auto")
    assert len(out.asked("Plan")) == len(out.asked("ToolChoice")) == 1
    assert out.world.calls == ["a"]
    assert out.status == "answered"


@pytest.mark.parametrize(
    ("came", "expected"),
    [
        (broken(), ""),
        (Observation("the first half", partial=True), ""),
        ("prices of 2023", 'a table of "2024"'),
    ],
)
async def test_after_a_failure_a_part_or_a_surprise_the_worker_goes_on(
    drive: Drive, came: Any, expected: str
) -> None:
    plans = [plan(sub("a", call=lookup("x"), expected=expected))]
    out = await drive(Script(plans=plans, moves={"a": [call("y")]}), World({"x": [came]}), effort="auto")
    (asked,) = out.asked("ToolChoice")
    assert "lookup" in asked.last
    assert out.world.calls == ["x", "y"]
    assert out.state["results"]["a"]["text"] == "value of y"


async def test_a_planned_program_sees_the_results_of_others(drive: Drive) -> None:
    total = code("print(len(results['a']) + int(results['b'].split()[-1]))")
    plans = [plan(sub("a", call=lookup("x")), sub("b", call=code("6 * 7")), sub("c", ["a", "b"], call=total))]
    out = await drive(Script(plans=plans), effort="auto")
    assert out.asked("ToolChoice") == []
    assert out.state["results"]["c"]["text"] == str(len("value of x") + 42)


async def test_a_call_that_changes_something_is_left_to_a_worker_who_evaluates_it(drive: Drive) -> None:
    written = []

    def note(text: str) -> str:
        """Write into the diary.

        Args:
            text: What to write.
        """
        written.append(text)
        return "noted"

    plans = [plan(sub("w", call={"tool": "note", "arguments": {"text": "dear diary"}}))]
    given = {"task": "note it", "files": [NOTES]}
    moves = {"w": [call(tool="note", text="dear diary")]}
    script, tools = Script(plans=plans, moves=moves), [make_tool(note, effect="write")]
    out = await drive(script, task=given, tools=tools, effort="auto")
    offered = out.asked("Plan")[0].schema["properties"]["subtasks"]["items"]["properties"]["calls"]["items"]
    assert ["note"] not in [item["properties"]["tool"]["enum"] for item in offered["anyOf"]]
    (asked,) = await out.waiting()
    assert (asked["kind"], asked["tool"], asked["arguments"]) == ("tool", "note", {"text": "dear diary"})
    assert "file:notes.txt" in asked["why"]
    assert written == []
    await out.reply("approve")
    assert written == ["dear diary"]
    assert out.steps[0]["approval"] == "approved"
    assert "defects" in out.asked("ToolChoice")[0].schema["properties"]


async def test_a_switch_that_wants_moves_evaluated_leaves_planned_calls_to_workers(drive: Drive) -> None:
    out = await drive(Script(plans=[plan(sub("a", call=lookup("x")))]), effort="auto", tool_intra=True)
    assert "defects" in out.asked("ToolChoice", "a")[0].schema["properties"]


async def test_a_call_that_failed_is_not_planned_again(drive: Drive) -> None:
    plans = [plan(sub("a", call=lookup("x"))), plan(sub("b", call=lookup("x")))]
    moves = {"a": [call("z")], "b": [call("y")]}
    world = World({"x": [broken()], "z": [broken()]})
    out = await drive(Script(plans=plans, moves=moves), world, max_attempts=2, effort="auto")
    assert out.world.calls == ["x", "z", "y"]
    assert [item["kind"] for item in out.state["replans"]] == ["attempts"]


async def test_the_reflector_sees_the_planned_call_and_may_plan_another(drive: Drive) -> None:
    script = Script(
        plans=[plan(sub("a", call=lookup("x")))],
        diagnoses=[
            diagnosis("ineffective_tool_selection", subtasks=[sub("a", call=lookup("better"))]),
            diagnosis(),
        ],
    )
    out = await drive(script, effort="auto", prospective_reflection=True)
    assert 'lookup({"key": "x"' in out.asked("PlanDiagnosis")[0].last
    assert out.world.calls == ["x", "better"], "the first is read beside the examination"
    assert list(out.subtasks) == ["a_2"]


async def test_guidance_that_comes_after_the_plan_is_heeded(drive: Drive) -> None:
    out = await drive(Script(plans=[plan(sub("a", call=lookup("x")))]), effort="auto")
    history = [item async for item in out.graph.aget_state_history(out.config)]
    before = next(item for item in history if item.next == ("tool_agent",))
    forked = await out.graph.aupdate_state(
        before.config, {"guidance": ["Look up y."]}, as_node="replan_trigger"
    )
    await out.graph.ainvoke(None, forked, context=out.context)
    (asked,) = out.asked("ToolChoice")
    assert "Look up y." in asked.last


async def test_the_papers_order_leaves_every_move_to_a_worker(drive: Drive) -> None:
    out = await drive()
    assert '"call"' not in str(out.asked("Plan")[0].schema)
    assert "`call`" not in out.asked("Plan")[0].last


def lookups(*keys: str) -> list[Json]:
    return [lookup(key) for key in keys]


async def test_several_calls_are_made_side_by_side_and_depended_on_together(drive: Drive) -> None:
    total = code("print(results['bins_1'], results['bins_2'], results['bins_3'])")
    first = plan(sub("bins", calls=lookups("x", "y", "z")), sub("sum", ["bins"], call=total))
    out = await drive(Script(plans=[first]), effort="auto", max_parallel=3)
    assert list(out.subtasks) == ["bins_1", "bins_2", "bins_3", "sum"]
    assert [step["wave"] for step in out.steps] == [1, 1, 1, 2]
    assert sorted(out.world.calls) == ["x", "y", "z"]
    assert out.state["results"]["sum"]["text"].split() == [
        "value",
        "of",
        "x",
        "value",
        "of",
        "y",
        "value",
        "of",
        "z",
    ]
    assert out.kinds == ["Plan", "AnswerDraft"]


async def test_the_worker_of_one_of_several_calls_is_told_which(drive: Drive) -> None:
    world = World({"y": [broken()]})
    out = await drive(
        Script(plans=[plan(sub("bins", calls=lookups("x", "y"), description="Look up each bin."))]),
        world,
        effort="auto",
    )
    (seen,) = out.asked("ToolChoice")
    assert 'Of this only: lookup({"key": "y", "note": null})' in seen.text
    assert out.status == "answered"


async def test_a_new_plan_names_the_parts_and_keeps_what_is_finished(drive: Drive) -> None:
    part = plan(sub("bins", calls=lookups("x", "y"), description="Look up each bin."), sub("c", ["bins"]))
    again = plan(
        sub("bins", calls=lookups("x", "y"), description="Look up each bin."), sub("d", ["bins_1", "bins"])
    )
    out = await drive(Script(plans=[part, again], moves={"c": [ask_replan()]}), effort="auto")
    assert out.subtasks == {"bins_1": "finished", "bins_2": "finished", "d": "finished"}
    assert sorted(out.world.calls) == ["d", "x", "y"], "nothing twice"
    prompt = out.asked("Plan")[1].text
    assert "bins_2 [finished]" in prompt
    assert out.state["plan"]["subtasks"][-1]["depends_on"] == ["bins_1", "bins_2"]


async def test_an_id_that_the_parts_take_is_sent_back(drive: Drive) -> None:
    plans = [plan(sub("a", calls=lookups("x", "y")), sub("a_2")), plan(sub("a"))]
    out = await drive(Script(plans=plans), effort="auto")
    assert "two subtasks have the id 'a_2'" in out.asked("Plan")[1].last
