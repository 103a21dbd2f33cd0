"""The model that is asked where another one gives no reply: Context's `fallback_model`.

It is asked when the retries of a model are used up or would take more time than there is, when its quota is
spent, when the request is too large for it, and when it is unknown; not once the time of the task has passed.
A key or a request that is refused ends the run: another model would hide what has to be put right. A model
that has failed is left alone for a while, so that a long outage does not cost every call all of its retries;
it has not failed where only this request was too large or had too little time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from forethought.models.types import ModelError, ModelUnavailable, OutOfTime, TooLarge, TransportError

T = TypeVar("T")
REST_S = 60.0
"""How long a model that failed is passed over, in seconds."""


@dataclass
class Fallbacks:
    """Which models of a process have just failed."""

    now: Callable[[], float] = time.monotonic
    _failed: dict[str, tuple[float, str]] = field(default_factory=dict)
    """Until when each rests, and why, in words for every run."""

    def order(self, model: str, fallback: str | None) -> list[str]:
        """The models to ask, in turn."""
        if fallback is None or fallback == model:
            return [model]
        return [fallback, model] if self._rests(model) and not self._rests(fallback) else [model, fallback]

    async def ask(
        self,
        model: str,
        fallback: str | None,
        send: Callable[[str], Awaitable[T]],
        deadline: float = math.inf,
    ) -> T:
        """What `send` gives for `model`, or else for `fallback`, if that can be asked before `deadline` (on
        the clock `now`).

        Raises what `send` raises, as one error that tells of both where both failed, and OutOfTime. Nothing
        of it may be secret any more: it is told in the run's stream.
        """
        order = self.order(model, fallback)
        if order[0] != model:
            _tell(model, order[0], self._failed[model][1])
        first: ModelError | None = None
        for at, asked in enumerate(order):
            try:
                got = await send(asked)
            except (TransportError, ModelUnavailable) as error:
                if not isinstance(error, OutOfTime | TooLarge):
                    self._failed[asked] = (self.now() + REST_S, _for_others(error))
                if at + 1 == len(order):
                    if first is None:
                        raise
                    # Not as `_failed` has it: another call may have found the first one well since.
                    raise _joined(first, error) from error
                if self.now() >= deadline:
                    if isinstance(error, OutOfTime):
                        raise
                    raise OutOfTime(f"{error}; the time of the task is spent", error.usage) from error
                first = error
                _tell(asked, order[at + 1], str(error))
            else:
                self._failed.pop(asked, None)
                return got
        raise AssertionError("the last model's error was raised")

    def _rests(self, model: str) -> bool:
        return model in self._failed and self.now() < self._failed[model][0]


def _for_others(error: ModelError) -> str:
    """Why a model rests. The provider's own words are for the run that it told them: they may be of what that
    run asked, or of whose it is."""
    unusable = isinstance(error, ModelUnavailable)
    what = "was unknown or had no quota left" if unusable else "gave no reply"
    return f"it {what} less than {REST_S:g} s ago"


def _joined(first: ModelError, last: ModelError) -> ModelError:
    return type(last)(f"{first}; then {last}", last.usage)


def _tell(model: str, fallback: str, why: str) -> None:
    """Put it into the run's stream, so that whoever watches knows who answers."""
    from langgraph.config import get_stream_writer

    try:
        write = get_stream_writer()
    except (RuntimeError, KeyError):  # asked outside of a graph
        return
    write({"event": "fallback", "model": model, "fallback": fallback, "why": why})
