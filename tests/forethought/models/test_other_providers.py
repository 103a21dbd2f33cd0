"""A provider that does not speak OpenAI's protocol: Gemini's, through its own client, over real HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from forethought.models import (
    Function,
    Message,
    Models,
    ReplyError,
    ReplySpec,
    TransportError,
    reply_spec,
)
from forethought.models.live import LiveTransport
from forethought.models.retry import Backoff
from forethought.models.types import Listener, ModelUnavailable
from forethought.settings import Settings
from tests.support.web_server import Asked, Sent, WebServer

Make = Callable[..., Settings]
MODEL = "google_genai:gemini-2.5-flash"
GOOD = {"text": '{"total": 5}'}
CALLED = {"functionCall": {"name": "Sum", "args": {"total": 5}}}


class Sum(BaseModel):
    total: int


class Gemini:
    """Answers generateContent: with parts, (status, message, details), a whole body, or an exception."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.finish = "STOP"
        self.seen: list[dict[str, Any]] = []

    def reply(self, asked: Asked) -> Sent:
        """The HTTP reply to a request."""
        self.seen.append(json.loads(asked.body))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        status, body = 200, answer
        if isinstance(answer, tuple):
            status, message, *details = answer
            error = {"code": status, "message": message, "status": "FAILED"}
            body = {"error": {**error, "details": details[0]} if details else error}
        elif isinstance(answer, dict) and "promptFeedback" not in answer:
            candidate = {"content": {"role": "model", "parts": [answer]}, "finishReason": self.finish}
            counts = {"promptTokenCount": 100, "candidatesTokenCount": 20, "cachedContentTokenCount": 60}
            body = {"candidates": [candidate], "usageMetadata": {**counts, "totalTokenCount": 120}}
        if "streamGenerateContent" in asked.path:
            return Sent(f"data: {json.dumps(body)}\n\n", status, {"Content-Type": "text/event-stream"})
        return Sent(json.dumps(body), status, {"Content-Type": "application/json"})


@pytest.fixture
def gemini(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gemini]:
    gemini = Gemini()
    server = WebServer(gemini.reply)
    monkeypatch.setenv("GOOGLE_API_KEY", "a-key-of-a-test")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
    yield gemini
    server.close()


async def ask(
    settings: Settings, reply: ReplySpec[Any] | None = None, listener: Listener | None = None
) -> Any:
    models = Models(settings, LiveTransport(settings, Backoff(0.001, 0.002)))
    models.verify([MODEL])
    messages = [Message("system", "You add."), Message("user", "2 + 3?")]
    shape = reply or reply_spec(Sum)
    return await models.ask(role="tool", model=MODEL, messages=messages, reply=shape, listener=listener)


async def test_a_schema_a_price_and_cached_tokens(gemini: Gemini, settings: Make) -> None:
    gemini.answers = [GOOD]
    asked = await ask(settings())
    assert asked.reply.total == 5
    assert gemini.seen[0]["generationConfig"]["responseJsonSchema"]["required"] == ["total"]
    assert (asked.usage["input_tokens"], asked.usage["cached_tokens"], asked.usage["unpriced"]) == (
        100,
        60,
        0,
    )
    assert asked.usage["usd"] > 0


async def test_a_reply_is_heard_while_it_comes(gemini: Gemini, settings: Make) -> None:
    """By its schema, or as a forced function."""
    heard: list[str] = []

    async def hear(text: str) -> None:
        heard.append(text)

    for answers in ([GOOD], [(400, "no schemas here"), CALLED]):
        gemini.answers = answers
        asked = await ask(settings(), listener=hear)
        assert asked.reply.total == 5
        assert (asked.usage["input_tokens"], asked.usage["output_tokens"]) == (100, 20)
        assert [json.loads(text) for text in heard] == [{"total": 5}]
        heard.clear()


async def test_a_refused_schema_becomes_a_forced_function(gemini: Gemini, settings: Make) -> None:
    gemini.answers = [(400, "response_json_schema is not supported"), CALLED]
    assert (await ask(settings())).reply.total == 5
    assert gemini.seen[1]["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"] == ["Sum"]


async def test_native_functions(gemini: Gemini, settings: Make) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    functions = (Function("double", "Doubles.", schema), Function("halve", "Halves.", schema))
    gemini.answers = [{"functionCall": {"name": "halve", "args": {"x": 4}}}]
    asked = await ask(settings(), ReplySpec("Move", schema, lambda value: value, functions=functions))
    assert asked.reply == {"function": "halve", "arguments": {"x": 4}}
    assert gemini.seen[0]["toolConfig"]["functionCallingConfig"]["mode"] == "ANY"


async def test_one_layer_of_retries(gemini: Gemini, settings: Make) -> None:
    gemini.answers = [(503, "overloaded"), (429, "exhausted"), GOOD]
    assert (await ask(settings(request_retries=2))).reply.total == 5
    assert len(gemini.seen) == 3


@pytest.mark.parametrize(("finish", "words"), [("MAX_TOKENS", "cut off"), ("SAFETY", "refused")])
async def test_how_a_reply_ended_is_looked_at(
    finish: str, words: str, gemini: Gemini, settings: Make
) -> None:
    gemini.answers, gemini.finish = [GOOD], finish
    with pytest.raises(ReplyError, match=words):
        await ask(settings())


async def test_a_prompt_that_is_blocked_is_not_sent_again(gemini: Gemini, settings: Make) -> None:
    counts = {"promptTokenCount": 10, "totalTokenCount": 10}
    gemini.answers = [{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": counts}]
    with pytest.raises(ReplyError, match="refused: the prompt was blocked: prohibited_content"):
        await ask(settings())
    assert len(gemini.seen) == 1


def exceeded(*quotas: str) -> tuple[int, str, list[Any]]:
    """The error by which Gemini says which quotas are exceeded, and how long to wait."""
    violations = [{"quotaMetric": "generate_content_free_tier_requests", "quotaId": name} for name in quotas]
    failure = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": violations}
    wait = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.3s"}
    return 429, "You exceeded your current quota. Please retry in 0.3s.", [failure, wait]


async def test_the_limit_of_a_minute_is_waited_for(gemini: Gemini, settings: Make) -> None:
    gemini.answers = [exceeded("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"), GOOD]
    started = time.monotonic()
    assert (await ask(settings(request_retries=2))).reply.total == 5
    assert time.monotonic() - started >= 0.3
    assert len(gemini.seen) == 2


async def test_the_quota_of_a_day_is_not(gemini: Gemini, settings: Make) -> None:
    gemini.answers = [exceeded("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), GOOD]
    with pytest.raises(ModelUnavailable, match=r"the quota is spent: .*exceeded your current quota"):
        await ask(settings())
    assert len(gemini.seen) == 1


async def test_an_exchange_that_breaks_off_is_tried_again(gemini: Gemini, settings: Make) -> None:
    gemini.answers = [ConnectionResetError(), ["no candidates"], GOOD]
    assert (await ask(settings(request_retries=2))).reply.total == 5
    gemini.answers = [ConnectionResetError()]
    with pytest.raises(TransportError, match=r"gave no reply in 2 tries; the last: (?!HTTP)"):
        await ask(settings(request_retries=1))
