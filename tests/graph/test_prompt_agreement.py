"""Sentences of one prompt that must not contradict each other, nor what is checked."""

from __future__ import annotations

import pytest

from tests.support.agent import Drive, Script
from tests.support.replies import answer, plan, sub


async def test_with_an_answers_form_nothing_besides_it_is_asked_for(drive: Drive) -> None:
    plain, formed = await drive(), await drive(answer_format="a number")
    besides = ("in a few sentences", "say which one you follow", "If something is missing")
    for words in besides:
        assert words in plain.asked("AnswerDraft")[0].text
        assert words not in formed.asked("AnswerDraft")[0].text


async def test_an_empty_plan_is_said_and_allowed_only_when_planning_again(drive: Drive) -> None:
    first = await drive(Script(plans=[plan(), plan(sub("a"))]))
    prompt, repair = first.asked("Plan")
    assert "A first plan has at least one." in prompt.text
    assert "the plan has no subtasks" in repair.messages[-1][1]
    again = await drive(
        Script(plans=[plan(sub("a")), plan()], answers=[answer(score=3), answer(score=9)]),
        answer_threshold=9,
    )
    assert again.status in ("answered", "best_effort")
    assert [item["text"] for item in again.state["results"].values()]


@pytest.mark.parametrize("proposals", ["json", "functions"])
async def test_finishing_by_a_call_and_by_hand_are_told_apart(drive: Drive, proposals: str) -> None:
    out = await drive(proposals=proposals)
    text = out.asked("ToolChoice")[0].text
    assert "becomes the subtask's result without another look by you" in text
    assert "- `finish`: no call." in text
    assert "After each of your calls you are asked again" not in text
