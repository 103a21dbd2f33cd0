"""Which limits are waited for and which are spent, by what providers send: through OpenAI's client over HTTP.

Gemini's own client is in test_other_providers.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from forethought.models import ModelRequest
from forethought.models.live import LiveTransport
from forethought.models.retry import Backoff
from forethought.models.types import Message, ModelUnavailable, reply_spec
from forethought.prompts.replies import AnswerUnscored
from forethought.settings import Settings
from tests.support.model_server import Fault, script

SPEC = reply_spec(AnswerUnscored)
REPLY: Any = {"answer": "yes", "used_steps": []}
_ADD = (
    "You can increase your rate limit by adding a payment method to your account at "
    "https://platform.openai.com/account/billing."
)
_EXCEEDED = "You exceeded your current quota, please check your plan and billing details."


def google(message: str, *quotas: str, delay: str | None = None) -> Any:
    """The body in which Gemini's OpenAI-compatible endpoint tells of a limit."""
    violations = [{"quotaMetric": "generate_content_requests", "quotaId": quota} for quota in quotas]
    details: list[Any] = [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": violations}]
    if delay:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    error = {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": details}
    return [{"error": error}]


PASSES = {
    "requests-a-minute": Fault(
        "429",
        type="requests",
        code="rate_limit_exceeded",
        message="Rate limit reached for gpt-4o on requests per min (RPM): Limit 3, Used 3, Requested 1. "
        f"Please try again in 0.02s. {_ADD}",
    ),
    "a-header": Fault("429", message=_EXCEEDED, retry_after="0.02"),
    "gemini-the-minute": Fault("429", body=google(_EXCEEDED, "GenerateRequestsPerMinutePerModel-FreeTier")),
    "gemini-retry-info": Fault("429", body=google(_EXCEEDED, delay="0.02s")),
    "anthropic": Fault(
        "429", type="rate_limit_error", message="This would exceed the limit of 50 requests per minute"
    ),
    "no-json": Fault("429", body="slow down"),
}
SPENT = {
    "openai": Fault("429", type="insufficient_quota", code="insufficient_quota", message=_EXCEEDED),
    "openai-with-a-header": Fault("429", code="insufficient_quota", message=_EXCEEDED, retry_after="0.02"),
    "openai-by-type": Fault("429", type="insufficient_quota", message="Quota."),
    "gemini-the-day": Fault(
        "429",
        body=google(
            f"{_EXCEEDED} Please retry in 0.02s.",
            "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
            "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
            delay="0.02s",
        ),
    ),
    "gemini-not-in-the-plan": Fault(
        "429",
        body=google(f"{_EXCEEDED} metric: x, limit: 0, model: m. Please retry in 0.02s.", delay="0.02s"),
    ),
}


@pytest.fixture
def send(model_server: Any, settings: Callable[..., Settings]) -> Callable[..., Any]:
    async def make(*answers: Any, retries: int = 3) -> tuple[Any, int, float]:
        server = model_server(script(*answers))
        chosen = settings(server, request_retries=retries)
        transport = LiveTransport(chosen, Backoff(0.001, 0.002))
        messages = (Message("user", "Is it so?"),)
        started = time.monotonic()
        try:
            await transport.send(ModelRequest("answer", "openai:m", messages, SPEC.name, SPEC.schema))
        except Exception as error:
            return error, len(server.requests), time.monotonic() - started
        return None, len(server.requests), time.monotonic() - started

    return make


@pytest.mark.parametrize("name", PASSES)
async def test_a_limit_that_passes_is_waited_for(send: Any, name: str) -> None:
    fault = PASSES[name]
    error, requests, took = await send(fault, fault, REPLY)
    assert error is None
    assert requests == 3
    if "0.02" in f"{fault}":
        assert took >= 0.04, "the wait that was named is kept"


@pytest.mark.parametrize("name", SPENT)
async def test_a_spent_quota_stops_at_once(send: Any, name: str) -> None:
    error, requests, _ = await send(SPENT[name], REPLY)
    assert isinstance(error, ModelUnavailable)
    assert "the quota is spent" in str(error)
    assert requests == 1
