"""Which limits are waited for and which are spent, through OpenAI's client over HTTP."""

from __future__ import annotations

import time
from typing import Any

import pytest

from forethought.models import Message, reply_spec
from forethought.models.types import ModelUnavailable
from forethought.prompts.replies import AnswerUnscored
from tests.forethought.models.conftest import Serve
from tests.support.model_server import Fault

REPLY = {"answer": "yes", "used_steps": []}
QUESTION: dict[str, Any] = {
    "role": "answer",
    "model": "openai:m",
    "messages": [Message("user", "Is it so?")],
    "reply": reply_spec(AnswerUnscored),
}
EXCEEDED = "You exceeded your current quota, please check your plan and billing details."
PASSES = {
    "in words": Fault(
        "429",
        type="requests",
        code="rate_limit_exceeded",
        message="Rate limit reached on requests per min. Please try again in 0.02s. "
        "You can increase it by adding a payment method at https://platform.openai.com/account/billing.",
    ),
    "in a header": Fault("429", message=EXCEEDED, retry_after="0.02"),
    "no JSON": Fault("429", body="slow down"),
}
SPENT = {
    "by code": Fault("429", code="insufficient_quota", message=EXCEEDED, retry_after="0.02"),
    "by type": Fault("429", type="insufficient_quota", message="Quota."),
}


@pytest.mark.parametrize("name", PASSES)
async def test_a_limit_that_passes_is_waited_for(serve: Serve, name: str) -> None:
    models, server = serve(PASSES[name], PASSES[name], REPLY)
    started = time.monotonic()
    assert (await models.ask(**QUESTION)).reply.answer == "yes"
    assert len(server.requests) == 3
    if "0.02" in str(PASSES[name]):
        assert time.monotonic() - started >= 0.04, "the wait that was named is kept"


@pytest.mark.parametrize("name", SPENT)
async def test_a_spent_quota_stops_at_once(serve: Serve, name: str) -> None:
    models, server = serve(SPENT[name], REPLY)
    with pytest.raises(ModelUnavailable, match="the quota is spent"):
        await models.ask(**QUESTION)
    assert len(server.requests) == 1
