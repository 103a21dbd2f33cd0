"""Which failures are tried again, and after how long."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest
from langgraph.errors import GraphDrained

from forethought.models import ConfigurationError, TransportError
from forethought.models.errors import is_transient, requested_wait
from forethought.models.retry import Backoff, with_retries
from forethought.models.types import OutOfTime


class Response:
    def __init__(self, headers: dict[str, str]) -> None:
        self.headers = headers


class HttpError(Exception):
    def __init__(self, status: int, text: str = "", **headers: str) -> None:
        super().__init__(text)
        self.status_code = status
        self.response = Response({name.replace("_", "-"): value for name, value in headers.items()})


def wrapped(inner: Exception) -> Exception:
    """As a provider's package wraps its client's errors."""
    try:
        raise RuntimeError("provider package") from inner
    except RuntimeError as error:
        return error


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (HttpError(429, retry_after="3"), 3.0),
        (HttpError(429, retry_after="0.25"), 0.25),
        (HttpError(429, retry_after="86400"), 120.0),
        (HttpError(429, retry_after="soon"), None),
        (HttpError(429, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"), None),
        (HttpError(429, "{'@type': 'RetryInfo', 'retryDelay': '0.3s'}"), 0.3),
    ],
)
def test_the_wait_that_a_provider_asks_for(error: Exception, seconds: float | None) -> None:
    assert requested_wait(wrapped(error)) == seconds


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        *((HttpError(status), True) for status in (408, 429, 500, 502, 503, 504, 520, 529)),
        *((HttpError(status), False) for status in (400, 401, 403, 404)),
        (HttpError(429, "insufficient_quota"), False),
        (RuntimeError("a bug"), False),
        (AttributeError("a bug"), False),
        (ConnectionResetError(), True),
        (TimeoutError(), True),
        (ValueError("no JSON"), True),
        (httpx.LocalProtocolError("Can't send data when our state is ERROR"), True),
    ],
    ids=str,
)
def test_which_failures_are_tried_again(error: Exception, transient: bool) -> None:
    assert is_transient(wrapped(error)) is transient


async def run(
    *errors: Exception, retries: int = 5, backoff: Backoff | None = None
) -> tuple[str, list[float]]:
    """What came in the end, and the waits before it, in seconds, which are not waited."""
    left, waits = list(errors), list[float]()

    async def call() -> str:
        if left:
            raise left.pop(0)
        return "done"

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    backoff = backoff or Backoff(0.001, 0.002)
    return await with_retries(call, model="m", retries=retries, backoff=backoff, sleep=sleep), waits


async def test_the_provider_says_how_long() -> None:
    assert await run(HttpError(429, retry_after="20")) == ("done", [20.0])


@pytest.mark.parametrize(
    "headers",
    [{}, {"retry_after": "0"}],
)
async def test_waits_grow_and_are_capped_whatever_the_header_says(headers: dict[str, str]) -> None:
    _, (first, second, *others) = await run(*[HttpError(503, **headers)] * 4, backoff=Backoff(2, 5))
    assert 2 <= first <= 3
    assert 4 <= second <= 5
    assert others == [5, 5]


async def test_bugs_surface_as_they_are() -> None:
    calls: list[Any] = []

    async def call() -> None:
        calls.append(1)
        raise AttributeError("a bug")

    with pytest.raises(AttributeError, match="a bug"):
        await with_retries(call, model="m", retries=5, backoff=Backoff(0.001, 0.002))
    assert len(calls) == 1


async def test_a_connection_that_fails_is_told_with_the_systems_reason() -> None:
    async def refused() -> None:
        raise wrapped(ConnectionRefusedError(111, "Connection refused"))

    words = r"in 2 tries; the last: provider package: \[Errno 111\] Connection refused"
    with pytest.raises(TransportError, match=words):
        await with_retries(refused, model="m", retries=1, backoff=Backoff(0.01, 0.01))


async def test_no_wait_is_begun_that_would_end_after_the_deadline() -> None:
    waits: list[float] = []

    async def call() -> None:
        raise HttpError(429, "slow down", retry_after="10" if len(waits) < 2 else "60")

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    deadline = time.monotonic() + 30
    with pytest.raises(OutOfTime, match=r"in 3 tries; .*the time of the task is spent$"):
        await with_retries(call, model="m", retries=9, backoff=Backoff(), deadline=deadline, sleep=sleep)
    assert waits == [10, 10]


async def test_what_no_retry_can_help_is_no_matter_of_time() -> None:
    async def call() -> None:
        raise HttpError(401, "wrong key")

    with pytest.raises(ConfigurationError, match="the key was refused"):
        await with_retries(call, model="m", retries=9, backoff=Backoff(), deadline=time.monotonic() - 1)


@pytest.mark.parametrize("where", ["in the call", "in the wait"])
async def test_a_stop_is_no_failure_of_the_model_whatever_went_wrong_before(where: str) -> None:
    tries = list[str]()

    async def stop(seconds: float) -> None:
        raise GraphDrained("SIGTERM")

    async def call() -> str:
        tries.append("")
        if where == "in the call":
            raise GraphDrained("SIGTERM")
        raise ConnectionError("broke off")

    try:
        raise ConnectionError("of what it is asked instead")
    except ConnectionError:
        with pytest.raises(GraphDrained):
            await with_retries(call, model="m", retries=5, backoff=Backoff(), sleep=stop)
    assert len(tries) == 1
