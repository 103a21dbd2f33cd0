"""Which jobs of a worker run side by side: one that may have taken a worker down runs alone.

So a job that kills its process takes no other one down a second time, and the tries of the others are not
used up by it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from forethought.shutdown import Shutdown


class Room:
    """The jobs that are being run."""

    def __init__(self) -> None:
        self._inside = 0
        self._waiting = 0
        """Of those that are to run alone."""
        self._alone = False
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def enter(self, alone: bool, drain: Shutdown) -> AsyncIterator[None]:
        """Run with the others, or alone once these have ended; nobody begins meanwhile.

        Raises Halt when asked to stop before it has begun.
        """
        self._waiting += alone
        try:
            while self._inside if alone else self._waiting or self._alone:
                await drain.finish(self._changed.wait(), 0)
        except BaseException:
            self._waiting -= alone
            self._tell()
            raise
        self._waiting -= alone
        self._inside, self._alone = self._inside + 1, alone
        try:
            yield
        finally:
            self._inside, self._alone = self._inside - 1, False
            self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
