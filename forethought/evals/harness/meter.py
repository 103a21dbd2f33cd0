"""What a sample's model calls cost, counted where they are made, and the budget that they must keep to."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from forethought.evals.types import BudgetSpent
from forethought.models.allowance import count, total
from forethought.models.types import (
    ModelError,
    ModelReply,
    ModelRequest,
    Pricing,
    Transport,
    Usage,
    Verifying,
    no_usage,
)


@dataclass
class Meter:
    """Counts what calls cost."""

    usage: Usage = field(default_factory=no_usage)

    @property
    def tokens(self) -> int:
        """Input and output tokens so far."""
        return self.usage["input_tokens"] + self.usage["output_tokens"]

    def add(self, usage: Usage) -> None:
        """Count what was spent."""
        self.usage = total(self.usage, usage)


@dataclass(frozen=True)
class MeteredTransport:
    """Passes requests on to `inner`, counting them in `meters`, as long as the first one is below the limit.

    A call is never cut off: one that begins below the limit is made, however much it costs.
    """

    inner: Transport
    meters: tuple[Meter, ...]
    max_tokens: int | None = None

    def verify(self, model: str) -> None:
        """As `inner` does. Raises ConfigurationError."""
        if isinstance(self.inner, Verifying):
            self.inner.verify(model)

    def priced(self, model: str) -> bool:
        """As `inner` says; True where it cannot tell."""
        return self.inner.priced(model) if isinstance(self.inner, Pricing) else True

    async def send(self, request: ModelRequest) -> ModelReply:
        """The reply of `inner`. Raises BudgetSpent before the call when the limit is reached."""
        spent = self.meters[0].tokens
        if self.max_tokens is not None and spent >= self.max_tokens:
            raise BudgetSpent(f"{spent} of {self.max_tokens} tokens are spent")
        started, reply = time.monotonic(), None
        try:
            reply = await self.inner.send(request)
        except ModelError:
            self._count(None, started)
            raise
        self._count(reply, started)
        return reply

    def _count(self, reply: ModelReply | None, started: float) -> None:
        usage = _usage(reply, time.monotonic() - started)
        for meter in self.meters:
            meter.add(usage)


def _usage(reply: ModelReply | None, seconds: float) -> Usage:
    """What a call cost; no reply came of a failed one."""
    usage = no_usage()
    if reply is not None:
        count(usage, reply, seconds)
    else:
        usage["calls"], usage["seconds"] = 1, seconds
    return usage
