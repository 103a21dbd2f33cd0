"""What a database says of itself: the version of its layout, and whether it is encrypted.

A table `forethought_storage` of names and values, of the same form in SQLite and Postgres. A database from
before it has none, and gets one with the next run; one of a newer release, or of another key, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from forethought.storage.errors import StorageError
from forethought.storage.sealing import NO_KEY, Sealer

VERSION = 1
"""1: this table; 0: before it."""
TABLE = "CREATE TABLE IF NOT EXISTS forethought_storage (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
_CHECK = "forethought"
Rows = Callable[[str, Sequence[Any]], Awaitable[list[tuple[Any, ...]]]]


async def check_stamp(rows: Rows, sealer: Sealer | None, has_table: bool, is_empty: bool) -> bool:
    """Whether the database lacks its stamp. Raises StorageError when it is not to be used."""
    found: dict[Any, Any] = (
        dict(await rows("SELECT name, value FROM forethought_storage", ())) if has_table else {}
    )
    version, seal = found.get("version"), found.get("seal")
    if not all(isinstance(value, str) for value in found.values()):
        raise StorageError("its stamp is damaged")
    if version is not None and not (re.fullmatch("[0-9]{1,9}", version) and int(version) <= VERSION):
        raise StorageError(
            f"its layout is of version {version[:20]!r}, of a newer release (this one knows {VERSION}): "
            "upgrade forethought, or name another database with --db or FORETHOUGHT_DB"
        )
    if seal is not None:
        if sealer is None:
            raise StorageError(NO_KEY)
        if sealer.open_text(seal) != _CHECK:
            raise StorageError("its stamp is damaged")
    elif sealer is not None and not is_empty:
        raise StorageError(
            "it was begun without encryption, and stays so: leave FORETHOUGHT_ENCRYPTION_KEY out, or begin "
            "another database with --db or FORETHOUGHT_DB"
        )
    return version is None or (sealer is not None and seal is None)


async def write_stamp(rows: Rows, sealer: Sealer | None) -> None:
    """Stamp the database. Where two processes do so at once, the first one's stamp stands: check again."""
    values = {"version": str(VERSION)}
    if sealer is not None:
        values["seal"] = sealer.seal_text(_CHECK)
    for name, value in values.items():
        await rows(
            "INSERT INTO forethought_storage (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
            (name, value),
        )
