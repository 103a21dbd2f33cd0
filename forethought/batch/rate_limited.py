"""The providers behind the rate limit of all workers."""

from __future__ import annotations

import logging

from forethought.batch.rate_limit import RateLimit, Rows
from forethought.models.live import LiveTransport
from forethought.models.retry import Backoff
from forethought.models.tokens import request_tokens
from forethought.models.types import ModelReply, ModelRequest, Transport
from forethought.settings import Settings
from forethought.storage.errors import is_outage

_LOG = logging.getLogger(__name__)
_TOKENS_A_REPLY = 500


class RateLimited:
    """The providers, asked no more often than the limit allows."""

    def __init__(self, settings: Settings, limit: RateLimit, backoff: Backoff | None = None) -> None:
        self._limit = limit
        self._live = LiveTransport(settings, backoff, before=self._wait)

    async def send(self, request: ModelRequest) -> ModelReply:
        """See `LiveTransport.send`. Raises psycopg.Error too, before the model is asked."""
        reply = await self._live.send(request)
        if used := reply.input_tokens + reply.output_tokens:
            try:
                await self._limit.settle(request.model, used - estimate(request))
            except Exception as error:
                if not is_outage(error):
                    raise
                # The reply is paid for; the estimate stands.
                _LOG.info("the rate limit of %s keeps its estimate: %s", request.model, error)
        return reply

    def verify(self, model: str) -> None:
        """See `LiveTransport.verify`."""
        self._live.verify(model)

    def priced(self, model: str) -> bool:
        """See `LiveTransport.priced`."""
        return self._live.priced(model)

    async def _wait(self, request: ModelRequest) -> None:
        await self._limit.take(request.model, estimate(request), request.deadline)


def transport_of(settings: Settings, rows: Rows) -> Transport:
    """The transport of a worker: with a rate limit where the operator has set one."""
    if settings.requests_per_minute is None and settings.tokens_per_minute is None:
        return LiveTransport(settings)
    limit = RateLimit(rows, settings.requests_per_minute, settings.tokens_per_minute)
    return RateLimited(settings, limit)


def estimate(request: ModelRequest) -> int:
    """About how many tokens a request and its reply will take."""
    return request_tokens(request) + _TOKENS_A_REPLY
