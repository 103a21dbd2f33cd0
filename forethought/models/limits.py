"""Limits as providers tell of them: one that passes is waited for, one that is spent is not.

Both come as HTTP 429, often in the same words: OpenAI's line on a limit of requests a minute names the page
for billing, and Gemini's says "exceeded your current quota" of the minute's as of the day's. So the
provider's code counts first, then the name of the quota, then whether a wait is named, and words last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from forethought.models.causes import chain, fields_of, headers_of

LONGEST_WAIT_S = 120.0
_SPENT_CODES = frozenset(
    {
        "insufficient_quota",  # OpenAI, Azure
        "billing_hard_limit_reached",
        "billing_not_active",
        "billing_error",  # Anthropic
        "exceeded_current_quota_error",  # Moonshot
        "insufficient_balance",
    }
)
_CODE_FIELDS = frozenset({"code", "type", "status", "reason"})
_WORD_FIELDS = frozenset({"message", "error", "detail"})
_QUOTA_FIELDS = frozenset({"quotaId", "quota_limit"})
"""Where Google names a quota, such as GenerateRequestsPerDayPerProjectPerModel-FreeTier."""
_LONG = re.compile(r"per_?(day|week|month)", re.IGNORECASE)
_NOTHING = re.compile(r"\blimit:\s*0(?![\d.])", re.IGNORECASE)
"""Gemini's words where the plan does not include the model; it names a wait nevertheless."""
_TOO_LARGE = re.compile(r"request too large", re.IGNORECASE)
_SPENT_WORDS = re.compile(
    r"exceeded your current quota|credit balance|(all|out of|insufficient) (available )?credits|"
    r"spending limit|insufficient (balance|funds)|per[- ](day|month)\b|(daily|monthly) (quota|limit)",
    re.IGNORECASE,
)
_PASSING_WORDS = re.compile(r"(\bper|/) ?(min(ute)?|sec(ond)?)\b", re.IGNORECASE)
_UNITS_S = {"ms": 0.001, "milli": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = re.compile(r"(\d+(?:\.\d+)?) ?(ms|milli|s|m|h|d)[a-z]*", re.IGNORECASE)
_WAIT_WORDS = re.compile(
    rf"\b(?:try again|retry(?:ing)?) (?:in|after) ((?:{_TIME.pattern}[ ,]*)+)", re.IGNORECASE
)
_READ = 4000
"""Characters of an error's text that are looked at."""


def is_too_large(error: BaseException) -> bool:
    """Whether a 429 tells that this request alone is more than the limit allows: no wait makes it smaller."""
    return bool(_TOO_LARGE.search(_words(error)))


def is_spent(error: BaseException) -> bool:
    """Whether the limit that a 429 tells of is one that no wait of minutes helps against."""
    fields = list(fields_of(error))
    codes = {text.lower() for name, text in fields if name in _CODE_FIELDS}
    quotas = [text for name, text in fields if name in _QUOTA_FIELDS]
    words = _words(error)
    if codes & _SPENT_CODES or any(map(_LONG.search, quotas)) or _NOTHING.search(words):
        return True
    passes = any(code.startswith("rate_limit") for code in codes) or bool(quotas)
    if passes or asked_wait(error) is not None or _PASSING_WORDS.search(words):
        return False
    return bool(_SPENT_WORDS.search(words)) or any(code in words.lower() for code in _SPENT_CODES)


def asked_wait(error: BaseException, now: datetime | None = None) -> float | None:
    """Seconds that the provider asks to wait, 0 to 120: by Retry-After (seconds or an HTTP date) or OpenAI's
    retry-after-ms, by Google's RetryInfo, or in words ("try again in 7m12s"). None where it names no time."""
    for seconds in _asked(error, now or datetime.now(UTC)):
        if seconds is not None and seconds == seconds:
            return min(max(seconds, 0.0), LONGEST_WAIT_S)
    return None


def _asked(error: BaseException, now: datetime) -> Iterator[float | None]:
    for headers in headers_of(error):
        exact = _number(headers.get("retry-after-ms"))
        yield exact / 1000 if exact is not None else None
        yield _number(said := headers.get("retry-after"))
        yield _until(said, now)
    for name, text in fields_of(error):
        if name == "retryDelay":
            yield _duration(text)
    found = _WAIT_WORDS.search(_words(error))
    yield _duration(found[1]) if found else None


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None


def _until(text: str | None, now: datetime) -> float | None:
    try:
        return (parsedate_to_datetime(text) - now).total_seconds() if text else None
    except (ValueError, TypeError):  # no date, or one without a time zone
        return None


def _duration(text: str) -> float | None:
    """Seconds of a time such as '3.2s', '408ms', '1h2m3.5s' or '6 seconds'."""
    parts = _TIME.findall(text[:100])
    return sum(float(count) * _UNITS_S[unit.lower()] for count, unit in parts) if parts else None


def _words(error: BaseException) -> str:
    """What the errors say, and the body's own message: OpenAI's client shows it only in OpenAI's form."""
    said = [text for name, text in fields_of(error) if name in _WORD_FIELDS]
    return " ".join(text[:_READ] for text in (*map(str, chain(error)), *said))
