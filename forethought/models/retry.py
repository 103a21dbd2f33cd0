"""The one layer of retries: what the transport does wrong is tried again, what would not help is not.

What counts is found on the chain of causes (`forethought.models.causes`): a status, what the provider says of
its limits (`forethought.models.limits`), or the lack of any answer.
"""

from __future__ import annotations

import asyncio
import math
import re
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from langgraph.errors import GraphBubbleUp
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, stop_before_delay
from tenacity.wait import wait_exponential_jitter

from forethought.models.causes import body_of, chain, status_of
from forethought.models.limits import asked_wait, is_spent, is_too_large
from forethought.models.types import (
    ConfigurationError,
    HeldUp,
    ModelError,
    ModelUnavailable,
    OutOfTime,
    TooLarge,
    TransportError,
)

T = TypeVar("T")
_NOT_OF_THE_MODEL = (HeldUp, GraphBubbleUp)
"""What ends the tries and is passed on as it is, whatever else stands on its chain of causes."""
RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
REFUSED = frozenset({400, 401, 402, 403, 404, 405, 410, 413, 415, 422, 501})
_FILTERED = re.compile(
    r"content[ _]filter|content_policy|content management policy|responsible ?ai", re.IGNORECASE
)
_HTTP = frozenset({"aiohttp", "h11", "httpcore", "httpx", "httpx2"})
"""Libraries whose own errors, where they tell of no status, are of the exchange: it broke off, or what came
is no HTTP."""
_NO_URL = frozenset({"UnsupportedProtocol", "InvalidURL", "NonHttpUrlClientError"})
_OF_THE_MODEL = frozenset({402, 404, 410})
"""Statuses that refuse this model, where another one may be taken."""
_HINTS = {
    401: "the key was refused",
    402: "the account has no credit",
    403: "the key may not do this",
    404: "no such model or address",
    410: "the model is no longer offered",
}


@dataclass(frozen=True)
class Backoff:
    """The least wait before the first retry and the longest that it grows to, in seconds."""

    first_s: float = 0.5
    longest_s: float = 30.0


def one_line(error: BaseException) -> str:
    """The provider's words, short."""
    said = getattr(error, "message", "") or body_of(error).get("message") or error
    text = str(said) or type(error).__name__
    text = " ".join(text.split())
    return text if len(text) <= 300 else text[:300] + " ..."


def why(error: BaseException) -> str:
    """The provider's words; where they hide why no connection came about, the system's words as well."""
    words = one_line(error)
    if status_of(error) is None:
        system = [link for link in chain(error) if isinstance(link, OSError) and link.strerror]
        if system and (said := one_line(system[-1])) not in words:
            return f"{words.rstrip('.')}: {said}"
    return words


def is_filtered(error: BaseException) -> bool:
    """Whether a content filter turned the request down: what was asked is at fault, not how it was asked."""
    codes = " ".join(str(getattr(link, "code", "")) for link in chain(error))
    return status_of(error) in (400, 422) and bool(_FILTERED.search(f"{codes} {error}"))


def is_transient(error: BaseException) -> bool:
    """Whether the same request may well get an answer next time."""
    if isinstance(error, (ModelError, *_NOT_OF_THE_MODEL)):
        return False
    status = status_of(error)
    if status == 429:
        return not (is_spent(error) or is_too_large(error))
    if status is not None and (status in RETRIED or status in REFUSED):
        return status in RETRIED
    if status is not None and status >= 400:
        return status >= 500
    return _unanswered(error)


def _unanswered(error: BaseException) -> bool:
    """No status: the connection failed, time ran out, or a 200 came whose body is not what was promised; and
    not that the request could not be sent.

    The latter reaches us as the ValueError, KeyError or TypeError with which the provider's package stumbled
    over it.
    """
    kinds = (OSError, TimeoutError, ValueError, KeyError, TypeError, IndexError, RecursionError)
    names = ("Connect", "Timeout", "Protocol", "Read", "Write", "Network", "ResponseValidation", "Decod")
    return not unsendable(error) and any(
        isinstance(link, kinds)
        or type(link).__module__.partition(".")[0] in _HTTP
        or getattr(link, "is_retryable", False) is True
        or any(name in type(link).__name__ for name in names)
        for link in chain(error)
    )


def unsendable(error: BaseException) -> str:
    """Why the request cannot be sent as it is, however often; '' where it can. A key is not repeated, as the
    clients' own words would."""
    if status_of(error) is not None:
        return ""
    for link in chain(error):
        name = type(link).__name__
        # h11 has the same class for connections that break off at the wrong moment.
        if name == "LocalProtocolError" and "illegal header" in str(link).lower():
            return "a header has a character that none may have: look at the key"
        # aiohttp's own of that kind has no words, but this one for its cause.
        if isinstance(link, ssl.SSLCertVerificationError) and hasattr(link, "verify_message"):
            said = link.verify_message or link.reason
            return f"the certificate there is not trusted ({said}): SSL_CERT_FILE names whom to trust"
        if isinstance(link, UnicodeEncodeError):
            what = "the text" if link.encoding.lower().startswith("utf") else "the key and the address"
            return f"it has a character that cannot be written as {link.encoding}: look at {what}"
        if _NO_URL & {kind.__name__ for kind in type(link).__mro__}:
            return "its address is no URL: look at the base URL"
    return ""


def final(error: BaseException, model: str, tries: int) -> ModelError | None:
    """The typed error for what cannot be or need not be tried again; None for what is no failure of the
    world.
    """
    if isinstance(error, ModelError):
        return error
    if isinstance(error, _NOT_OF_THE_MODEL):
        return None
    status = status_of(error)
    if is_transient(error):
        what = f"HTTP {status}: " if status else ""
        counted = "1 try" if tries == 1 else f"{tries} tries"
        return TransportError(f"model {model} gave no reply in {counted}; the last: {what}{why(error)}")
    if status == 429:
        if is_too_large(error):
            return TooLarge(f"model {model}: the request is larger than its limit: {one_line(error)}")
        return ModelUnavailable(f"model {model}: the quota is spent: {one_line(error)}")
    if reason := unsendable(error):
        return ConfigurationError(f"model {model}: the request cannot be sent: {reason}")
    if status is not None:
        hint = f"{_HINTS[status]}: " if status in _HINTS else ""
        kind = ModelUnavailable if status in _OF_THE_MODEL else ConfigurationError
        return kind(f"model {model} refused the request (HTTP {status}): {hint}{one_line(error)}")
    return None


async def with_retries(
    call: Callable[[], Awaitable[T]],
    *,
    model: str,
    retries: int,
    backoff: Backoff,
    waiting: Callable[[str, float, int], None] | None = None,
    deadline: float = math.inf,
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> T:
    """What `call` returns, tried again up to `retries` times. Raises TransportError or ConfigurationError.

    `waiting` is told before each wait: what went wrong, the seconds, and the number of the retry. `pause`
    waits, and what it raises ends the tries. No wait is begun that ends after `deadline` (on the clock of
    `time.monotonic`): OutOfTime is raised instead.
    """
    exponential = wait_exponential_jitter(
        initial=backoff.first_s, max=backoff.longest_s, jitter=min(backoff.first_s, 1.0)
    )

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = asked_wait(error) if error else None
        # Never less than without its word: "at once", said again and again, would use up all retries at once.
        return max(asked or 0.0, exponential(state))

    async def once() -> T:
        return await call()

    def tell(state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        if waiting is not None and error is not None:
            waiting(why(error), state.upcoming_sleep, state.attempt_number)

    retrying = AsyncRetrying(
        stop=stop_after_attempt(retries + 1) | stop_before_delay(deadline - time.monotonic()),
        wait=wait,
        retry=retry_if_exception(is_transient),
        before_sleep=tell,
        sleep=pause,
        reraise=True,
    )

    try:
        return await retrying(once)
    except ModelError:
        raise
    except Exception as error:
        tries = retrying.statistics["attempt_number"]
        known = final(error, model, tries)
        if tries <= retries and is_transient(error):
            known = OutOfTime(f"{known}; the time of the task is spent")
        if known is None:
            raise
        raise known from error
