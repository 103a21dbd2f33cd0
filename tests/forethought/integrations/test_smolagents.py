"""Prospective reflection in agents of smolagents."""

from __future__ import annotations

import json
from typing import Any

import pytest
import smolagents
from smolagents import tool
from smolagents.models import ChatMessage, MessageRole

from forethought.integrations.smolagents import PlanReflection
from tests.support.hasty_clerk import TASK, reply_of, role_of

NEW_PLAN = "Now write your updated facts below"


class Clerk(smolagents.Model):
    """The hasty clerk for smolagents: it looks the fee up only where its plan says so."""

    def __init__(self, *, code: bool, wrong_first: int = 0) -> None:
        super().__init__(model_id="hasty")
        self.code, self.wrong_first = code, wrong_first
        self.asked: list[tuple[str, str]] = []

    def generate(self, messages: Any, stop_sequences: Any = None, **_: Any) -> ChatMessage:
        given = [ChatMessage.from_dict(item) if isinstance(item, dict) else item for item in messages]
        text = "\n".join(part["text"] for message in given for part in message.content)
        role = role_of(text)
        if stop_sequences == ["<end_plan>"]:
            role = "new plan" if NEW_PLAN in text else "plan"
            said = "## 1. Facts survey\nArden\n\n## 2. Plan\n1. Find the price of the lamp."
        elif role == "reflector":
            said = json.dumps(reply_of(role, text))
        else:
            said = self._act(text, sum(each == "worker" for each, _ in self.asked))
        self.asked.append((role, text))
        return ChatMessage(MessageRole.ASSISTANT, said, token_usage=smolagents.TokenUsage(100, 10))

    def _act(self, text: str, made: int) -> str:
        if made < self.wrong_first:
            code = "price(item='nothing')"
        else:
            total = "43" if "with fee" in text else "40"
            code = f"{'fee()' if total == '43' else 'price(item=1)'}\nfinal_answer({total!r})"
        if self.code:
            return f"<code>\n{code}\n</code>"
        name, arguments = (
            ("price", {"item": "nothing"}) if "nothing" in code else ("final_answer", {"answer": total})
        )
        return f"Action:\n{json.dumps({'name': name, 'arguments': arguments})}"


@tool
def price(item: str) -> str:
    """The price of an item in Arden.

    Args:
        item: The item's name.
    """
    if item == "nothing":
        raise ValueError("there is no such item")
    return "40 euros"


@tool
def fee() -> str:
    """The fee of Arden's market."""
    return "3 euros"


def agent_of(model: Clerk, **options: Any) -> Any:
    kind = smolagents.CodeAgent if model.code else smolagents.ToolCallingAgent
    return kind([price, fee], model, verbosity_level=0, max_steps=8, **options)


@pytest.mark.parametrize("code", [True, False])
def test_a_plan_is_revised_before_the_first_action(code: bool) -> None:
    assert agent_of(Clerk(code=code), planning_interval=6).run(TASK) == "40"
    model, reflection = Clerk(code=code), PlanReflection()
    agent = agent_of(model, **reflection.hooks)
    assert agent.run(TASK) == "43"
    assert [role for role, _ in model.asked] == ["plan", "reflector", "reflector", "worker"]
    assert "2. Find the market's fee with fee." in model.asked[3][1]
    assert "## 1. Facts survey\nArden" in model.asked[3][1]
    assert reflection.record["reviews"][0]["errors"][0]["evidence"] == "no subtask finds the fee"
    planned = next(step for step in agent.memory.steps if isinstance(step, smolagents.PlanningStep))
    assert planned.token_usage.input_tokens == 300, "with what the reflection cost"


@pytest.mark.parametrize("code", [True, False])
def test_the_next_step_plans_again_where_a_failed_call_is_made_again(code: bool) -> None:
    model, reflection = Clerk(code=code, wrong_first=2), PlanReflection()
    agent = agent_of(model, **reflection.hooks)
    assert agent.run(TASK) == "43"
    roles = [role for role, _ in model.asked if role != "reflector"]
    assert roles == ["plan", "worker", "worker", "new plan", "worker"]
    assert reflection.record["replans"][0]["kind"] == "repeat"
    assert agent.planning_interval == 6
    again = [text for role, text in model.asked if role == "reflector"][-1]
    assert "FAILED (repeat)" in again, "the new plan is examined with what was done before it"


def test_a_sound_plan_stays_as_it_is() -> None:
    model, reflection = Clerk(code=True), PlanReflection(prospective_reflection=False)
    agent_of(model, **reflection.hooks).run(TASK)
    assert [role for role, _ in model.asked] == ["plan", "worker"]


def test_each_task_has_a_record_of_its_own() -> None:
    model, reflection = Clerk(code=True), PlanReflection()
    agent = agent_of(model, **reflection.hooks)
    for _ in range(2):
        agent.run(TASK)
        assert (len(reflection.record["planned_at"]), len(reflection.record["reviews"])) == (1, 2)
    agent.run("And a red lamp?", reset=False)
    assert reflection.record["task"] == "And a red lamp?"
    assert len(reflection.record["planned_at"]) == 1
