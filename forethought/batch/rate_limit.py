"""A rate limit for a provider that holds over all workers of a database: a row of token buckets a model.

Each request to the provider, retries too, takes one from the bucket of requests and its estimated tokens
from the bucket of tokens, in one UPDATE, or waits. With a limit of R a minute the bucket holds
B = max(1, R // 20) and fills at (R - B + 1) / 60 a second, so that no 60 s have more than R requests, however
they are cut. Tokens are known only with the reply: then the estimate is put right, and who comes next waits
longer. So a minute's tokens can exceed the limit by what the calls in flight were underestimated, and by one
call that is larger than the bucket.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from forethought.models.types import OutOfTime
from forethought.shutdown import sleep_unless_stopping

Rows = Callable[[str, Sequence[Any]], Awaitable[list[tuple[Any, ...]]]]
_ENDLESS = 1e15
_SHORTEST_WAIT_S, _LONGEST_WAIT_S = 0.01, 15.0
_MAKE = "INSERT INTO forethought_rates (model, requests, tokens) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_TAKE = """
WITH wanted AS (
    SELECT ?::float8 AS most_requests, ?::float8 AS requests_a_s, ?::float8 AS most_tokens,
        ?::float8 AS tokens_a_s, ?::float8 AS tokens
)
UPDATE forethought_rates r SET
    requests = least(most_requests, requests + requests_a_s * passed(r.at)) - 1,
    tokens = least(most_tokens, r.tokens + tokens_a_s * passed(r.at)) - wanted.tokens,
    at = greatest(r.at, clock_timestamp())
FROM wanted WHERE model = ?
    AND least(most_requests, requests + requests_a_s * passed(r.at)) >= 1
    AND least(most_tokens, r.tokens + tokens_a_s * passed(r.at)) >= least(wanted.tokens, most_tokens)
RETURNING model
""".replace("passed(r.at)", "greatest(0, extract(epoch FROM clock_timestamp() - r.at))::float8")
_LEVELS = """
SELECT requests, tokens, greatest(0, extract(epoch FROM clock_timestamp() - at))::float8
FROM forethought_rates WHERE model = ?
"""
_SETTLE = "UPDATE forethought_rates SET tokens = tokens - ? WHERE model = ?"


@dataclass(frozen=True)
class Bucket:
    """A limit of so many a minute, as a bucket."""

    most: float
    a_second: float

    @classmethod
    def of(cls, a_minute: int | None) -> Bucket:
        """The bucket of a limit; None: without an end."""
        if a_minute is None:
            return cls(_ENDLESS, _ENDLESS)
        most = max(1, a_minute // 20)
        return cls(most, (a_minute - most + 1) / 60)

    def wait_s(self, level: float, passed_s: float, wanted: float) -> float:
        """Seconds until there will be enough, if nobody else comes."""
        lacking = min(wanted, self.most) - min(self.most, level + self.a_second * passed_s)
        return max(0.0, lacking / self.a_second)


class RateLimit:
    """The limits of this database's workers. All of them should be told the same."""

    def __init__(
        self, rows: Rows, requests_per_minute: int | None = None, tokens_per_minute: int | None = None
    ) -> None:
        self._rows = rows
        self.requests, self.tokens = Bucket.of(requests_per_minute), Bucket.of(tokens_per_minute)
        self._made: set[str] = set()

    async def take(self, model: str, tokens: int, deadline: float = math.inf) -> None:
        """Wait until a request of about so many tokens may be sent.

        Raises OutOfTime, and takes nothing, as soon as its turn is known to come after `deadline` (on the
        clock of `time.monotonic`); GraphDrained (see `sleep_unless_stopping`); psycopg.Error.
        """
        while (wait_s := await self.try_take(model, tokens)) > 0:
            left_s = deadline - time.monotonic()
            if wait_s > left_s:
                full = f"the rate limit of all workers has no room for {wait_s:.1f} s"
                raise OutOfTime(f"model {model}: {full}; the time of the task is spent")
            shaken = wait_s * random.uniform(1.0, 1.2)
            await sleep_unless_stopping(min(max(shaken, _SHORTEST_WAIT_S), _LONGEST_WAIT_S, left_s))

    async def try_take(self, model: str, tokens: int) -> float:
        """Take it at once, and return 0; or return the seconds until it may be had."""
        if model not in self._made:
            await self._rows(_MAKE, (model, self.requests.most, self.tokens.most))
            self._made.add(model)
        limits = (self.requests.most, self.requests.a_second, self.tokens.most, self.tokens.a_second)
        if await self._rows(_TAKE, (*limits, float(tokens), model)):
            return 0.0
        requests, had, passed_s = (await self._rows(_LEVELS, (model,)))[0]
        waits = self.requests.wait_s(requests, passed_s, 1), self.tokens.wait_s(had, passed_s, tokens)
        return max(*waits, _SHORTEST_WAIT_S)

    async def settle(self, model: str, more: int) -> None:
        """A request took `more` tokens than were taken for it. Raises psycopg.Error."""
        await self._rows(_SETTLE, (float(more), model))
