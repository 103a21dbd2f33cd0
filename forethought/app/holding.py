"""What a command holds over several runs of its event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, TypeVar

from forethought.storage import Address, open_threads

if TYPE_CHECKING:
    from forethought.storage.saver import ThreadSaver

T = TypeVar("T")


@contextmanager
def held(loop: asyncio.Runner, opening: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """What `opening` gives, open until the end of the block."""
    stack = AsyncExitStack()
    try:
        yield loop.run(stack.enter_async_context(opening))
    finally:
        loop.run(stack.aclose())


@asynccontextmanager
async def claimed_threads(address: Address, key: bytes | None, name: str) -> AsyncIterator[ThreadSaver]:
    """The threads at `address`, for the one process that has claimed `name` there. Raises StorageError."""
    async with open_threads(address, key) as saver, saver.claim(name):
        yield saver
