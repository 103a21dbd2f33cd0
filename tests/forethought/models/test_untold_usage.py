"""Replies that do not say what they used: their tokens are estimated, so that budgets hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from forethought.models import (
    Function,
    Message,
    Models,
    RecordingTransport,
    ReplayTransport,
    ReplyResult,
    reply_spec,
)
from forethought.models.live import LiveTransport
from forethought.models.tokens import TOKENS_AN_IMAGE, estimate_tokens
from forethought.models.types import Image, ReplySpec
from forethought.settings import Settings
from tests.support.model_server import ModelServer, Reply, script

Start = Callable[..., ModelServer]
Make = Callable[..., Settings]
UNTOLD = Reply({"note": "n" * 700}, told=False)


class Note(BaseModel):
    note: str


async def ask(models: Models, model: str = "openai:scripted", **more: Any) -> ReplyResult[Any]:
    given = {"messages": [Message("user", "word " * 700)], "reply": reply_spec(Note), **more}
    return await models.ask(role="tool", model=model, **given)


async def test_tokens_that_a_reply_does_not_tell_are_estimated(model_server: Start, settings: Make) -> None:
    asked = await ask(Models(settings(model_server(script(UNTOLD)))))
    schema = estimate_tokens(json.dumps(reply_spec(Note).schema))
    assert asked.usage["input_tokens"] == pytest.approx(1_000 + schema, abs=5)
    assert asked.usage["output_tokens"] == pytest.approx(200, abs=10)
    assert (asked.usage["calls"], asked.usage["estimated"]) == (1, 1)


async def test_what_is_told_is_taken_as_it_is(model_server: Start, settings: Make) -> None:
    asked = await ask(Models(settings(model_server(script({"note": "n" * 700})))))
    assert (asked.usage["input_tokens"], asked.usage["output_tokens"]) == (100, 20)
    assert "estimated" not in asked.usage


async def test_a_prompt_never_has_no_tokens(model_server: Start, settings: Make) -> None:
    reply = Reply({"note": "n"}, prompt_tokens=0, completion_tokens=7)
    asked = await ask(Models(settings(model_server(script(reply)))))
    assert asked.usage["input_tokens"] > 1_000
    assert (asked.usage["output_tokens"], asked.usage["estimated"]) == (7, 1)


async def test_functions_that_are_offered_and_called_are_counted(model_server: Start, settings: Make) -> None:
    offered = tuple(
        Function(name, "d" * 1_750, {"type": "object", "properties": {}, "additionalProperties": False})
        for name in ("one", "two")
    )
    spec: ReplySpec[Any] = ReplySpec("Choice", {}, lambda value: value, functions=offered, strict=False)
    reply = Reply(calls=(("one", {"text": "n" * 700}),), told=False)
    asked = await ask(Models(settings(model_server(script(reply)))), reply=spec)
    assert asked.usage["input_tokens"] == pytest.approx(2_000, rel=0.1)
    assert asked.usage["output_tokens"] == pytest.approx(200, abs=10)


async def test_pictures_are_counted(model_server: Start, settings: Make) -> None:
    shown = Message("user", "?", (Image("image/png", b"x"), Image("image/png", b"y")))
    asked = await ask(Models(settings(model_server(script(UNTOLD)))), messages=[shown])
    assert 2 * TOKENS_AN_IMAGE < asked.usage["input_tokens"] < 2 * TOKENS_AN_IMAGE + 100


async def test_an_estimate_is_priced_as_what_is_told_is(
    model_server: Start, settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "forethought.models.provider_reply.price", lambda name, provider, url, i, o, c: (i + o) / 1e6
    )
    asked = await ask(Models(settings(model_server(script(UNTOLD)))))
    tokens = asked.usage["input_tokens"] + asked.usage["output_tokens"]
    assert asked.usage["usd"] == pytest.approx(tokens / 1e6)
    assert asked.usage["unpriced"] == 0


async def test_a_replay_gives_the_figures_that_were_recorded(
    model_server: Start, settings: Make, tmp_path: Path
) -> None:
    given, path = settings(model_server(script(UNTOLD))), tmp_path / "r.jsonl"
    recorded = await ask(Models(given, RecordingTransport(LiveTransport(given), path, {})))
    replayed = await ask(Models(given, ReplayTransport(path)))
    assert {**replayed.usage, "seconds": 0} == {**recorded.usage, "seconds": 0}
    assert replayed.usage["estimated"] == 1
