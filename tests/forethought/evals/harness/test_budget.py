"""The budget's counters."""

from __future__ import annotations

import pytest

from forethought.evals.harness.budget import Meter, MeteredTransport, StepCounter, StepsSpent
from forethought.evals.types import BudgetSpent, InfrastructureError
from forethought.models.types import Message, ModelReply, ModelRequest
from forethought.tools.base import ToolError

REQUEST = ModelRequest("baseline", "m", (Message("user", "hello"),), "Reply", {})


class Priced:
    """Answers, and says what it took."""

    async def send(self, request: ModelRequest) -> ModelReply:
        """The reply."""
        return ModelReply("{}", input_tokens=7, output_tokens=3, cached_tokens=2, usd=0.5)


def test_no_call_beyond_the_budget_is_counted() -> None:
    counter = StepCounter(2)
    counter.take()
    counter.take()
    with pytest.raises(StepsSpent) as caught:
        counter.take()
    assert (counter.used, counter.left) == (2, 0)
    assert isinstance(caught.value, BudgetSpent), "a method may catch it as such"
    assert isinstance(caught.value, ToolError), "and a tool's caller sees an observation"
    assert caught.value.cause == "limit"


async def test_a_watched_transport_counts_until_there_is_a_reason_to_stop() -> None:
    meter, reasons = Meter(), list[Exception]()
    watched = MeteredTransport(Priced(), (meter,), stop=lambda: reasons[0] if reasons else None)
    assert (await watched.send(REQUEST)).output_tokens == 3
    assert (meter.tokens, meter.usage["calls"], meter.usage["usd"]) == (10, 1, 0.5)
    reasons.append(InfrastructureError("the house burnt down"))
    with pytest.raises(InfrastructureError, match="burnt down"):
        await watched.send(REQUEST)
    assert meter.usage["calls"] == 1
