"""The answer in the `messages` stream: plain text while it is written, and nothing that will not stand."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessageChunk

from tests.support.agent import Drive, Driven, Script
from tests.support.exchange import Fault, Reply
from tests.support.replies import Json, answer, check, checked, plan, sub

LONG = "It is Paris, the capital of France since 987, with a break or two in the course of a long history."
NEEDED = check("the year", "no")


async def streamed(out: Driven, task: str = "the task", **switches: Any) -> tuple[list[Any], list[Json]]:
    """The messages and the custom events of the stream, in their order."""
    context = out.context.model_copy(update=switches)
    stream = out.graph.astream(
        {"messages": [{"role": "user", "content": task}]},
        out.config,
        context=context,
        stream_mode=["messages", "custom"],
    )
    parts = [part async for part in stream]
    await out.look()
    return [part[1][0] for part in parts if part[0] == "messages"], [p[1] for p in parts if p[0] == "custom"]


def texts(messages: list[Any]) -> dict[str, str]:
    """The text of each message that is no call or its result, as a client puts it together."""
    joined: dict[str, str] = {}
    for message in messages:
        if message.id.startswith("step-"):
            continue
        joined[message.id] = joined.get(message.id, "") + message.text
    return joined


@pytest.mark.parametrize("refuses", [(), ("schema",), ("schema", "function")])
async def test_the_answer_comes_in_tokens_of_plain_text(drive: Drive, refuses: tuple[str, ...]) -> None:
    """By each way of asking a provider; nothing else that a model writes is in the stream."""
    script = Script(answers=[checked(LONG, check("the year"), used=[1])])
    out = await drive(script, task=None, effort="auto")
    out.server.refuses = refuses
    messages, events = await streamed(out)
    last = out.state["messages"][-1]
    assert texts(messages) == {last.id: LONG}
    assert len([message for message in messages if isinstance(message, AIMessageChunk)]) > 5
    assert last.text == out.state["answer"] == LONG
    assert "withdrawn" not in {event["event"] for event in events}


async def test_the_planners_own_answer_comes_in_tokens_too(drive: Drive) -> None:
    out = await drive(Script(plans=[plan(answer=LONG)]), task=None, effort="auto")
    messages, _ = await streamed(out)
    assert texts(messages) == {out.state["messages"][-1].id: LONG}
    assert len(messages) > 5


@pytest.mark.parametrize(
    ("switches", "replies"),
    [
        ({"effort": "paper"}, [answer("Lyon.", score=3, mend="now"), answer(LONG, score=10)]),
        ({"effort": "auto"}, [checked("Lyon.", NEEDED, work="look again"), answer(LONG, score=10)]),
    ],
)
async def test_an_answer_that_does_not_stand_is_never_sent(
    drive: Drive, switches: Json, replies: list[Json]
) -> None:
    """Neither a draft that its author finds wanting, nor one whose checks find work undone."""
    out = await drive(Script(plans=[plan(sub("a")), plan(sub("a"))], answers=replies), task=None, **switches)
    messages, _ = await streamed(out)
    assert "Lyon" not in str(texts(messages))
    assert texts(messages)[out.state["messages"][-1].id] == LONG


async def test_what_was_sent_of_a_reply_that_breaks_off_is_withdrawn(drive: Drive) -> None:
    """The message that stands is another one."""
    cut = Fault("length", value=checked(LONG + LONG, check()))
    out = await drive(Script(answers=[cut, checked("It is Paris.", check())]), task=None, effort="auto")
    messages, events = await streamed(out)
    (gone,) = [event["id"] for event in events if event["event"] == "withdrawn"]
    last = out.state["messages"][-1]
    assert texts(messages) == {gone: texts(messages)[gone], last.id: "It is Paris."}
    assert gone not in [message.id for message in out.state["messages"]]


async def test_a_server_that_does_not_stream_is_asked_as_ever(drive: Drive) -> None:
    """It takes no notice of being asked to, or it refuses."""
    reply = checked(LONG, check())
    out = await drive(Script(answers=[reply]), task=None, effort="auto")
    out.server.streams = False
    messages, _ = await streamed(out)
    assert texts(messages) == {out.state["messages"][-1].id: LONG}
    script = Script(answers=[reply])
    out = await drive(
        lambda seen: Fault("400") if seen.body.get("stream") else script(seen), task=None, effort="auto"
    )
    messages, _ = await streamed(out)
    assert texts(messages) == {out.state["messages"][-1].id: LONG}
    assert out.state["status"] == "answered"


async def test_nobody_who_does_not_stream_makes_the_provider_stream(drive: Drive) -> None:
    out = await drive(Script(answers=[checked(LONG, check())]), effort="auto")
    assert not [seen for seen in out.requests if seen.body.get("stream")]
    before = len(out.requests)
    await streamed(out, "the next one")
    assert all(seen.body.get("stream") for seen in out.requests[before:])


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
async def test_the_newer_protocol_of_events_has_the_tokens_too(drive: Drive) -> None:
    out = await drive(Script(answers=[checked(LONG, check())]), task=None, effort="auto")
    given = {"messages": [{"role": "user", "content": "x"}]}
    run = await out.graph.astream_events(given, out.config, context=out.context, version="v3")
    pieces = {message.message_id: [piece async for piece in message.text] async for message in run.messages}
    await out.look()
    assert list(pieces) == ["step-1", out.state["messages"][-1].id]
    assert len(pieces[out.state["messages"][-1].id]) > 5
    assert "".join(pieces[out.state["messages"][-1].id]) == LONG


async def test_what_the_roles_wrote_is_among_the_custom_events(drive: Drive) -> None:
    out = await drive(Script(answers=[checked(LONG, check())]), task=None, effort="auto")
    _, events = await streamed(out)
    written = {event["role"]: event["reply"] for event in events if event["event"] == "replied"}
    assert list(written) == ["planner", "reflector", "tool", "answer"]
    assert written["answer"]["checks"] == [check()]


async def test_what_a_stream_costs_is_counted_as_ever(drive: Drive) -> None:
    reply = Reply(checked(LONG, check()), prompt_tokens=1234, completion_tokens=56)
    out = await drive(Script(answers=[reply]), task=None, effort="auto")
    await streamed(out)
    usage = out.state["usage"]["answer"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["calls"]) == (1234, 56, 1)


async def test_no_secret_is_sent_while_it_is_written(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETHOUGHT_SECRETS", "PASSPHRASE")
    monkeypatch.setenv("PASSPHRASE", "correct horse battery staple")
    said = "The pass phrase is correct horse battery staple, and it is correct to keep it. " + LONG
    out = await drive(Script(answers=[checked(said, check())]), task=None, effort="auto")
    messages, _ = await streamed(out)
    assert "[secret], and it is correct to keep it." in out.state["answer"]
    assert texts(messages) == {out.state["messages"][-1].id: out.state["answer"]}
    assert len(messages) > 5


async def test_what_is_sent_loads_nothing_at_any_time(drive: Drive) -> None:
    said = "See ![it](http://evil.test/?q=1&r=2) or [here](http://evil.test/3), <img src=http://evil.test/4>."
    out = await drive(Script(answers=[checked(f"{LONG} {said} {LONG}", check())]), task=None, effort="auto")
    messages, _ = await streamed(out)
    assert texts(messages) == {out.state["messages"][-1].id: out.state["answer"]}
    pieces = [message.text for message in messages if isinstance(message, AIMessageChunk)]
    shown = ["".join(pieces[: at + 1]) for at in range(len(pieces))]
    assert len(shown) > 10
    assert not [text for text in shown if "![" in text or "<img" in text or "](http" in text]


async def test_a_tracer_is_told_of_no_call_that_is_none(drive: Drive) -> None:
    class Counter(AsyncCallbackHandler):
        calls = 0

        async def on_chat_model_start(self, *told: Any, **more: Any) -> None:
            Counter.calls += 1

    out = await drive(Script(answers=[checked(LONG, check())]), task=None, effort="auto")
    out.config = {**out.config, "callbacks": [Counter()]}
    await streamed(out)
    assert Counter.calls == len(out.requests)
