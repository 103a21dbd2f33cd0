"""What a failed request means: its HTTP status, the wait it asks for, and the typed error for it.

Providers' packages wrap their errors in classes of their own, so each question is put to the whole chain of
causes.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator, Mapping
from typing import Any

from langgraph.errors import GraphBubbleUp

from forethought.models.types import ConfigurationError, ModelError, ModelUnavailable, TransportError
from forethought.text import one_line

LONGEST_WAIT_S = 120.0
_PERMANENT = frozenset({501, 505})
_RETRIED_4XX = frozenset({408, 409, 429})
_QUOTA = re.compile(r"insufficient_quota|billing_hard_limit|insufficient.balance|PerDay|limit: 0\b")
"""A 429 that no wait of minutes helps against, by the codes of OpenAI, DeepSeek and Gemini."""
_FILTER = re.compile(r"content_filter|content_policy_violation", re.IGNORECASE)
_DELAY = re.compile(r"retryDelay\W+(\d+(?:\.\d+)?)s")
"""Gemini's RetryInfo, which stands for Retry-After."""
_NO_REPLY = (OSError, TimeoutError, ValueError, KeyError, TypeError, IndexError, RecursionError)
"""The connection failed, or a 200 came whose body is no reply, over which the provider's package stumbled."""
_LOOP_ENDED = "Event loop is closed"
"""Said of a connection that was opened in an earlier `asyncio.run`; the next try opens another."""
_HTTP = frozenset({"aiohttp", "h11", "httpcore", "httpx", "httpx2"})
"""Libraries whose errors, where they have no status, mean that the exchange broke off."""
_HINTS = {
    401: "the key was refused",
    402: "the account has no credit",
    403: "the key lacks permission",
    404: "no such model or address",
}
_UNKNOWN_MODEL = re.compile(
    r"model\b.{0,120}?(not found|does not exist|is not available)", re.IGNORECASE | re.DOTALL
)
_OTHER_MODEL_MAY_SERVE = frozenset({402, 404, 410})


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes, outermost first; of several at once (a host's addresses) the first."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        inner = at.exceptions[0] if isinstance(at, BaseExceptionGroup) else None
        at = inner or at.__cause__ or at.__context__


def status_of(error: BaseException) -> int | None:
    """The HTTP status of a failed call; None where no response came."""
    for link in chain(error):
        for name in ("status_code", "status", "code"):
            status = getattr(link, name, None)
            if isinstance(status, int) and not isinstance(status, bool) and 100 <= status < 600:
                return status
        response: Any = getattr(link, "response", None)
        if isinstance(response, Mapping):  # of Bedrock's client
            return (response.get("ResponseMetadata") or {}).get("HTTPStatusCode")
    return None


def describe(error: BaseException) -> str:
    """The provider's words on one line, with the system's reason where no connection came about."""
    words = one_line(str(getattr(error, "message", "") or error) or type(error).__name__, 300)
    if status_of(error) is None:
        reasons = [link for link in chain(error) if isinstance(link, OSError) and link.strerror]
        if reasons and (reason := one_line(reasons[-1], 300)) not in words:
            return f"{words.rstrip('.')}: {reason}"
    return words


def requested_wait(error: BaseException) -> float | None:
    """Seconds that the provider asks to wait, by Retry-After or Gemini's retryDelay: 0 to 120, or None."""
    for link in chain(error):
        headers: Any = getattr(getattr(link, "response", None), "headers", None) or {}
        if re.fullmatch(r"\d+(\.\d+)?", seconds := headers.get("retry-after", "")):
            return min(float(seconds), LONGEST_WAIT_S)
    delay = _DELAY.search(words(error))
    return min(float(delay[1]), LONGEST_WAIT_S) if delay else None


def is_filtered(error: BaseException) -> bool:
    """Whether a content filter refused the request."""
    codes = " ".join(str(getattr(link, "code", "")) for link in chain(error))
    return status_of(error) in (400, 422) and bool(_FILTER.search(f"{codes} {error}"))


def is_unknown_model(error: BaseException) -> bool:
    """Whether the server says that it has no such model."""
    return status_of(error) == 404 and bool(_UNKNOWN_MODEL.search(words(error)))


def is_transient(error: BaseException) -> bool:
    """Whether the same request may well be answered next time."""
    if isinstance(error, (ModelError, GraphBubbleUp)) or _is_untrusted(error):
        return False
    status = status_of(error)
    if status == 429:
        return not _QUOTA.search(words(error))
    if status is not None and status >= 400:
        return status in _RETRIED_4XX or (status >= 500 and status not in _PERMANENT)
    return any(
        isinstance(link, _NO_REPLY)
        or type(link).__module__.partition(".")[0] in _HTTP
        or str(link) == _LOOP_ENDED
        for link in chain(error)
    )


def _is_untrusted(error: BaseException) -> bool:
    return any(isinstance(link, ssl.SSLCertVerificationError) for link in chain(error))


def model_error(error: BaseException, model: str, tries: int) -> ModelError | None:
    """The typed error of a request that is not tried again; None for a bug or an interrupt."""
    if isinstance(error, ModelError):
        return error
    if isinstance(error, GraphBubbleUp):
        return None
    status = status_of(error)
    if is_transient(error):
        counted = "1 try" if tries == 1 else f"{tries} tries"
        prefix = f"HTTP {status}: " if status else ""
        return TransportError(
            f"model {model} gave no reply in {counted}; the last: {prefix}{describe(error)}"
        )
    if _is_untrusted(error):
        return ConfigurationError(f"model {model}: the certificate is not trusted: {describe(error)}")
    if status == 429:
        return ModelUnavailable(f"model {model}: the quota is spent: {describe(error)}")
    if status is not None:
        hint = f"{_HINTS[status]}: " if status in _HINTS else ""
        kind = ModelUnavailable if status in _OTHER_MODEL_MAY_SERVE else ConfigurationError
        return kind(f"model {model} refused the request (HTTP {status}): {hint}{describe(error)}")
    return None


def words(error: BaseException) -> str:
    """The words of the errors on the chain, with their bodies."""
    return " ".join(
        f"{link} {getattr(link, 'body', '')} {getattr(link, 'details', '')}" for link in chain(error)
    )
