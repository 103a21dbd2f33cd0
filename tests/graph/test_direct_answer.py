"""What needs no work: answered by the planner itself, or written by the answer agent at once."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.support.agent import Drive, Script, World
from tests.support.replies import Json, ask_replan, check, checked, plan, sub

DIRECT = plan(answer="Paris.")
SIGNED = "Pay it, unless the order was cancelled."


def fields(schema: Json) -> list[str]:
    return list(schema["properties"])


@pytest.mark.parametrize("effort", ["auto", "low"])
async def test_a_question_that_needs_no_work_is_answered_in_one_call(drive: Drive, effort: str) -> None:
    out = await drive(Script(plans=[DIRECT]), task="What is the capital of France?", effort=effort)
    assert out.kinds == ["Plan"]
    assert (out.status, out.state["answer"], out.state["sources"]) == ("answered", "Paris.", [])
    assert out.state["draft"]["answer"] == "Paris."
    assert out.talk == [
        ("human", "What is the capital of France?"),
        ("ai", "Paris."),
    ]
    assert out.state["usage"]["planner"]["calls"] == 1
    assert (await out.graph.aget_state(out.config)).next == ()


async def test_a_question_that_the_conversation_answers_is_answered_in_one_call(drive: Drive) -> None:
    script = Script(plans=[plan(sub("a")), plan(answer="As I said.")])
    out = await drive(script, effort="auto")
    before = len(out.requests)
    await out.go("What did you say?")
    assert out.kinds[before:] == ["Plan"]
    assert "the answer" in out.requests[-1].text, "the earlier answer"
    assert (out.status, out.state["answer"], out.state["sources"]) == ("answered", "As I said.", [])
    assert [text for _, text in out.talk] == [
        "the task",
        "the answer",
        "What did you say?",
        "As I said.",
    ]
    await out.go("And before?")
    assert [item["answer"] for item in out.state["progress"]["earlier"]] == ["the answer", "As I said."]


async def test_a_follow_up_on_a_file_with_signs_takes_one_call(drive: Drive) -> None:
    """The earlier answer was checked; what has to be looked at again is a subtask."""
    script = Script(plans=[plan(sub("a")), plan(answer="Twelve, then.")], exact=True)
    script.answers = [checked("12", check())]
    out = await drive(script, task=WITH_SIGNS, effort="auto")
    before = len(out.requests)
    await out.go("In a word?")
    assert out.kinds[before:] == ["Plan"]
    assert out.state["answer"] == "Twelve, then."
    assert "from the earlier answers, or" in out.requests[before].text


async def test_after_an_answer_that_did_not_pass_a_follow_up_on_signs_goes_to_the_writer(
    drive: Drive,
) -> None:
    script = Script(plans=[plan(sub("a")), plan()], answers=[checked("12", check("S1", "no"))], exact=True)
    out = await drive(script, task=WITH_SIGNS, effort="auto")
    assert out.status == "best_effort"
    await out.go("In a word?")
    assert "answer" not in fields(out.asked("Plan")[-1].schema)


async def test_an_answer_beside_subtasks_is_none(drive: Drive) -> None:
    out = await drive(Script(plans=[plan(sub("a"), answer="to be computed")]), effort="auto")
    assert (out.kinds[-1], out.state["answer"], out.world.calls) == ("AnswerDraft", "the answer", ["a"])


async def test_nobody_is_asked_to_approve_an_answer(drive: Drive) -> None:
    out = await drive(Script(plans=[DIRECT]), effort="auto", approve_plan=True)
    assert await out.waiting() == []
    assert out.status == "answered"


COSTS = b"Total 12\nExcept: the costs of March are void.\n"
WITH_SIGNS = {
    "task": "Which total?",
    "files": [{"name": "costs.txt", "data": base64.b64encode(COSTS).decode()}],
}


PICTURE = {
    "task": "What is it?",
    "files": [{"name": "a.bin", "data": base64.b64encode(b"\x00\x01").decode()}],
}


@pytest.mark.parametrize(
    ("task", "switches"),
    [
        (WITH_SIGNS, {}),
        (PICTURE, {}),
        ("the task", {"foresight": "user"}),
        ("the task", {"answer_intra": True}),
        ("the task", {"effort": "paper"}),
    ],
    ids=[
        "signs of a file",
        "a file that cannot be shown",
        "the person's reply is foreseen",
        "answers are scored",
        "the paper's order",
    ],
)
async def test_where_an_answer_is_to_be_checked_the_planner_does_not_give_it(
    drive: Drive, task: Any, switches: Any
) -> None:
    out = await drive(Script(exact=True), task=task, **{"effort": "auto", **switches})
    seen = out.asked("Plan")[0]
    assert "answer" not in fields(seen.schema)
    assert "- `answer`" not in seen.text
    assert out.kinds[-1] == "AnswerDraft"


async def test_a_plan_made_during_the_work_carries_no_answer(drive: Drive) -> None:
    script = Script(plans=[plan(sub("a"), sub("b", ["a"])), plan()], moves={"b": [ask_replan()]})
    out = await drive(script, effort="auto")
    first, again = out.asked("Plan")
    assert "answer" in fields(first.schema)
    assert "answer" not in fields(again.schema)
    assert ("discard" in fields(first.schema), "discard" in fields(again.schema)) == (False, True)


async def test_an_empty_first_plan_goes_to_the_answer_agent_that_checks_it(drive: Drive) -> None:
    script = Script(plans=[plan(answer="12")], answers=[checked("11", check("S1"))])
    out = await drive(script, task=WITH_SIGNS, effort="auto", approve_plan=True)
    assert out.kinds == ["Plan", "AnswerDraft"]
    assert (out.status, out.state["answer"]) == ("answered", "11")


async def test_an_empty_plan_after_work_that_brought_nothing_is_no_full_answer(drive: Drive) -> None:
    script = Script(plans=[plan(sub("a")), plan()], moves={"a": [ask_replan()]})
    out = await drive(script, World(), effort="auto")
    assert out.status == "best_effort"
