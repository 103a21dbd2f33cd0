"""One run at a time on a thread whose checkpointer is a server's own: the second waits for the first.

The commands hold a thread with `ThreadSaver.claim`. A server brings its own checkpointer, and LangGraph's
queue the runs of a thread themselves. One that does not (aegra) would have two of them read the same state,
and the later one write over what the other found. Where the checkpointer is LangGraph's on Postgres, the
runs of a thread wait for each other by the same lock as the commands', on any number of machines.

They wait, as on LangGraph's servers, rather than be refused: also since a run that is gone on with after its
server has lost its network finds the lock held for up to 25 s.
"""

from __future__ import annotations

import logging
import math
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

from forethought.storage.saver import ThreadSaver

if TYPE_CHECKING:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    from forethought.storage.advisory_locks import AdvisoryLocks, Connection

_LOGGER = logging.getLogger(__name__)
_POLL_S = 0.25
_CHECK_S = 1.0
"""How often a run asks whether it still holds its thread."""
_locks: WeakKeyDictionary[AsyncPostgresSaver, AdvisoryLocks] = WeakKeyDictionary()
StillHeld = Callable[[], Awaitable[None]]
"""Raises StorageError when the thread is no longer this run's."""


@asynccontextmanager
async def turn(saver: Any, thread_id: str) -> AsyncIterator[StillHeld]:
    """While no other run is on the thread that `saver` keeps; waits for one that is.

    Does nothing for a checkpointer that is not LangGraph's on Postgres. Raises psycopg.Error, StorageError.
    """
    if not _is_servers(saver):
        yield _nothing
        return
    locks = _locks_of(saver)
    await _take(locks, thread_id)
    checked = time.monotonic()

    async def still_held() -> None:
        nonlocal checked
        if time.monotonic() - checked >= _CHECK_S:
            await locks.check(thread_id)
            checked = time.monotonic()

    try:
        yield still_held
    finally:
        await locks.give_back(thread_id)


def _is_servers(saver: Any) -> bool:
    # Who keeps threads in Postgres has imported this already.
    module = sys.modules.get("langgraph.checkpoint.postgres.aio")
    if module is None or isinstance(saver, ThreadSaver):
        return False
    return isinstance(saver, module.AsyncPostgresSaver)


async def _take(locks: AdvisoryLocks, thread_id: str) -> None:
    if not await locks.take(thread_id, patience_s=0):
        _LOGGER.info("thread %s is being run: this run waits until that one has ended", thread_id[:100])
        await locks.take(thread_id, patience_s=math.inf, poll_s=_POLL_S)


def _locks_of(saver: AsyncPostgresSaver) -> AdvisoryLocks:
    from forethought.storage.advisory_locks import AdvisoryLocks

    if saver not in _locks:
        known = ref(saver)  # the locks must not keep alive what they are kept by
        _locks[saver] = AdvisoryLocks(
            lambda: _beside(known()), go_on="run it again without input, with nobody else on it"
        )
    return _locks[saver]


async def _beside(saver: AsyncPostgresSaver | None) -> Connection:
    """Another connection to the checkpointer's database. Raises psycopg.Error, OSError."""
    assert saver is not None, "a run holds its checkpointer"
    from psycopg import AsyncConnection

    from forethought.storage.postgres_setup import connected

    if isinstance(saver.conn, AsyncConnection):
        return await connected(_address_of(saver.conn))
    async with saver.conn.connection() as pooled:
        given = _address_of(pooled)
    return await connected(given)


def _address_of(connection: Connection) -> str:
    from psycopg.conninfo import make_conninfo

    info = connection.info
    return make_conninfo(**info.get_parameters(), password=info.password or None)


async def _nothing() -> None:
    return None
