"""Our model calls through inspect: what comes back is what our transport gave, and inspect sees it whole."""

from __future__ import annotations

import asyncio
import json

import pytest
from inspect_ai.log import transcript
from inspect_ai.log._transcript import Transcript, init_transcript
from inspect_ai.model import ContentImage

from forethought.evals.harness.inspect_model import InspectTransport
from forethought.models.types import (
    Call,
    ConfigurationError,
    Function,
    Image,
    Message,
    ModelReply,
    ModelRequest,
)


class Answers:
    """A transport whose reply names the question."""

    def __init__(self, **fields: object) -> None:
        self.fields, self.asked = fields, list[ModelRequest]()

    async def send(self, request: ModelRequest) -> ModelReply:
        """The reply, after a moment in which others ask."""
        self.asked.append(request)
        await asyncio.sleep(0)
        given = {"text": request.messages[-1].text, "input_tokens": 30, "output_tokens": 4, **self.fields}
        return ModelReply(**given)  # type: ignore[arg-type]


def request(text: str = "hello", role: str = "tool", **fields: object) -> ModelRequest:
    """A request."""
    said = (Message("system", "be brief"), Message("user", text))
    return ModelRequest(role, "openai:a/b", **{"messages": said, "reply": "R", "schema": {}, **fields})  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def events() -> None:
    """A transcript of the test's own."""
    init_transcript(Transcript(log_model_api=True))


async def test_the_reply_comes_back_as_it_was() -> None:
    calls = (Call("look", '{"a": 1}'), Call("look", "{broken"))
    reply = await InspectTransport(Answers(calls=calls, cached_tokens=10, usd=0.5, model="m")).send(request())
    assert reply == ModelReply("hello", calls, "stop", 30, 4, 10, model="m", usd=0.5)
    (event,) = transcript().events
    assert event.event == "model"
    usage = event.output.usage
    assert usage is not None
    assert (usage.input_tokens, usage.input_tokens_cache_read, usage.output_tokens) == (20, 10, 4)
    assert (usage.total_tokens, usage.total_cost) == (34, 0.5)
    assert [one.arguments for one in event.output.message.tool_calls or []] == [{"a": 1}, {}]
    assert (event.role, event.model) == ("tool", "forethought/openai:a/b")


async def test_the_request_is_logged_with_what_it_asks_for() -> None:
    picture = Message("user", "look", (Image("image/png", b"\x89PNG"),))
    offered = (Function("look", "looks", {"type": "object"}),)
    asked = request(messages=(picture,), functions=offered, schema={"type": "object"})
    inner = Answers()
    await InspectTransport(inner).send(asked)
    assert inner.asked == [asked], "the transport is given the request itself"
    (event,) = transcript().events
    assert event.event == "model"
    (message,) = event.input
    image = message.content[1]
    assert isinstance(image, ContentImage)
    assert image.image == "data:image/png;base64,iVBORw=="
    assert event.call is not None
    assert json.loads(json.dumps(event.call.request))["functions"][0]["name"] == "look"


async def test_calls_side_by_side_do_not_mix() -> None:
    carrier = InspectTransport(Answers())
    replies = await asyncio.gather(*(carrier.send(request(f"question {n}")) for n in range(20)))
    assert [reply.text for reply in replies] == [f"question {n}" for n in range(20)]


async def test_an_error_comes_back_as_it_was_and_is_not_tried_again() -> None:
    class Fails(Answers):
        async def send(self, request: ModelRequest) -> ModelReply:
            await super().send(request)
            raise ConfigurationError("no such model")

    inner = Fails()
    with pytest.raises(ConfigurationError, match="no such model"):
        await InspectTransport(inner).send(request())
    assert len(inner.asked) == 1
    (event,) = transcript().events
    assert event.event == "model"
    assert "no such model" in (event.error or "")
