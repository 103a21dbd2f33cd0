"""Foresight through the compiled graph (SAMULE 3.2.3): a model judges only where rules cannot tell and nobody
would look again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.agent import Drive, Driven, Script, World
from tests.support.model_server import SeenRequest
from tests.support.replies import INVALID, call, finish, plan, sub, verdict


def reflections(out: Driven) -> list[int]:
    """The steps that were reflected on."""
    return [step["n"] for step in out.steps if "foresight" in step]


async def test_a_model_judges_where_rules_cannot_tell_and_nobody_would_look_again(drive: Drive) -> None:
    script = Script(
        moves={"a": [call("x", expected="the opening hours"), finish("looked again")]},
        verdicts=[verdict("significant", "It was the price list: open another page.", difference="prices")],
    )
    out = await drive(script, World({"x": ["nails 2, screws 3"]}), foresight_judgement=True)
    assert reflections(out) == [1]
    (asked,) = out.asked("ForesightVerdict")
    assert "the opening hours" in asked.last
    assert "nails 2, screws 3" in asked.last
    step = out.steps[0]
    assert (step["surprise"], step["finished"], step["foresight"]["by"]) == ("serious", False, "model")
    assert "It was the price list" in out.asked("ToolChoice", "a")[1].last
    assert out.state["results"]["a"]["text"] == "looked again"
    assert out.state["replans"] == []


async def test_a_judgement_can_ask_for_a_new_plan(drive: Drive) -> None:
    script = Script(
        plans=[plan(sub("a")), plan(sub("b"))],
        moves={"a": [call("x", expected="the opening hours")]},
        verdicts=[verdict("significant", "There is no such shop.", replan=True)],
    )
    out = await drive(script, foresight_judgement=True)
    (replan,) = out.state["replans"]
    assert replan["kind"] == "surprise"
    assert "There is no such shop." in out.asked("Plan")[1].last
    assert out.subtasks == {"b": "finished"}


@pytest.mark.parametrize("deviation", ["none", "minor"])
async def test_what_says_the_same_finishes(drive: Drive, deviation: str) -> None:
    script = Script(moves={"a": [call("x", expected="a value")]}, verdicts=[verdict(deviation)])
    out = await drive(script, foresight_judgement=True)
    assert out.steps[0]["finished"]
    assert out.steps[0]["surprise"] == deviation
    assert len(out.asked("ForesightVerdict")) == 1


@pytest.mark.parametrize(
    ("move", "switches"),
    [
        (call("x", expected="a value"), {}),
        (call("x", expected="a value", finishes=False), {"foresight_judgement": True}),
        (call("x", expected='a "value"'), {"foresight_judgement": True}),
        (call("x", expected='a "number"'), {"foresight_judgement": True}),
        (call("x"), {"foresight_judgement": True}),
        (call("x", expected="a value"), {"foresight_judgement": True, "foresight": "user"}),
        (call("x", expected="a value"), {"foresight_judgement": True, "foresight": "off"}),
    ],
)
async def test_no_model_is_asked_where_it_need_not(
    drive: Drive, move: dict[str, Any], switches: dict[str, Any]
) -> None:
    out = await drive(Script(moves={"a": [move, finish("done")]}), **switches)
    assert "ForesightVerdict" not in out.kinds
    assert out.status == "answered"


async def test_a_judge_that_fails_does_not_fail_the_step(drive: Drive) -> None:
    script = Script(moves={"a": [call("x", expected="a value")]}, verdicts=[INVALID])
    out = await drive(script, foresight_judgement=True)
    assert out.steps[0]["finished"]
    assert out.status == "answered"
    assert out.state["usage"]["tool"]["calls"] == 1
    assert out.state["usage"]["foresight_tools"]["calls"] == 3, "the question and its two repairs"
    assert "inspector" not in out.state["usage"], "what the judge cost is booked once"
    assert out.steps[0]["usage"]["calls"] == 1 + 3


async def test_a_contradictory_verdict_is_sent_back(drive: Drive) -> None:
    verdicts = [verdict("significant"), verdict("minor", replan=True), verdict("none")]
    script = Script(moves={"a": [call("x", expected="a value")]}, verdicts=verdicts)
    out = await drive(script, foresight_judgement=True)
    assert len(out.asked("ForesightVerdict")) == 3
    assert out.steps[0]["finished"]


def question(expected: str) -> dict[str, Any]:
    """A question to the person, with the answer that is foreseen."""
    return {
        **call(tool="ask_user", expected=expected),
        "arguments": {"question": "which year?", "choices": None},
    }


@pytest.mark.parametrize("foresight", ["user", "both"])
async def test_an_unforeseen_answer_of_the_person_is_reflected_on(drive: Drive, foresight: str) -> None:
    said = verdict("significant", "They want all years: do not ask for one again.", difference="all years")
    out = await drive(
        Script(moves={"a": [question("They say 2024."), finish("all years")]}, verdicts=[said]),
        foresight=foresight,
    )
    await out.reply("I want every year since the beginning")
    (asked,) = out.asked("ForesightVerdict")
    assert "They say 2024." in asked.last
    assert "every year since the beginning" in asked.last
    assert reflections(out) == [1]
    assert "They want all years" in out.asked("ToolChoice", "a")[1].last
    assert out.state["results"]["a"]["origin"] == "user"
    assert out.status == "answered"


@pytest.mark.parametrize(("expected", "said"), [("2024", " 2024."), ('"2024", I think', "Take 2024, please")])
async def test_a_foreseen_answer_needs_no_judgement(drive: Drive, expected: str, said: str) -> None:
    out = await drive(Script(moves={"a": [question(expected)]}), foresight="user")
    await out.reply(said)
    assert "ForesightVerdict" not in out.kinds
    assert out.steps[0]["finished"]


async def test_without_the_switch_no_persons_words_are_foreseen(drive: Drive) -> None:
    out = await drive(Script(moves={"a": [question("They say 2024.")]}))
    await out.reply("every year")
    await out.go("a second task")
    assert "ForesightVerdict" not in out.kinds
    assert not any("expected_reply" in seen.text for seen in out.requests)


async def test_the_next_message_of_a_chat_is_foreseen_with_the_answer(drive: Drive) -> None:
    def answers(seen: SeenRequest) -> dict[str, Any]:
        foreseen = "They ask about Bergen next."
        return {
            "answer": "Oslo", "used_steps": [], "defects": [], "expected_reply": foreseen,
        }  # fmt: skip

    said = verdict("significant", "The person doubts the first answer: check its source.")
    out = await drive(Script(answers=answers, verdicts=[said]), foresight="both", task="the capital?")
    assert "ForesightVerdict" not in out.kinds
    await out.go("That is wrong, look again")
    (asked,) = out.asked("ForesightVerdict")
    assert "They ask about Bergen next." in asked.last
    assert "look again" in asked.last
    assert "The person doubts the first answer" in out.asked("Plan")[1].last
    assert out.state["usage"]["planner"]["calls"] == 1
    assert out.state["usage"]["foresight_user"]["calls"] == 1


async def test_a_chat_that_goes_on_as_foreseen_leaves_no_trace(drive: Drive) -> None:
    def answers(seen: SeenRequest) -> dict[str, Any]:
        return {
            "answer": "Oslo", "used_steps": [], "defects": [], "expected_reply": "And Bergen?",
        }  # fmt: skip

    out = await drive(Script(answers=answers), foresight="user", task="the capital?")
    await out.go("and Bergen?")
    assert "ForesightVerdict" not in out.kinds
    assert "reflection on the person" not in out.asked("Plan")[1].text
