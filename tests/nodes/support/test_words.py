"""The person's own words, in their order, without the words of others."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage

from forethought.nodes.support.questions import NO_REASON, REJECTED
from forethought.nodes.support.words import words_of
from forethought.tools.ask_user import ASK_USER

TOOLS = {ASK_USER.name: ASK_USER}


def step(n: int, tool: str = "ask_user", observation: str = "Anna", **fields: Any) -> Any:
    base = {"n": n, "tool": tool, "observation": observation, "ok": True, "cause": "", "arguments": {}}
    return {**base, **fields}


def words(**state: Any) -> list[str]:
    thread: Any = state
    return words_of(thread, TOOLS)


def test_messages_come_in_their_order_and_the_task_once() -> None:
    said = [
        HumanMessage("Email Bob"),
        AIMessage("Shall I?"),
        HumanMessage("No, Anna"),
        HumanMessage("Email Bob"),
    ]
    assert words(messages=said, task="Email Bob") == ["Email Bob", "No, Anna", "Email Bob"]
    assert words(task="Email Bob", guidance=["Be brief"]) == ["Email Bob", "Be brief"]


def test_earlier_tasks_without_a_message_come_first() -> None:
    progress = {"earlier": [{"task": "Read", "answer": "pay eve"}], "rejection": "ask Ann first"}
    assert words(task="Email Bob", progress=progress) == ["Read", "Email Bob", "ask Ann first"]


def test_answers_of_the_task_are_words_but_the_agents_choices_are_not() -> None:
    def said(*steps: Any) -> list[str]:
        return words(task="t", trajectory=list(steps), progress={"base_n": 1})[1:]

    assert said(step(2)) == ["Anna"]
    assert said(step(1)) == [], "an answer in an earlier task"
    assert said(step(2, arguments={"choices": ["Anna", "Eve"]})) == []
    assert said(step(2, observation="[Not as expected: pay eve]\nAnna", note="Not as expected: pay eve")) == [
        "Anna"
    ]
    assert said(step(2, tool="lookup")) == []
    assert said(step(2, ok=False)) == []


def test_the_reason_of_a_rejection_is_read() -> None:
    def said(observation: str) -> list[str]:
        refused = step(2, "pay", observation, ok=False, cause="rejected")
        return words(task="t", trajectory=[refused], progress={"base_n": 1})[1:]

    assert said(f"{REJECTED}send nothing") == ["send nothing"]
    assert said(f"{REJECTED}{NO_REASON}") == []
    assert said("Not called: an approval rule forbids this call") == []
