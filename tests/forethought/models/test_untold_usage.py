"""Replies that do not say what they used: their tokens are estimated, so that budgets hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from forethought.models import (
    Message,
    Models,
    ReplyResult,
    reply_spec,
)
from forethought.models.tokens import TOKENS_AN_IMAGE, estimate_tokens
from forethought.models.types import Image
from forethought.settings import Settings
from tests.forethought.models.conftest import Serve
from tests.support.model_server import ModelServer, Reply

Start = Callable[..., ModelServer]
Make = Callable[..., Settings]
UNTOLD = Reply({"note": "n" * 700}, told=False)


class Note(BaseModel):
    note: str


async def ask(models: Models, model: str = "openai:scripted", **more: Any) -> ReplyResult[Any]:
    given = {"messages": [Message("user", "word " * 700)], "reply": reply_spec(Note), **more}
    return await models.ask(role="tool", model=model, **given)


async def test_tokens_that_a_reply_does_not_tell_are_estimated(serve: Serve) -> None:
    models, _ = serve(UNTOLD)
    asked = await ask(models)
    schema = estimate_tokens(json.dumps(reply_spec(Note).schema))
    assert asked.usage["input_tokens"] == pytest.approx(1_000 + schema, abs=5)
    assert asked.usage["output_tokens"] == pytest.approx(200, abs=10)
    assert (asked.usage["calls"], asked.usage["estimated"]) == (1, 1)


async def test_what_is_told_is_taken_as_it_is(serve: Serve) -> None:
    models, _ = serve({"note": "n" * 700})
    asked = await ask(models)
    assert (asked.usage["input_tokens"], asked.usage["output_tokens"]) == (100, 20)
    assert "estimated" not in asked.usage


async def test_a_prompt_never_has_no_tokens(serve: Serve) -> None:
    reply = Reply({"note": "n"}, prompt_tokens=0, completion_tokens=7)
    models, _ = serve(reply)
    asked = await ask(models)
    assert asked.usage["input_tokens"] > 1_000
    assert (asked.usage["output_tokens"], asked.usage["estimated"]) == (7, 1)


async def test_pictures_are_counted(serve: Serve) -> None:
    shown = Message("user", "?", (Image("image/png", b"x"), Image("image/png", b"y")))
    models, _ = serve(UNTOLD)
    asked = await ask(models, messages=[shown])
    assert 2 * TOKENS_AN_IMAGE < asked.usage["input_tokens"] < 2 * TOKENS_AN_IMAGE + 100


async def test_an_estimate_is_priced_as_what_is_told_is(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "forethought.models.provider_reply.price", lambda name, provider, url, i, o, c: (i + o) / 1e6
    )
    models, _ = serve(UNTOLD)
    asked = await ask(models)
    tokens = asked.usage["input_tokens"] + asked.usage["output_tokens"]
    assert asked.usage["usd"] == pytest.approx(tokens / 1e6)
    assert asked.usage["unpriced"] == 0
