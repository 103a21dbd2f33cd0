"""A checkpointer without asynchronous methods (SqliteSaver, PostgresSaver), for a graph that awaits them."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator
from typing import Any, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver

S = TypeVar("S", bound=BaseCheckpointSaver[Any])


class _InThreads(BaseCheckpointSaver[Any]):
    """Each asynchronous method is the other one, in a thread."""

    async def aget_tuple(self, *args: Any, **options: Any) -> Any:
        return await asyncio.to_thread(self.get_tuple, *args, **options)

    async def alist(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
        for item in await asyncio.to_thread(lambda: list(self.list(*args, **options))):
            yield item

    async def aput(self, *args: Any, **options: Any) -> Any:
        return await asyncio.to_thread(self.put, *args, **options)

    async def aput_writes(self, *args: Any, **options: Any) -> None:
        await asyncio.to_thread(self.put_writes, *args, **options)

    async def adelete_thread(self, *args: Any, **options: Any) -> None:
        await asyncio.to_thread(self.delete_thread, *args, **options)

    async def aget_delta_channel_history(self, **options: Any) -> Any:
        return await asyncio.to_thread(self.get_delta_channel_history, **options)


def awaitable(saver: S) -> S:
    """`saver`, or a copy on the same database that can be awaited where it cannot."""
    from langgraph.checkpoint.sqlite import SqliteSaver

    if type(saver).aget_tuple is not BaseCheckpointSaver.aget_tuple and not isinstance(saver, SqliteSaver):
        return saver
    made = copy.copy(saver)
    made.__class__ = type(type(saver).__name__, (_InThreads, type(saver)), {})
    return made
