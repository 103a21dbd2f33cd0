"""Whether threads can be kept: the database is opened and written to, and left as it was found."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from forethought.app.doctor.checks import Check, tried
from forethought.app.text import one_line
from forethought.storage import Address, address_of
from forethought.storage.encryption import cipher_of

if TYPE_CHECKING:
    from forethought.settings import Settings


def database_check(settings: Settings) -> Check:
    """Whether threads can be kept, in the database that is there or in a new one."""

    def attempt() -> str:
        encrypted = ", encrypted" if cipher_of(settings.key) else ""
        address = address_of(settings)
        if address.path is None:
            asyncio.run(_try_postgres(address))
        else:
            _try_sqlite(address.path)
        return f"{address.shown} can be written{encrypted}"

    return tried("database", attempt, core=True)


def _try_sqlite(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with closing(sqlite3.connect(path, timeout=5)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE forethought_doctor (id INTEGER)")
        connection.rollback()
        _read_back(connection)
    if new:
        for part in ("", "-wal", "-shm"):
            path.with_name(path.name + part).unlink(missing_ok=True)


def _read_back(connection: sqlite3.Connection) -> None:
    """Raises sqlite3.Error for a damaged file, and for another program's tables under our names."""
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise sqlite3.DatabaseError(f"malformed ({one_line(found)})")
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'checkpoints'").fetchone():
        connection.execute("SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints LIMIT 1")


async def _try_postgres(address: Address) -> None:
    from psycopg import Rollback

    from forethought.storage.postgres import connect

    connection = await connect(address)
    try:
        async with connection.transaction():
            found = await (await connection.execute("SELECT to_regclass('checkpoints')")).fetchone()
            if found and found[0]:
                # Who may write to it need not be one who may make tables.
                await connection.execute(
                    "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, checkpoint) "
                    "VALUES ('', 'doctor', '', '{}')"
                )
            else:
                await connection.execute("CREATE TABLE forethought_doctor (id INTEGER)")
            raise Rollback
    finally:
        await connection.close()
