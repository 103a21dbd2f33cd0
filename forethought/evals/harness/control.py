"""What may begin, and what ends an evaluation early: caps, failures in a row, a wrong key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from forethought.evals.harness.budget import Meter
from forethought.models.errors import status_of
from forethought.models.types import ConfigurationError

_OF_THE_REQUEST = frozenset({400, 413, 422})
"""HTTP statuses with which a provider refuses a single request, such as one with too long a prompt."""


def meets_all(error: BaseException) -> bool:
    """Whether the error would meet every sample: no key, a wrong one, an unknown model, a spent quota."""
    return isinstance(error, ConfigurationError) and status_of(error) not in _OF_THE_REQUEST


@dataclass
class Control:
    """An evaluation's brakes."""

    parallel: asyncio.Semaphore
    """Samples of all methods wait here in turn, so that the methods advance in parallel."""
    spent: Meter
    """Total usage of the evaluation, including earlier runs of the command."""
    max_usd: float | None = None
    max_tokens: int | None = None
    fail_after: int = 5
    """Consecutive infrastructure failures that stop the evaluation."""
    stopping: Callable[[], bool] = lambda: False
    """Whether no more samples may start."""
    stop: Callable[[], object] = lambda: None
    """Cancels the running samples."""
    error: Exception | None = None
    """Why it was stopped."""
    capped: bool = False
    """Whether a sample did not start because a cap was reached."""
    _in_row: int = field(default=0)

    def may_begin(self) -> bool:
        """Whether another sample may begin."""
        return not self.stopping() and self.affordable()

    def affordable(self) -> bool:
        """Whether the caps allow another sample; where they do not, that is remembered."""
        over = (self.max_usd is not None and self.spent.usage["usd"] >= self.max_usd) or (
            self.max_tokens is not None and self.spent.tokens >= self.max_tokens
        )
        self.capped |= over
        return not over

    def succeeded(self) -> None:
        """A trial has its score."""
        self._in_row = 0

    def failed(self, error: Exception) -> None:
        """A trial could not be tried: stop everything where there is no use in going on."""
        self._in_row += 1
        if self.error is None and (meets_all(error) or self._in_row >= self.fail_after):
            self.error = error
            self.stop()
