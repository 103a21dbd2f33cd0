"""Where threads and lessons are kept: SQLite or Postgres, found by one address, opened in one place.

`address_of` reads the address, `open_threads` gives the checkpointer (with the list of threads and the lock
of a thread), `open_lessons` the Store. Nothing above this package knows which database it is.
"""

from forethought.storage.address import Address, address_of
from forethought.storage.errors import StorageError
from forethought.storage.opening import open_lessons, open_threads

__all__ = ["Address", "StorageError", "address_of", "open_lessons", "open_threads"]
