"""How a provider is asked: the key by which OpenAI finds a task's prompts in its cache."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.chat import ChatCompletion
from pydantic import BaseModel, SecretStr

from forethought.models import providers
from forethought.models.forms import Form, Method
from forethought.models.methods import bind_request
from forethought.models.types import Message, ModelRequest, reply_spec
from forethought.settings import Settings

METHODS: tuple[Method, ...] = ("schema", "function", "prompt")


class Sum(BaseModel):
    """A reply."""

    total: int


class Recorder:
    """In place of the SDK's completions: keeps what would be sent."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    @property
    def with_raw_response(self) -> Recorder:
        return self

    async def create(self, **body: Any) -> Recorder:
        self.sent.append(body)
        return self

    def parse(self) -> ChatCompletion:
        message = {"role": "assistant", "content": "{}"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        whole = {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        return ChatCompletion.model_validate(whole)


async def keys(settings: Settings, *tasks: str) -> list[Any]:
    """The cache key of each request: one a method for each task; None where there is none."""
    chat: Any = providers.build("openai:gpt-4.1", settings)
    chat.async_client = recorder = Recorder()
    for task in tasks:
        for method in METHODS:
            messages = Message("system", "rules"), Message("user", f"{task}\n{method}")
            request = ModelRequest("tool", "openai:gpt-4.1", messages, "Sum", reply_spec(Sum).schema)
            await bind_request(request, Form(method), chat, patience_s=5)()
    return [body.get("prompt_cache_key") for body in recorder.sent]


async def test_requests_of_a_task_have_one_key_at_openai_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    one, other = "count the apples " * 300, "count the pears " * 300
    found = await keys(Settings(), one, other)
    assert len(found) == 2 * len(METHODS)
    assert len(set(found[: len(METHODS)])) == len(set(found[len(METHODS) :])) == 1
    assert len(set(found)) == 2


async def test_other_servers_get_no_field_that_they_may_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = Settings(base_url="http://127.0.0.1:9/v1", api_key=SecretStr("none"))
    assert set(await keys(elsewhere, "count the apples")) == {None}
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert set(await keys(Settings(), "count the apples")) == {None}
