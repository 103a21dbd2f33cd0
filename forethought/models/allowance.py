"""What the model calls of one node may use, and what they have used so far: known also while a call is under
way, and when it is cancelled."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from forethought.models.types import ModelReply, Usage, no_usage


@dataclass
class Allowance:
    """Limits that hold for all that is booked in it together. A call that is under way is never broken off
    for them: none is begun beyond them."""

    tokens: float = math.inf
    usd: float = math.inf
    deadline: float = math.inf
    """On the clock of `time.monotonic`; no wait for a retry or a rate limit goes beyond it either."""
    whole_seconds: float = math.inf
    """What the deadline is the end of: the task's whole time."""
    used: list[Usage] = field(default_factory=list)
    """A record a question, which grows with each of its calls."""
    paid: list[Usage] = field(default_factory=list)
    """What a tool paid for by itself."""

    def new_record(self) -> Usage:
        """The record of a question that is about to be asked."""
        self.used.append(no_usage())
        return self.used[-1]

    def spent(self) -> str:
        """Which limit is reached: '', tokens, usd or seconds."""
        tokens, usd, late = 0, 0.0, time.monotonic() >= self.deadline
        for usage in (*self.used, *self.paid):
            tokens += charged_tokens(usage)
            usd += usage.get("usd", 0.0)
            late = late or usage.get("out_of_time", 0.0) >= self.whole_seconds
        if tokens >= self.tokens:
            return "tokens"
        if usd >= self.usd:
            return "usd"
        return "seconds" if late else ""


def count(usage: Usage, reply: ModelReply, seconds: float) -> None:
    """Add a reply to `usage`, and the seconds that it took."""
    usage["calls"] += 1
    usage["seconds"] += seconds
    usage["input_tokens"] += reply.input_tokens
    usage["output_tokens"] += reply.output_tokens
    usage["cached_tokens"] += reply.cached_tokens
    if reply.saved_tokens:
        usage["saved_tokens"] = usage.get("saved_tokens", 0) + reply.saved_tokens
    if reply.estimated:
        usage["estimated"] = usage.get("estimated", 0) + 1
    if reply.usd is None:
        usage["unpriced"] += 1
    else:
        usage["usd"] += reply.usd


def total(*usages: Mapping[str, Any]) -> Usage:
    """The sum of every figure; of `out_of_time` the highest."""
    sums: dict[str, Any] = {**no_usage()}
    for usage in usages:
        for key, value in usage.items():
            before = sums.get(key, 0)
            sums[key] = max(before, value) if key == "out_of_time" else before + value
    return cast(Usage, sums)


def tokens_of(usage: Mapping[str, Any]) -> int:
    """Input and output tokens together."""
    return int(usage.get("input_tokens", 0) + usage.get("output_tokens", 0))


def charged_tokens(usage: Mapping[str, Any]) -> int:
    """Input and output tokens as a budget counts them: cached ones at what they cost of a new one's price."""
    return tokens_of(usage) - int(usage.get("saved_tokens", 0))
