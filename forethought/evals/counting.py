"""What a sample's tries have used of its budget: tool calls here, tokens at the transport."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from forethought.evals.harness.meter import MeteredTransport
from forethought.evals.types import BudgetSpent
from forethought.models.types import ModelReply, ModelRequest
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


@dataclass(frozen=True)
class Watched(MeteredTransport):
    """A metered transport that ends an attempt at its next call, once there is a reason to."""

    stop: Callable[[], Exception | None] = lambda: None
    """Such as a broken environment, which is no use to go on with."""

    async def send(self, request: ModelRequest) -> ModelReply:
        """See MeteredTransport. Raises what `stop` gives, too."""
        if (reason := self.stop()) is not None:
            raise reason
        return await super().send(request)
