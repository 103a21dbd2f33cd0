"""A run whose models are LangChain's chat models, given as objects."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import (
    FakeListChatModel,
    GenericFakeChatModel,
    ParrotFakeChatModel,
)
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult, LLMResult
from langchain_core.runnables import RunnableLambda
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from forethought.graph.agent import build_agent
from forethought.models.types import TransportError
from forethought.settings import Settings
from forethought.state.context import Context
from tests.support.agent import Script, World
from tests.support.model_server import ModelServer
from tests.support.replies import answer, call, plan, sub

Make = Callable[..., Settings]
AT_ONCE = plan(answer="Vienna")
PLANNED = [plan(sub("a")), call("a"), answer("done")]


def fake(*replies: dict[str, Any]) -> GenericFakeChatModel:
    """A model that gives these replies in turn, and knows neither schemas nor functions."""
    return GenericFakeChatModel(messages=iter([AIMessage(json.dumps(reply)) for reply in replies]))


class Slow(BaseChatModel):
    """A model that takes its time; it keeps what it is asked."""

    seconds: float = 0.0
    reply: str = json.dumps(AT_ONCE)
    seen: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "slow"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        raise AssertionError("it is asked asynchronously")

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.seen.extend(str(message.content) for message in messages)
        await asyncio.sleep(self.seconds)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.reply))])


async def run(graph: Any, task: str = "the task", **context: Any) -> dict[str, Any]:
    config = {"configurable": {"thread_id": "t"}}
    return dict(await graph.ainvoke({"task": task}, config, context=Context(effort="low", **context)))


async def test_a_model_that_only_writes_text_is_enough_and_is_in_no_checkpoint(settings: Make) -> None:
    saver = InMemorySaver()
    graph = build_agent([World().tool()], settings(), saver, model=fake(*PLANNED))
    state = await run(graph)
    assert (state["status"], state["answer"]) == ("answered", "done")
    spent = (await graph.aget_state({"configurable": {"thread_id": "t"}})).values["usage"]
    assert {role: figures["calls"] for role, figures in spent.items() if figures["calls"]} == {
        "planner": 1, "tool": 1, "answer": 1,
    }  # fmt: skip
    assert all(spent[role]["estimated"] and spent[role]["input_tokens"] > 100 for role in ("planner", "tool"))
    assert b"GenericFake" not in repr((saver.storage, saver.writes, saver.blobs)).encode()


async def test_each_role_asks_its_own_unless_the_run_names_another(settings: Make) -> None:
    others = {"tool": fake(PLANNED[1]), "answer": fake(PLANNED[2])}
    graph = build_agent([World().tool()], settings(), model=fake(PLANNED[0]), models=others)
    assert (await run(graph))["answer"] == "done"
    refused = await run(build_agent(settings=settings(), model=fake(AT_ONCE)), model="openai:gpt-4.1")
    assert "model openai:gpt-4.1 needs a key" in refused["messages"][-1].text


async def test_a_provider_s_own_object_is_asked_by_its_best_method_at_its_own_address(
    settings: Make, model_server: Callable[..., ModelServer]
) -> None:
    server = model_server(Script())
    chat = ChatOpenAI(model="gpt-4.1", base_url=server.url, api_key="its-own-key")  # type: ignore[arg-type]
    graph = build_agent([World().tool()], settings(base_url="http://127.0.0.1:9/v1"), model=chat)
    assert (await run(graph))["status"] == "answered"
    assert {(seen.body["model"], seen.method) for seen in server.requests} == {("gpt-4.1", "schema")}
    await chat.root_async_client.close()


async def test_the_operator_s_bounds_hold_for_an_object_too(
    settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-user-0001")
    slow = Slow()
    made = settings(allowed_models=("openai:gpt-4.1",), request_timeout_s=0.2, request_retries=0)
    graph = build_agent(settings=made, model=slow)
    assert (await run(graph, "Is sk-of-the-user-0001 a key?"))["answer"] == "Vienna"
    assert "sk-of-the-user" not in "".join(slow.seen)
    assert "[secret] a key?" in "".join(slow.seen)
    refused = await run(graph, max_usd=1)
    assert "max_usd cannot be enforced: the price of Slow is unknown" in refused["messages"][-1].text
    with pytest.raises(TransportError, match="model Slow gave no reply in 1 try"):
        await run(build_agent(settings=made, model=Slow(seconds=9)))


@pytest.mark.parametrize(
    ("chat", "said"),
    [
        (ParrotFakeChatModel(), "model ParrotFakeChatModel returned a HumanMessage, which is not a reply"),
        (FakeListChatModel(responses=["Vienna"]), "no valid answer (the reply holds no JSON object"),
    ],
)
async def test_what_gives_no_reply_of_the_form_asked_for_fails_in_one_line(
    settings: Make, chat: BaseChatModel, said: str
) -> None:
    state = await run(build_agent(settings=settings(), model=chat))
    assert (state["status"], said in state["messages"][-1].text) == ("failed", True)


async def test_callbacks_of_the_config_hear_of_each_question_and_reply(settings: Make) -> None:
    events: list[str] = []

    class Heard(AsyncCallbackHandler):
        async def on_chat_model_start(self, *_: Any, **__: Any) -> None:
            events.append("asked")

        async def on_llm_end(self, response: LLMResult, **_: Any) -> None:
            events.append(response.generations[0][0].text)

    graph = build_agent(settings=settings(), model=Slow())
    await graph.ainvoke({"task": "?"}, {"callbacks": [Heard()]}, context=Context(effort="low"))
    assert events == ["asked", json.dumps(AT_ONCE)]


def test_what_is_no_chat_model_is_refused_in_one_line(settings: Make) -> None:
    chat = fake()
    for given, said in (
        ({"model": "openai:gpt-4.1"}, 'Context(model="provider:name")'),
        (
            {"models": {"reflector": RunnableLambda(str)}},
            "reflector_model is a RunnableLambda: pass a LangChain chat",
        ),
        ({"models": {"judge": chat}}, "there is no role judge: choose one of planner, reflector, tool,"),
        ({"model": chat, "transport": object()}, "exclude each other"),
    ):
        with pytest.raises(ValueError, match=r"\S") as caught:
            build_agent(settings=settings(), **given)
        assert said in str(caught.value)
    for wrong in ((chat, [str]), ([], "openai:gpt-4.1")):
        with pytest.raises(ValueError, match=r"settings must be Settings, not (list|str); pass a chat model"):
            build_agent(*wrong)  # type: ignore[arg-type]


async def test_a_model_that_does_not_stream_is_heard_at_the_end(settings: Make) -> None:
    graph = build_agent(settings=settings(), model=Slow())
    told = [
        message.text
        async for message, _ in graph.astream(
            {"task": "?"}, context=Context(effort="low"), stream_mode="messages"
        )
        if message.type != "human"
    ]
    assert "".join(told) == "Vienna"


def test_one_object_serves_one_event_loop_after_another_and_none(
    settings: Make, model_server: Callable[..., ModelServer]
) -> None:
    server = model_server(Script(plans=[AT_ONCE]))
    chat = ChatOpenAI(model="gpt-4.1", base_url=server.url, api_key="its-own-key")  # type: ignore[arg-type]
    graph, low = build_agent(settings=settings(), model=chat), Context(effort="low")
    for _ in range(2):
        assert asyncio.run(graph.ainvoke({"task": "?"}, context=low))["answer"] == "Vienna"
        assert graph.invoke({"task": "?"}, context=low)["answer"] == "Vienna"
        parts = [*graph.stream({"task": "?"}, context=low, stream_mode="messages")]
        assert "".join(message.text for message, _ in parts) == "?Vienna"
