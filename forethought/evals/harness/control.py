"""What may begin, and what ends an evaluation early: caps, failures in a row, an error that would meet all.

Samples of all methods wait at one gate, so that `parallel` of them run whatever their method, and the methods
go through the samples side by side: what a cap leaves is paired.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

from forethought.evals.harness.meter import Meter
from forethought.models.errors import status_of
from forethought.models.types import ConfigurationError

_OF_THE_REQUEST = frozenset({400, 413, 422})
"""HTTP statuses by which a provider refuses one request, such as a prompt that is too long."""


def meets_all(error: BaseException) -> bool:
    """Whether the error would meet every sample: no key, a wrong one, an unknown model, a spent quota."""
    return isinstance(error, ConfigurationError) and status_of(error) not in _OF_THE_REQUEST


class Gate:
    """Lets `places` through at a time, those of the lowest rank first."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: list[tuple[tuple[int, int], int, asyncio.Future[None]]] = []
        self._came = 0

    async def enter(self, rank: tuple[int, int]) -> None:
        """Wait for a place."""
        if self._free and not self._waiting:
            self._free -= 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._came += 1
        heapq.heappush(self._waiting, (rank, self._came, place))
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        """Give the place up."""
        while self._waiting:
            *_, place = heapq.heappop(self._waiting)
            if not place.done():
                place.set_result(None)
                return
        self._free += 1


@dataclass
class Control:
    """An evaluation's brakes."""

    gate: Gate
    spent: Meter
    """Everything that this evaluation paid for, earlier sittings included."""
    max_usd: float | None = None
    max_tokens: int | None = None
    fail_after: int = 5
    """Infrastructure failures in a row that stop the evaluation."""
    stopping: Callable[[], bool] = lambda: False
    """Whether no further sample is to begin."""
    stop: Callable[[], object] = lambda: None
    """Breaks off what is running."""
    error: Exception | None = None
    """Why it was stopped."""
    capped: bool = False
    """Whether a sample was not begun for want of money or tokens."""
    _in_row: int = field(default=0)

    def may_begin(self) -> bool:
        """Whether another sample may begin."""
        return not self.stopping() and self.affordable()

    def affordable(self) -> bool:
        """Whether the caps allow another sample; where they do not, that is remembered."""
        usd, tokens = self.spent.usage["usd"], self.spent.tokens
        over = (self.max_usd is not None and usd >= self.max_usd) or (
            self.max_tokens is not None and tokens >= self.max_tokens
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
