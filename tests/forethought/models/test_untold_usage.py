"""Replies that do not say what they used: their tokens are estimated, so that budgets hold."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from forethought.models import Message, reply_spec
from tests.forethought.models.conftest import Serve
from tests.support.model_server import Reply


class Note(BaseModel):
    note: str


@pytest.mark.parametrize(
    ("reply", "expected", "estimated"),
    [
        (Reply({"note": "n" * 700}, told=False), (1_050, 205), 1),
        (Reply({"note": "n"}, prompt_tokens=0, completion_tokens=7), (1_050, 7), 1),
        (Reply({"note": "n" * 700}), (100, 20), 0),
    ],
)
async def test_tokens_that_a_reply_does_not_tell_are_estimated_and_priced(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, reply: Reply, expected: tuple[int, int], estimated: int
) -> None:
    def price(name: str, provider: str, url: Any, given: int, generated: int, cached: int) -> float:
        return (given + generated) / 1e6

    monkeypatch.setattr("forethought.models.provider_reply.price", price)
    models, _ = serve(reply)
    question = [Message("user", "word " * 700)]
    asked = await models.ask(role="tool", model="openai:m", messages=question, reply=reply_spec(Note))
    tokens = asked.usage["input_tokens"], asked.usage["output_tokens"]
    assert tokens == pytest.approx(expected, abs=25 if estimated else 0)
    assert asked.usage.get("estimated", 0) == estimated
    assert asked.usage["usd"] == pytest.approx(sum(tokens) / 1e6)
