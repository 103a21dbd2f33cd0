"""Retries of a model call. `forethought.models.errors` says which errors are transient."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, stop_before_delay
from tenacity.wait import wait_exponential_jitter

from forethought.models.errors import describe, is_transient, model_error, requested_wait
from forethought.models.types import ModelError, OutOfTime
from forethought.telemetry import write_event

T = TypeVar("T")


@dataclass(frozen=True)
class Backoff:
    """The least wait before the first retry and the longest that it grows to, in seconds."""

    first_s: float = 0.5
    longest_s: float = 30.0


async def with_retries(
    call: Callable[[], Awaitable[T]],
    *,
    model: str,
    retries: int,
    backoff: Backoff,
    deadline: float = math.inf,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> T:
    """What `call` returns, tried again up to `retries` times. The stream of the run is told of each wait.

    What `sleep` raises ends the tries. No wait begins that would end after `deadline` (on the clock of
    `time.monotonic`). Raises TransportError, OutOfTime or ConfigurationError.
    """
    exponential = wait_exponential_jitter(
        initial=backoff.first_s, max=backoff.longest_s, jitter=min(backoff.first_s, 1.0)
    )

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        requested = requested_wait(error) if error else None
        # Never less than the growing wait: "at once", said again and again, would use up all retries.
        return max(requested or 0.0, exponential(state))

    def announce(state: RetryCallState) -> None:
        if error := state.outcome.exception() if state.outcome else None:
            event = {"event": "waiting", "model": model, "why": describe(error)}
            seconds = round(state.upcoming_sleep, 1)
            write_event({**event, "seconds": seconds, "retry": state.attempt_number, "retries": retries})

    retrying = AsyncRetrying(
        stop=stop_after_attempt(retries + 1) | stop_before_delay(deadline - time.monotonic()),
        wait=wait,
        retry=retry_if_exception(is_transient),
        before_sleep=announce,
        sleep=sleep,
        reraise=True,
    )
    try:
        return await retrying(call)
    except ModelError:
        raise
    except Exception as error:
        tries = retrying.statistics["attempt_number"]
        known = model_error(error, model, tries)
        if known is None:
            raise
        if tries <= retries and is_transient(error):
            known = OutOfTime(f"{known}; the time of the task is spent")
        raise known from error
