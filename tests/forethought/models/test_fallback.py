"""The fallback model: when it is asked, what is told of it, and what it costs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph

from forethought.models import ConfigurationError, Models, ReplyError, TransportError, fallback
from forethought.models.allowance import Allowance
from forethought.models.types import (
    Message,
    ModelError,
    ModelUnavailable,
    OutOfTime,
    ReplyResult,
)
from forethought.nodes.support.intra_reflection import unscored_spec
from forethought.prompts.replies import AnswerDraft
from tests.forethought.models.conftest import Serve
from tests.support.model_server import Answer, Fault, SeenRequest

NAMES = ("openai:gpt-4.1", "openai:gpt-4.1-mini")
REPLY: Any = {"answer": "yes", "used_steps": []}
QUOTA = Fault("429", code="insufficient_quota", message="You exceeded your current quota")
UNKNOWN = Fault("404", message="The model does not exist")


def only(fault: Fault, model: str = "gpt-4.1") -> Callable[[SeenRequest], Answer]:
    """A provider at which one model has a fault."""
    return lambda seen: fault if seen.body["model"] == model else REPLY


async def ask(
    models: Models, other: str | None = NAMES[1], allowance: Allowance | None = None
) -> ReplyResult[AnswerDraft]:
    return await models.ask(
        role="answer",
        model=NAMES[0],
        fallback=other,
        messages=[Message("user", "Is it so?")],
        reply=unscored_spec(AnswerDraft),
        allowance=allowance,
    )


@pytest.mark.parametrize(
    ("fault", "tries"),
    [(Fault("503"), 3), (Fault("drop"), 3), (QUOTA, 1), (UNKNOWN, 1), (Fault("402"), 1)],
    ids=["outage", "dropped", "quota", "unknown", "no-credit"],
)
async def test_it_is_asked_where_the_model_gives_no_reply(serve: Serve, fault: Fault, tries: int) -> None:
    made, server = serve(only(fault), request_retries=2)
    asked = await ask(made)
    assert asked.reply.answer == "yes"
    assert asked.model == NAMES[1]
    assert (asked.usage["calls"], asked.usage["fallbacks"]) == (1, 1)
    assert [seen.body["model"] for seen in server.requests] == ["gpt-4.1"] * tries + ["gpt-4.1-mini"]


@pytest.mark.parametrize("status", ["401", "403", "400"])
async def test_a_refused_key_or_request_stops_clearly(serve: Serve, status: str) -> None:
    made, server = serve(only(Fault(status)))
    with pytest.raises(ConfigurationError, match=f"HTTP {status}"):
        await ask(made)
    assert {seen.body["model"] for seen in server.requests} == {"gpt-4.1"}


async def test_where_both_fail_one_line_tells_of_both(serve: Serve) -> None:
    made, _ = serve(lambda seen: UNKNOWN if seen.body["model"] == "gpt-4.1" else Fault("503"))
    with pytest.raises(TransportError) as raised:
        await ask(made)
    said = str(raised.value)
    assert "\n" not in said
    assert said.index("model openai:gpt-4.1 refused") < said.index("model openai:gpt-4.1-mini gave no reply")


async def test_the_price_is_that_of_the_model_that_answered(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = serve(only(Fault("503")))
    priced: list[str] = []

    def price(name: str, *rest: Any) -> float:
        priced.append(name)
        return 0.25

    monkeypatch.setattr("forethought.models.provider_reply.price", price)
    assert (await ask(made)).usage["usd"] == 0.25
    assert priced == ["gpt-4.1-mini"]


async def test_a_model_that_is_not_allowed_is_no_fallback(serve: Serve) -> None:
    made, server = serve(only(Fault("503")), allowed_models=(NAMES[0],))
    with pytest.raises(ConfigurationError, match=r"gpt-4\.1-mini is not allowed here"):
        await ask(made)
    assert not server.requests


async def test_a_model_that_failed_rests_and_is_then_asked_first_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fallback, "REST_S", 0.2)
    asked, out = list[str](), {"main"}
    fallbacks = fallback.Fallbacks()

    async def send(model: str) -> str:
        asked.append(model)
        if model in out:
            raise TransportError(f"{model} is out")
        return model

    for _ in range(2):
        assert await fallbacks.ask("main", "other", send) == "other"
    assert asked == ["main", "other", "other"]
    out.add("other")
    with pytest.raises(TransportError, match="other is out; then main is out"):
        await fallbacks.ask("main", "other", send)
    out.clear()
    assert await fallbacks.ask("main", "other", send) == "main", "both rest: in their order"
    out.add("main")
    await asyncio.sleep(0.2)
    asked.clear()
    assert await fallbacks.ask("main", "other", send) == "other"
    assert asked == ["main", "other"]


@pytest.mark.parametrize("error", [OutOfTime, TransportError, ModelUnavailable])
async def test_it_is_asked_only_while_there_is_time_and_a_late_request_is_no_failure(
    error: type[ModelError],
) -> None:
    fallbacks, asked = fallback.Fallbacks(), list[str]()

    async def send(model: str) -> str:
        asked.append(model)
        if len(asked) == 1:
            raise error("main is out")
        return model

    with pytest.raises(OutOfTime, match=r"^main is out"):
        await fallbacks.ask("main", "other", send, deadline=time.monotonic())
    late = error is OutOfTime
    assert await fallbacks.ask("main", "other", send) == ("main" if late else "other")


async def test_a_question_out_of_time_asks_no_fallback_and_the_next_one_asks_the_model(serve: Serve) -> None:
    made, server = serve(only(Fault("hang")), request_timeout_s=0.3)
    with pytest.raises(ReplyError, match="the time of the task is spent") as caught:
        await ask(made, allowance=Allowance(deadline=time.monotonic() + 0.1, whole_seconds=5))
    assert caught.value.usage["out_of_time"] == 5
    server.policy = lambda seen: REPLY
    assert (await ask(made)).model == NAMES[0]
    assert [seen.body["model"] for seen in server.requests] == ["gpt-4.1", "gpt-4.1"]


async def events(models: Models) -> list[Any]:
    """What is told in the stream of a run that asks once."""

    async def node(state: dict[str, Any]) -> dict[str, Any]:
        return {"said": (await ask(models)).reply.answer}

    graph: Any = StateGraph(dict)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    return [event async for event in graph.compile().astream({"x": 1}, stream_mode="custom")]


@pytest.mark.parametrize(
    ("status", "kinds"),
    [("503", ["waiting", "waiting", "fallback"]), ("404", ["fallback"])],
)
async def test_no_stream_tells_a_key_or_what_another_run_was_told(
    serve: Serve, status: str, kinds: list[str]
) -> None:
    # The second one is where long words are cut.
    words = f"refused key sk-of-the-gateway of ann {'x' * 230} sk-of-the-gateway"
    made, _ = serve(only(Fault(status, message=words)), api_key="sk-of-the-gateway", request_retries=2)
    told = await events(made)
    assert [event["event"] for event in told] == kinds
    assert {key: told[-1][key] for key in ("model", "fallback")} == {"model": NAMES[0], "fallback": NAMES[1]}
    assert all("refused key [secret] of ann" in event["why"] for event in told)
    assert "sk-" not in str(told)
    (rests,) = await events(made)
    assert (rests["event"], rests["fallback"]) == ("fallback", NAMES[1])
    assert rests["why"] == "it failed less than 60 s ago"
