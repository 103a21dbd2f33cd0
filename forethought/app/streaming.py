"""A graph's stream, handed on part by part."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, cast


async def hand_on(parts: AsyncIterator[Any], show: Callable[[Any], None]) -> None:
    """`show` each part. Where that fails, the graph is ended here.

    Left to the end of the loop, the stream would be closed while the graph within it still runs.
    """
    async with aclosing(cast("AsyncGenerator[Any]", parts)):
        async for part in parts:
            show(part)
