"""Prospective reflection in agents of `create_agent`: what it mends, and what it gets along with."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    ModelRequest,
    ModelResponse,
    ModelRetryMiddleware,
    SummarizationMiddleware,
    TodoListMiddleware,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core._api import LangChainBetaWarning
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel

from forethought.integrations.langchain import ProspectiveReflection
from forethought.models.types import ConfigurationError
from forethought.settings import Settings
from tests.support.hasty_clerk import TASK, HastyClerk, fee, price

SOUND = {"errors": [], "subtasks": []}
CONFIG: Any = {"configurable": {"thread_id": "1"}}


def agent_of(model: HastyClerk, *middleware: AgentMiddleware[Any, Any, Any], saver: Any = None) -> Any:
    """An agent with the clerk's tools."""
    prompt = "You are a clerk."
    return create_agent(model, [price, fee], system_prompt=prompt, middleware=middleware, checkpointer=saver)


def asked(task: str = TASK) -> Any:
    """The input with one message."""
    return {"messages": [{"role": "user", "content": task}]}


def test_without_it_the_clerk_forgets_the_fee() -> None:
    assert agent_of(HastyClerk()).invoke(asked())["messages"][-1].text == "It costs 40 euros."


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "invoke in a loop"])
async def test_a_plan_is_revised_before_the_first_tool_call(way: str) -> None:
    model = HastyClerk()
    agent = agent_of(model, ProspectiveReflection())
    if way == "ainvoke":
        state = await agent.ainvoke(asked())
    else:
        state = agent.invoke(asked()) if way != "invoke" else await asyncio.to_thread(agent.invoke, asked())
    assert state["messages"][-1].text == "It costs 43 euros."
    assert [role for role, _ in model.asked][:4] == ["planner", "reflector", "reflector", "worker"]
    assert model.counts == {"planner": 1, "reflector": 2, "worker": 3, "checker": 1}
    record = state["prospective_reflection"]
    assert [subtask["id"] for subtask in record["plan"]["subtasks"]] == ["price", "fee"]
    assert record["reviews"][0]["errors"][0]["evidence"] == "no subtask finds the fee"
    assert [message.type for message in state["messages"]] == ["human", "ai", "tool", "ai", "tool", "ai"]
    json.dumps(record)


def test_the_plan_stands_behind_the_agents_own_prompt_and_stays_the_same() -> None:
    model = HastyClerk()
    agent_of(model, ProspectiveReflection()).invoke(asked())
    prompts = [text.split(TASK)[0] for role, text in model.asked if role == "worker"]
    assert len(prompts) == 3
    assert prompts[0].startswith("You are a clerk.\n\n# Your plan")
    assert len(set(prompts)) == 1, "a provider's cache serves it"


def test_planner_sees_the_agents_tools_and_instructions() -> None:
    model = HastyClerk()
    agent_of(model, ProspectiveReflection()).invoke(asked())
    role, prompt = model.asked[0]
    assert role == "planner"
    assert "price(item: string): The price of an item in Arden." in prompt
    assert "<guidance>\nYou are a clerk." in prompt


def test_a_sound_plan_and_answer_take_three_calls_more() -> None:
    model = HastyClerk(replies={"reflector": SOUND})
    state = agent_of(model, ProspectiveReflection()).invoke(asked())
    assert model.counts["planner"] == model.counts["reflector"] == model.counts["checker"] == 1
    usage = state["prospective_reflection"]["usage"]
    assert {role: spent["calls"] for role, spent in usage.items()} == {
        "planner": 1,
        "reflector": 1,
        "answer": 1,
    }


def test_an_answer_that_what_was_seen_does_not_show_is_not_given() -> None:
    model = HastyClerk(replies={"reflector": SOUND})
    state = agent_of(model, ProspectiveReflection()).invoke(asked())
    texts = [message.text for message in state["messages"] if message.type == "ai"]
    assert texts == ["", "", "It costs 43 euros."], "the answer without the fee is not in the conversation"
    record = state["prospective_reflection"]
    assert record["checks"] == [{"about": "the fee", "done": "no step shows it", "ok": "no"}]
    assert "rejection" not in record, "another answer was given since"
    assert any("<rejected_answer>\nIt costs 40 euros." in prompt for _, prompt in model.asked)


def test_the_papers_reflection_can_be_had() -> None:
    model = HastyClerk(replies={"checker": {"checks": [], "work": ""}})
    agent_of(model, ProspectiveReflection(effort="paper")).invoke(asked())
    turns = [prompt for role, prompt in model.asked if role == "reflector"]
    assert "Now revise the plan so that these errors cannot happen." in turns[1]
    assert "A worker sees nothing of the plan" not in turns[1]


def test_the_check_can_be_left_out() -> None:
    model = HastyClerk(replies={"reflector": SOUND})
    state = agent_of(model, ProspectiveReflection(checks_answer=False)).invoke(asked())
    assert state["messages"][-1].text == "It costs 40 euros."
    assert not model.counts["checker"]


def test_a_task_without_work_costs_one_call() -> None:
    model = HastyClerk(replies={"planner": {"known": [], "subtasks": []}, "worker": "You are welcome."})
    state = agent_of(model, ProspectiveReflection()).invoke(asked("Thanks!"))
    assert state["messages"][-1].text == "You are welcome."
    assert model.counts == {"planner": 1, "worker": 1}
    assert "# Your plan" not in model.asked[1][1]


def test_calls_that_fail_again_lead_to_a_new_plan_that_knows_why() -> None:
    model = HastyClerk(wrong_first=2)
    state = agent_of(model, ProspectiveReflection()).invoke(asked())
    plans = [prompt for role, prompt in model.asked if role == "planner"]
    assert len(plans) == 2
    assert "a call that had failed was proposed again: there is no such item" in plans[1]
    assert "FAILED (repeat)" in plans[1]
    assert state["prospective_reflection"]["replans"][0]["kind"] == "repeat"
    assert state["messages"][-1].text == "It costs 43 euros."


def test_new_plans_are_bounded() -> None:
    model = HastyClerk(wrong_first=5)
    agent_of(model, ProspectiveReflection(max_replans=1)).invoke(asked())
    assert model.counts["planner"] == 2


def test_without_a_valid_plan_the_agent_goes_on() -> None:
    model = HastyClerk(replies={"planner": "no plan today"})
    state = agent_of(model, ProspectiveReflection()).invoke(asked())
    assert state["messages"][-1].text == "It costs 40 euros."
    assert "no JSON object" in state["prospective_reflection"]["problem"]
    assert model.counts["planner"] == 3, "two repairs, once a task"


@pytest.mark.parametrize(("role", "answer"), [("planner", 40), ("reflector", 43), ("checker", 43)])
def test_a_model_that_fails_to_help_does_not_end_the_task(
    role: str, answer: int, settings: Callable[..., Settings]
) -> None:
    planned = ProspectiveReflection(settings=settings(request_retries=0))
    state = agent_of(HastyClerk(down=[role]), planned).invoke(asked())
    assert state["messages"][-1].text == f"It costs {answer} euros."
    told = state["prospective_reflection"]
    problem = told["reviews"][0]["skipped"] if role == "reflector" else told["problem"]
    assert "the model is overloaded" in problem


def test_a_connection_of_an_event_loop_that_has_ended_costs_no_plan() -> None:
    class Stale(HastyClerk):
        stale: int = 1

        def _reply(self, messages: list[BaseMessage]) -> AIMessage:
            if self.stale:
                self.stale -= 1
                raise RuntimeError("Event loop is closed")
            return super()._reply(messages)

    state = agent_of(Stale(), ProspectiveReflection()).invoke(asked())
    assert "problem" not in state["prospective_reflection"]
    assert state["messages"][-1].text == "It costs 43 euros."


def test_what_cannot_be_asked_at_all_is_told_at_once() -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        agent_of(HastyClerk(), ProspectiveReflection("openai:gpt-4.1")).invoke(asked())


def test_each_task_of_a_conversation_has_a_plan_that_knows_the_earlier_ones() -> None:
    model, saver = HastyClerk(), InMemorySaver()
    agent = agent_of(model, ProspectiveReflection(), saver=saver)
    agent.invoke(asked(), CONFIG)
    state = agent.invoke(asked("And a red lamp there, fee included?"), CONFIG)
    plans = [prompt for role, prompt in model.asked if role == "planner"]
    assert len(plans) == 2
    assert f"Task: {TASK}\nAnswer: It costs 43 euros." in plans[1]
    assert state["prospective_reflection"]["task"] == "And a red lamp there, fee included?"


def test_a_summary_in_place_of_the_task_begins_no_new_one() -> None:
    summary = HumanMessage("Summary.", additional_kwargs={"lc_source": "summarization"})
    record = {"task": TASK, "task_id": "1", "plan": {"subtasks": []}, "planned_at": [0]}
    state: Any = {"prospective_reflection": record}
    seen: list[Any] = []

    def answer(request: ModelRequest) -> ModelResponse:
        seen.append(request)
        return ModelResponse([AIMessage("Done.")])

    model = HastyClerk()
    ProspectiveReflection().wrap_model_call(
        ModelRequest(model=model, messages=[summary], state=state, runtime=Runtime()), answer
    )
    assert len(seen) == 1
    assert model.asked == []


@pytest.mark.parametrize("waits", [True, False])
async def test_tasks_side_by_side_have_plans_of_their_own(waits: bool) -> None:
    agent = agent_of(HastyClerk(), ProspectiveReflection())
    inputs = [asked(f"{TASK} ({number})") for number in range(4)]
    states = agent.batch(inputs) if waits else await agent.abatch(inputs)
    for number, state in enumerate(states):
        assert state["messages"][-1].text == "It costs 43 euros."
        assert state["prospective_reflection"]["task"] == f"{TASK} ({number})"


def test_another_model_can_plan() -> None:
    model, thinker = HastyClerk(), HastyClerk()
    agent_of(model, ProspectiveReflection(thinker)).invoke(asked())
    assert set(model.counts) == {"worker"}
    assert thinker.counts == {"planner": 1, "reflector": 2, "checker": 1}


def test_what_is_no_chat_model_is_not_replaced_by_the_default_one() -> None:
    with pytest.raises(ValueError, match="model is a RunnableRetry: pass a LangChain chat model"):
        ProspectiveReflection(HastyClerk().with_retry())  # type: ignore[arg-type]


def test_a_switch_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="did you mean max_replans"):
        ProspectiveReflection(max_replan=1)


def test_a_structured_answer_is_checked_too() -> None:
    class Cost(BaseModel):
        """What it costs."""

        euros: int

    class Filing(HastyClerk):
        def _work(self, messages: list[BaseMessage]) -> AIMessage:
            said = super()._work(messages)
            euros = re.search(r"\d+", said.text)
            call = {"name": "Cost", "args": {"euros": int(euros[0])}, "id": "c"} if euros else None
            return AIMessage("", tool_calls=[call]) if call else said

    model = Filing(replies={"reflector": SOUND})
    agent = create_agent(
        model, [price, fee], response_format=ToolStrategy(Cost), middleware=[ProspectiveReflection()]
    )
    state = agent.invoke(asked())
    assert state["structured_response"].euros == 43
    assert any("<rejected_answer>\neuros=40" in prompt for _, prompt in model.asked)


def test_clients_see_the_record_and_not_the_agents_instructions() -> None:
    agent = agent_of(HastyClerk(), ProspectiveReflection())
    assert "clerk" not in json.dumps(agent.invoke(asked())["prospective_reflection"])
    assert "prospective_reflection" in agent.get_output_jsonschema()["properties"]
    assert "prospective_reflection" not in agent.get_input_jsonschema()["properties"]


def others() -> dict[str, Callable[[HastyClerk], AgentMiddleware[Any, Any, Any]]]:
    """Middleware of LangChain's own."""
    return {
        "todos": lambda model: TodoListMiddleware(),
        "person": lambda model: HumanInTheLoopMiddleware(interrupt_on={"price": True}),
        "retry": lambda model: ModelRetryMiddleware(),
        "summary": lambda model: SummarizationMiddleware(model, trigger=("messages", 99)),
    }


@pytest.mark.parametrize("at", range(5))
def test_it_works_at_any_place_among_others(at: int) -> None:
    model = HastyClerk()
    middleware = [make(model) for make in others().values()]
    middleware.insert(at, ProspectiveReflection())
    agent = agent_of(model, *middleware, saver=InMemorySaver())
    waiting = agent.invoke(asked(), CONFIG)
    assert waiting["__interrupt__"]
    state = agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), CONFIG)
    assert state["messages"][-1].text == "It costs 43 euros."
    assert model.counts == {"planner": 1, "reflector": 2, "worker": 3, "checker": 1}


@pytest.mark.parametrize("order", list(permutations(["todos", "person", "plan"])))
async def test_another_process_goes_on_from_the_checkpoint(order: Sequence[str]) -> None:
    saver, models = InMemorySaver(), [HastyClerk(), HastyClerk()]

    def made(model: HastyClerk) -> Any:
        kinds = {**others(), "plan": lambda model: ProspectiveReflection()}
        return agent_of(model, *(kinds[name](model) for name in order), saver=saver)

    waiting = await made(models[0]).ainvoke(asked(), CONFIG)
    assert waiting["prospective_reflection"]["plan"]["reviewed"]
    state = await made(models[1]).ainvoke(Command(resume={"decisions": [{"type": "approve"}]}), CONFIG)
    assert state["messages"][-1].text == "It costs 43 euros."
    assert models[1].counts == {"worker": 2, "checker": 1}, "the plan is not made again"


@pytest.mark.parametrize("waits", [True, False])
async def test_the_stream_of_messages_holds_the_agents_own_words_only(waits: bool) -> None:
    agent, words, plans, modes = (
        agent_of(HastyClerk(), ProspectiveReflection()),
        [],
        [],
        ["messages", "custom"],
    )
    if waits:
        chunks = list(agent.stream(asked(), stream_mode=modes))
    else:
        chunks = [chunk async for chunk in agent.astream(asked(), stream_mode=modes)]
    for mode, chunk in chunks:
        if mode == "custom" and chunk["event"] == "plan":
            plans.append(chunk["plan"])
        elif mode == "messages" and chunk[0].type == "AIMessageChunk":
            words.append(chunk[0].text)
    assert "".join(words).split() == ["It", "costs", "43", "euros."]
    assert len(words) > 4, "token by token"
    assert [subtask["id"] for subtask in plans[0]["subtasks"]] == ["price", "fee"]


async def test_the_event_stream_holds_the_agents_own_messages_only() -> None:
    agent = agent_of(HastyClerk(), ProspectiveReflection())
    with pytest.warns(LangChainBetaWarning):
        run = await agent.astream_events(asked(), version="v3")
    texts = [await message.text async for message in run.messages]
    assert [text.strip() for text in texts if text.strip()] == ["It costs 43 euros."]
