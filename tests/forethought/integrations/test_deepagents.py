"""Prospective reflection in deepagents."""

from __future__ import annotations

from typing import Any

import pytest
from deepagents import create_deep_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from forethought.integrations.langchain import ProspectiveReflection
from tests.support.hasty_clerk import TASK, HastyClerk, fee, price

CONFIG: Any = {"configurable": {"thread_id": "1"}}
ASKED: Any = {"messages": [{"role": "user", "content": TASK}]}
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:deepagents")


def agent_of(model: HastyClerk, *middleware: Any, **options: Any) -> Any:
    return create_deep_agent(model=model, tools=[price, fee], middleware=middleware, **options)


async def test_its_plan_is_revised_before_the_first_tool_call() -> None:
    plain = await agent_of(HastyClerk()).ainvoke(ASKED)
    assert plain["messages"][-1].text == "It costs 40 euros."
    model = HastyClerk()
    state = await agent_of(model, ProspectiveReflection()).ainvoke(ASKED)
    assert state["messages"][-1].text == "It costs 43 euros."
    assert [role for role, _ in model.asked][:4] == ["planner", "reflector", "reflector", "worker"]
    assert "task(description: string, subagent_type: string)" in model.asked[0][1], "its own tools are known"


async def test_an_approval_is_asked_for_under_the_plan_and_answered_elsewhere() -> None:
    saver, models = InMemorySaver(), [HastyClerk(), HastyClerk()]
    made = [
        agent_of(model, ProspectiveReflection(), interrupt_on={"fee": True}, checkpointer=saver)
        for model in models
    ]
    waiting = await made[0].ainvoke(ASKED, CONFIG)
    assert waiting["__interrupt__"]
    state = await made[1].ainvoke(Command(resume={"decisions": [{"type": "approve"}]}), CONFIG)
    assert state["messages"][-1].text == "It costs 43 euros."
    assert "planner" not in models[1].counts
