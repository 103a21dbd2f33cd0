"""What a sample's tries have used of its budget: tool calls and tokens, counted where they are made."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from forethought.evals.types import BudgetSpent
from forethought.models.allowance import charged_tokens, count, total
from forethought.models.types import (
    ModelError,
    ModelReply,
    ModelRequest,
    Transport,
    Usage,
    WrappedTransport,
    no_usage,
)
from forethought.tools.base import ToolError


class StepsSpent(ToolError, BudgetSpent):
    """No call is left. As a tool's error it is an observation where a tool was called."""

    def __init__(self, max_steps: int) -> None:
        hint = "end with what there is"
        super().__init__(f"the budget of {max_steps} calls is spent", cause="limit", hint=hint)


@dataclass
class StepCounter:
    """The calls of one sample, all its tries together."""

    max_steps: int
    used: int = 0

    @property
    def left(self) -> int:
        """How many more there may be."""
        return max(self.max_steps - self.used, 0)

    def take(self) -> None:
        """Count one call before it is made. Raises StepsSpent when none is left."""
        if not self.left:
            raise StepsSpent(self.max_steps)
        self.used += 1


@dataclass
class Meter:
    """Counts what calls cost."""

    usage: Usage = field(default_factory=no_usage)

    @property
    def tokens(self) -> int:
        """Tokens so far, as a budget counts them."""
        return charged_tokens(self.usage)

    def add(self, usage: Usage) -> None:
        """Count what was spent."""
        self.usage = total(self.usage, usage)


@dataclass(frozen=True)
class MeteredTransport(WrappedTransport):
    """Passes requests on to `inner`, counting them in `meters`, as long as the first one is below the limit.

    A call is never cut off: one that begins below the limit is made, however much it costs.
    """

    inner: Transport
    meters: tuple[Meter, ...]
    max_tokens: int | None = None
    stop: Callable[[], Exception | None] = lambda: None
    """Why no more calls are allowed, such as a broken environment."""

    async def send(self, request: ModelRequest) -> ModelReply:
        """The reply of `inner`. Raises BudgetSpent before the call when the limit is reached, and what `stop`
        gives."""
        if (reason := self.stop()) is not None:
            raise reason
        spent = self.meters[0].tokens
        if self.max_tokens is not None and spent >= self.max_tokens:
            raise BudgetSpent(f"{spent} of {self.max_tokens} tokens are spent")
        usage, started = no_usage(), time.monotonic()
        try:
            reply = await self.inner.send(request)
            count(usage, reply, time.monotonic() - started)
        except ModelError:
            usage["calls"], usage["seconds"] = 1, time.monotonic() - started
            raise
        finally:
            if usage["calls"]:
                for meter in self.meters:
                    meter.add(usage)
        return reply
