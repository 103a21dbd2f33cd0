"""The model that is asked where another one gives no reply: Context's `fallback_model`.

It is asked when the retries of a model are used up, when its quota is spent, and when it is unknown; not once
the time of the task has passed. A refused key or request ends the run: another model would hide what has to
be put right. A model that has failed is passed over for a minute, so that an outage does not cost every call
all of its retries.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from forethought.models.types import ModelUnavailable, OutOfTime, TransportError
from forethought.telemetry import write_event

T = TypeVar("T")
REST_S = 60.0
"""How long a model that failed is passed over, in seconds."""


@dataclass
class Fallbacks:
    """Which models of a process have just failed."""

    _failed: dict[str, float] = field(default_factory=dict)
    """Until when each is passed over, on the clock of `time.monotonic`."""

    async def ask(
        self,
        model: str,
        fallback: str | None,
        send: Callable[[str], Awaitable[T]],
        deadline: float = math.inf,
    ) -> T:
        """What `send` returns for `model`, or else for `fallback`, if there is time until `deadline`.

        Raises what `send` raises, as one error that names both where both failed, and OutOfTime.
        """
        if fallback is None or fallback == model:
            return await self._send(model, send)
        first, second = model, fallback
        if self._rests(model) and not self._rests(fallback):
            first, second = fallback, model
            # The provider's own words are for the run that was told them.
            _announce(model, fallback, f"it failed less than {REST_S:g} s ago")
        try:
            return await self._send(first, send)
        except (TransportError, ModelUnavailable) as error:
            if time.monotonic() >= deadline:
                raise OutOfTime(str(error), error.usage) from error
            _announce(first, second, str(error))
            try:
                return await self._send(second, send)
            except (TransportError, ModelUnavailable) as last:
                raise type(last)(f"{error}; then {last}", last.usage) from last

    async def _send(self, model: str, send: Callable[[str], Awaitable[T]]) -> T:
        try:
            return await send(model)
        except (TransportError, ModelUnavailable) as error:
            if not isinstance(error, OutOfTime):
                self._failed[model] = time.monotonic() + REST_S
            raise

    def _rests(self, model: str) -> bool:
        return time.monotonic() < self._failed.get(model, 0.0)


def _announce(model: str, fallback: str, reason: str) -> None:
    write_event({"event": "fallback", "model": model, "fallback": fallback, "why": reason})
