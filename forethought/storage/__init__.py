"""The databases of threads and experience: SQLite or Postgres, found by one address, opened in one place.

`address_of` reads the address, `open_threads` gives the checkpointer (with the list of threads and the lock
of a thread), `open_experience` the Store. Nothing above this package knows which database it is.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from forethought.storage.address import Address, address_of
from forethought.storage.encryption import cipher_of
from forethought.storage.errors import StorageError

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

    from forethought.storage.saver import ThreadSaver

__all__ = ["EXPERIENCE", "Address", "StorageError", "address_of", "open_experience", "open_threads"]
EXPERIENCE = "experience.sqlite"


def open_threads(
    address: Address, key: bytes | None = None, *, create: bool = True
) -> AbstractAsyncContextManager[ThreadSaver]:
    """The checkpointer on a database, which is set up, unless it is one that is there already (not `create`).

    Raises StorageError: there is none and none is to be made, the extra or the key is missing, the key is
    another one, another release made it. Also sqlite3.Error, psycopg.Error and OSError, when it fails.
    """
    cipher = cipher_of(key)
    if address.path is not None:
        from forethought.storage.sqlite import open_sqlite_threads

        return open_sqlite_threads(address.path, cipher, create=create)
    from forethought.storage.postgres import open_postgres_threads

    return open_postgres_threads(address, cipher, create=create)


def open_experience(address: Address, *, create: bool = True) -> AbstractAsyncContextManager[BaseStore]:
    """The Store of advice that belongs to the threads at `address`. Raises as `open_threads` does."""
    if address.path is not None:
        from forethought.storage.sqlite import open_sqlite_experience

        return open_sqlite_experience(address.path.with_name(EXPERIENCE), create=create)
    from forethought.storage.postgres import open_postgres_experience

    return open_postgres_experience(address, create=create)
