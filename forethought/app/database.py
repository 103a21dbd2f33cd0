"""Where threads are kept: one SQLite file, opened so that several processes can use it, and a lock a thread.

SQLite keeps each checkpoint whole, whoever writes. What it cannot prevent is two processes going on with the
same thread, each from its own idea of it; `claim` does. The lock is the operating system's: it ends with the
process, however that ends.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from forethought.app.errors import FAILED, CliError
from forethought.app.text import one_line
from forethought.settings import Settings

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.store.sqlite.aio import AsyncSqliteStore

_BUSY_MS = 15_000


def database_path(settings: Settings) -> Path:
    """The file of threads: `settings.db` as a path or sqlite:///path, or threads.sqlite in the data folder.

    Raises CliError for any other kind of address.
    """
    if not settings.db:
        return settings.data_dir / "threads.sqlite"
    scheme, colon, rest = settings.db.partition("://")
    if not colon:
        return Path(settings.db).expanduser()
    path = rest.partition("?")[0]
    if scheme != "sqlite" or not path.startswith("/") or path == "/":
        raise CliError(
            f"--db {one_line(scheme)}://...: only SQLite is supported here: give a path or sqlite:///path "
            "(sqlite:////path when it begins at the root)"
        )
    return Path(path[1:]).expanduser()


@asynccontextmanager
async def open_threads(path: Path, create: bool = True) -> AsyncIterator[AsyncSqliteSaver]:
    """The checkpointer on `path`, in WAL mode and patient with other writers.

    Raises CliError when it does not exist and is not to be made, or its folder cannot be; sqlite3.Error, with
    the path as a note, when it cannot be used.
    """
    import aiosqlite

    from forethought.app.saver import ThreadSaver

    try:
        _prepare(path, create)
        async with aiosqlite.connect(path, timeout=_BUSY_MS / 1000) as connection:
            await connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
            saver = ThreadSaver(connection)
            await saver.setup()
            yield saver
    except sqlite3.Error as error:
        error.add_note(str(path))
        raise


def lessons_path(settings: Settings) -> Path:
    """The file of lessons, beside the threads. Raises CliError as `database_path` does."""
    return database_path(settings).with_name("lessons.sqlite")


@asynccontextmanager
async def open_lessons(path: Path, create: bool = True) -> AsyncIterator[AsyncSqliteStore]:
    """The Store of lessons on `path`, patient with other writers; it has no index, since that needs an SQLite
    that loads extensions.

    Raises CliError when it does not exist and is not to be made, sqlite3.Error or OSError when it cannot be
    used.
    """
    import aiosqlite
    from langgraph.store.sqlite.aio import AsyncSqliteStore

    _prepare(path, create, "no lessons yet")
    async with aiosqlite.connect(path, timeout=_BUSY_MS / 1000, isolation_level=None) as connection:
        await connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
        async with AsyncSqliteStore(connection) as store:
            await store.setup()
            yield store


def _prepare(path: Path, create: bool, missing: str = "no threads yet") -> None:
    if not create and not path.exists():
        raise CliError(f"{missing}: there is no database at {path}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CliError(
            f"the database of threads {one_line(path, 300)}: its folder cannot be made ({error.strerror}); "
            "choose another place with --db or FORETHOUGHT_DB",
            FAILED,
        ) from error
    # Tried here first: where it cannot be opened, aiosqlite's thread would complain of a closed event loop.
    sqlite3.connect(path).close()


@contextmanager
def claim(path: Path, thread_id: str) -> Iterator[None]:
    """Hold a thread for this process. Raises CliError when another process holds it."""
    descriptor = _lock(path, thread_id)
    if descriptor is None:
        raise CliError(
            f"thread {one_line(thread_id)} is being run by another process; wait for it, or stop it", FAILED
        )
    try:
        yield
    finally:
        os.close(descriptor)


def is_claimed(path: Path, thread_id: str) -> bool:
    """Whether some process is running the thread now."""
    descriptor = _lock(path, thread_id)
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is None


def _lock(path: Path, thread_id: str) -> int | None:
    """A file descriptor that holds the thread's byte of the lock file, or None when it is taken.

    A byte a thread in one file: nothing piles up beside the database.
    """
    place = int.from_bytes(hashlib.sha256(thread_id.encode("utf-8", "replace")).digest()[:4], "big")
    descriptor = os.open(path.with_name(path.name + "-threads"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock_byte(descriptor, place)
    except (BlockingIOError, PermissionError):
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


if sys.platform == "win32":
    import msvcrt

    def _lock_byte(descriptor: int, place: int) -> None:
        os.lseek(descriptor, place, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock_byte(descriptor: int, place: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
