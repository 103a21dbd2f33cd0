"""A person in the run: approving, editing and rejecting a plan; answering a question."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.agent import Drive, Script, World
from tests.support.replies import INVALID, ask_replan, call, diagnosis, plan, revision, sub

KIND = "insufficient_constraint_verification"


def edit_of(fields: dict[str, Any]) -> dict[str, Any]:
    """An edit of the plan into one subtask with these fields."""
    return {"decision": "edit", "value": [{"id": "a", "description": "do a", **fields}]}


async def test_nothing_is_executed_before_the_plan_is_approved(drive: Drive) -> None:
    out = await drive(Script(), approve_plan=True)
    (asked,) = await out.waiting()
    assert (asked["kind"], asked["id"], asked["n"]) == ("plan", "plan-1", 0)
    assert asked["plan"]["subtasks"][0]["id"] == "a"
    assert out.kinds == ["Plan", "PlanDiagnosis"]
    assert out.status == "interrupted"
    await out.reply({"decision": "approve"})
    assert out.status == "answered"
    assert out.kinds == ["Plan", "PlanDiagnosis", "ToolChoice", "AnswerDraft"]


async def test_an_edited_plan_is_diagnosed_and_executed_as_it_was_written(drive: Drive) -> None:
    out = await drive(Script(), approve_plan=True)
    await out.reply({"decision": "edit", "value": [sub("mine", description="my own way")]})
    assert out.status == "answered"
    assert "my own way" in out.asked("PlanDiagnosis")[1].text
    assert out.world.calls == ["mine"]
    assert [review["plan_version"] for review in out.state["plan_reviews"]] == [1, 2]


async def test_an_edited_call_is_made_as_it_was_written(drive: Drive) -> None:
    planned = {"tool": "lookup", "arguments": {"key": "x", "note": None}}
    script = Script(plans=[plan(sub("a", call=planned))])
    out = await drive(script, effort="auto", approve_plan=True)
    (asked,) = await out.waiting()
    (shown,) = asked["plan"]["subtasks"]
    assert shown["call"] == {**planned, "finishes": True}
    edited = {**shown, "call": {"tool": "lookup", "arguments": {"key": "mine", "note": None}}}
    await out.reply({"decision": "edit", "value": [edited]})
    assert out.world.calls == ["mine"]
    assert out.asked("ToolChoice") == []


async def test_an_edit_that_the_reflector_changes_is_asked_again(drive: Drive) -> None:
    script = Script(
        diagnoses=[diagnosis(), diagnosis(KIND), diagnosis()], revisions=[revision(sub("theirs"))]
    )
    out = await drive(script, approve_plan=True)
    await out.reply({"decision": "edit", "value": {"subtasks": [sub("mine")]}})
    (asked,) = await out.waiting()
    assert asked["plan"]["subtasks"][0]["id"] == "theirs"
    await out.reply({"decision": "approve"})
    assert out.world.calls == ["theirs"]
    assert out.status == "answered"


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ({"decision": "edit", "value": [sub("a", ["b"]), sub("b", ["a"])]}, "cycle"),
        ({"decision": "edit", "value": []}, "at least one"),
        ({"decision": "edit", "value": [{"id": "a"}]}, "description"),
        ({"decision": "edit", "value": "do it better"}, "list of subtasks"),
        (edit_of({"call": "read_file"}), "call must be {tool, arguments}"),
        (edit_of({"call": {"tool": "lookup"}}), "a call of subtask 'a' must be {tool, arguments}"),
        (edit_of({"call": {"tool": "lookup", "arguments": "x"}}), "a call of subtask 'a' must be"),
        (edit_of({"calls": "lookup"}), "a call of subtask 'a' must be {tool, arguments}"),
        (edit_of({"calls": 7}), "a call of subtask 'a' must be {tool, arguments}"),
        (edit_of({"call": {"tool": "nope", "arguments": {}}}), "subtask 'a': there is no tool 'nope'"),
        (edit_of({"call": {"tool": "lookup", "arguments": {"kee": "x"}}}), "wrong arguments for lookup"),
        ({"decision": "dance"}, "'dance'"),
        ({"value": 1}, "decision must be"),
        (17, "'17'"),
    ],
)
async def test_an_unusable_reply_is_asked_again_with_the_reason(
    drive: Drive, reply: Any, problem: str
) -> None:
    out = await drive(Script(), approve_plan=True)
    await out.reply(reply)
    (asked,) = await out.waiting()
    assert problem in asked["problem"]
    assert "\n" not in asked["problem"]
    assert out.world.calls == []
    await out.reply({"decision": "approve"})
    assert out.status == "answered"


async def test_the_planner_sees_why_its_plan_was_rejected(drive: Drive) -> None:
    out = await drive(Script(plans=[plan(sub("a")), plan(sub("b"))]), approve_plan=True)
    await out.reply({"decision": "reject", "reason": "too expensive by far"})
    assert "too expensive by far" in out.asked("Plan")[1].text
    (asked,) = await out.waiting()
    assert asked["plan"]["subtasks"][0]["id"] == "b"
    await out.reply({"decision": "approve"})
    assert out.world.calls == ["b"]


async def test_a_rejected_plan_is_never_executed_when_no_other_comes(drive: Drive) -> None:
    out = await drive(Script(plans=[plan(sub("a")), INVALID]), approve_plan=True)
    await out.reply({"decision": "reject", "reason": "no"})
    assert out.world.calls == []
    (asked,) = await out.waiting()
    assert asked["kind"] == "plan"
    await out.reply({"decision": "approve"})
    assert out.world.calls == ["a"]


async def test_replans_are_approved_too(drive: Drive) -> None:
    script = Script(plans=[plan(sub("a")), plan(sub("b"))], moves={"a": [ask_replan()]})
    out = await drive(script, approve_plan=True)
    await out.reply("approve")
    (asked,) = await out.waiting()
    assert asked["n"] == 1
    assert asked["plan"]["version"] == 2
    await out.reply("approve")
    assert out.status == "answered"


async def test_the_operator_can_require_approval(drive: Drive) -> None:
    out = await drive(Script(), setting={"require_plan_approval": True}, approve_plan=False)
    assert [item["kind"] for item in await out.waiting()] == ["plan"]


def question(text: str = "which year?", choices: list[str] | None = None) -> dict[str, Any]:
    """A move that asks the person."""
    return {**call(tool="ask_user"), "arguments": {"question": text, "choices": choices}}


async def test_a_question_waits_while_siblings_finish_and_do_not_run_again(drive: Drive) -> None:
    script = Script(
        plans=[plan(sub("ask"), sub("other"))], moves={"ask": [question(choices=["2023", "2024"])]}
    )
    out = await drive(script, World(seconds=0.1))
    (asked,) = await out.waiting()
    assert (asked["kind"], asked["n"], asked["subtask"]) == ("question", 1, "ask")
    assert (asked["question"], asked["choices"]) == ("which year?", ["2023", "2024"])
    before = list(out.kinds)
    await out.reply({"decision": "answer", "value": "2024"})
    assert out.world.calls == ["other"]
    assert out.kinds == [*before, "AnswerDraft"]
    assert out.state["results"]["ask"] == {
        "n": 1,
        "text": "Asked: which year?\nAnswered: 2024",
        "origin": "user",
    }
    assert out.status == "answered"


async def test_waiting_for_a_person_is_not_active_time(drive: Drive) -> None:
    out = await drive(Script(plans=[plan(sub("a"))], moves={"a": [question()]}))
    await out.reply("2024")
    assert out.steps[0]["seconds"] < 5
    assert out.steps[0]["ok"]


async def test_a_finished_subtask_that_the_person_words_anew_is_done_as_such(drive: Drive) -> None:
    plans = [plan(sub("a"), sub("b", ["a"])), plan(sub("b", ["a"]))]
    out = await drive(Script(plans=plans, moves={"b": [ask_replan(), call("b")]}), approve_plan=True)
    await out.reply("approve")
    (asked,) = await out.waiting()
    first, second = asked["plan"]["subtasks"]
    assert (first["id"], first["status"]) == ("a", "finished")
    edited = [{**first, "description": "do a in euros"}, second]
    await out.reply({"decision": "edit", "value": edited})
    assert out.subtasks == {"a": "finished", "a_2": "finished", "b": "finished"}
    assert out.world.calls == ["a", "a_2", "b"]
