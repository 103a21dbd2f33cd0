"""Trying a statement again while the database is gone for a moment: a server that is begun anew, say."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from forethought.storage.errors import is_outage

T = TypeVar("T")
_PATIENCE_S = 20.0
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.1, 2.0


async def patiently(once: Callable[[], Awaitable[T]]) -> T:
    """What `once` gives, tried again for 20 s. It must be the same to do it twice, since nobody knows whether
    what was broken off was done."""
    deadline, wait_s = asyncio.get_running_loop().time() + _PATIENCE_S, _FIRST_WAIT_S
    while True:
        try:
            return await once()
        except Exception as error:
            if not is_outage(error) or asyncio.get_running_loop().time() >= deadline:
                raise
        await asyncio.sleep(wait_s)
        wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
