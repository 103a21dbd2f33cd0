"""The HTTP client of OpenAI models: one an event loop, so that connections are kept between calls.

A connection works only in the loop that opened it. The client closes when its loop ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any
from weakref import WeakKeyDictionary

_open: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[Any, AsyncGenerator[Any, None]]] = (
    WeakKeyDictionary()
)


async def http_client() -> Any:
    """The client of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _open:
        lifetime = _until_loop_ends(loop)
        _open[loop] = await anext(lifetime), lifetime
    return _open[loop][0]


async def _until_loop_ends(loop: asyncio.AbstractEventLoop) -> AsyncGenerator[Any, None]:
    """A client, once: an event loop that ends closes its asynchronous generators, and so the client."""
    from forethought.models.pools import PooledClient

    client = PooledClient()
    try:
        yield client
    finally:
        _open.pop(loop, None)
        await client.aclose()
