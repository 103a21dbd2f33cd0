"""Threads and lessons, opened by their address."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from forethought.storage.address import Address
from forethought.storage.sealing import sealer_of

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

    from forethought.storage.saver import ThreadSaver

LESSONS = "lessons.sqlite"


def open_threads(
    address: Address, key: bytes | None = None, *, create: bool = True, read_only: bool = False
) -> AbstractAsyncContextManager[ThreadSaver]:
    """The checkpointer on a database, which is made or brought up to date unless it is only read.

    Raises StorageError: there is none and none is to be made, the extra or the key is missing, the key is
    another one, a newer release made it. Also sqlite3.Error, psycopg.Error and OSError, when it fails.
    """
    sealer = sealer_of(key)
    if address.path is not None:
        from forethought.storage.sqlite import open_sqlite_threads

        return open_sqlite_threads(address.path, sealer, create=create, read_only=read_only)
    from forethought.storage.postgres import open_postgres_threads

    return open_postgres_threads(address, sealer, create=create, read_only=read_only)


@asynccontextmanager
async def open_lessons(
    address: Address, key: bytes | None = None, *, create: bool = True
) -> AsyncIterator[BaseStore]:
    """The Store of lessons that belongs to the threads at `address`. Raises as `open_threads` does."""
    sealer = sealer_of(key)
    if address.path is not None:
        from forethought.storage.sqlite import open_sqlite_lessons

        opening: AbstractAsyncContextManager[BaseStore] = open_sqlite_lessons(
            address.path.with_name(LESSONS), sealer, create=create
        )
    else:
        from forethought.storage.postgres import open_postgres_lessons

        opening = open_postgres_lessons(address, sealer, create=create)
    async with opening as store:
        if sealer is None:
            yield store
        else:
            from forethought.storage.sealed_store import SealedStore

            yield SealedStore(store, sealer)
