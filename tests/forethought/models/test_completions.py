"""Chat completions as plain JSON: what goes into the body, what is an option, and whose client it is."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from forethought.models import providers
from forethought.models.completions import PlainCompletions
from forethought.settings import Settings
from tests.support.web_server import Asked, Sent, WebServer

REPLY = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "5"}, "finish_reason": "stop"}]}


def answer(asked: Asked) -> Sent:
    return Sent(json.dumps(REPLY), headers={"Content-Type": "application/json"})


async def test_options_of_a_request_are_no_part_of_its_body() -> None:
    server = WebServer(answer)
    try:
        settings = Settings(base_url=f"{server.url}/v1", api_key=SecretStr("none"))
        chat: Any = providers.build("gpt-4.1", settings)
        options = {"extra_headers": {"X-Team": "blue"}, "extra_query": {"tier": "low"}, "timeout": 9.0}
        reply = await chat.ainvoke("2 + 3?", extra_body={"top_k": 4}, **options)
    finally:
        server.close()
    assert reply.content == "5"
    (asked,) = server.asked
    body = json.loads(asked.body)
    assert body["top_k"] == 4
    assert not body.keys() & {"extra_headers", "extra_query", "extra_body", "timeout"}
    assert {name.lower(): value for name, value in asked.headers.items()}["x-team"] == "blue"
    assert asked.path == "/v1/chat/completions?tier=low"


def test_the_client_of_another_package_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    package: Any = ModuleType("langchain_deepseek")
    package.ChatDeepSeek = type("ChatDeepSeek", (ChatOpenAI,), {})
    monkeypatch.setitem(sys.modules, "langchain_deepseek", package)
    other: Any = providers.build("deepseek:deepseek-chat", Settings())
    own: Any = providers.build("openai:gpt-4.1", Settings())
    assert isinstance(own.async_client, PlainCompletions)
    assert not isinstance(other.async_client, PlainCompletions)
