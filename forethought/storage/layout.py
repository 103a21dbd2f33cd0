"""The table that says which release made a database, and with which key it is encrypted."""

from __future__ import annotations

from forethought.storage.encryption import NO_KEY
from forethought.storage.errors import StorageError
from forethought.storage.saver import ThreadSaver

VERSION = "2"
_TABLE = "forethought_storage"
_KEY_CHECK = "forethought"


async def is_set_up(saver: ThreadSaver) -> bool:
    """Whether a database is one of ours; False for an empty one.

    Raises StorageError for one of another program or release, and for another key.
    """
    if not await saver.has_table(_TABLE):
        if await saver.has_table("checkpoints"):
            raise _refusal(saver, "it is of an older release, or another program's")
        return False
    values = dict(await saver.rows(f"SELECT name, value FROM {_TABLE}"))
    if not values.get("version"):  # another process is setting it up now
        return False
    if values.get("version") != VERSION:
        version = str(values.get("version"))[:20]
        raise _refusal(saver, f"it is of another release (layout {version!r}, this one reads {VERSION!r})")
    key_check = values.get("key_check")
    if saver.cipher is None and key_check is not None:
        raise StorageError(f"the database {saver.shown}: {NO_KEY}")
    if saver.cipher is not None and key_check is None:
        raise _refusal(saver, "it was begun without encryption, and stays so: leave the key out")
    if saver.cipher is not None:
        try:
            saver.cipher.decrypt_text(str(key_check))
        except StorageError as error:
            raise StorageError(f"the database {saver.shown}: {error}") from error
    return True


async def write_layout(saver: ThreadSaver) -> None:
    """Mark a database that was just set up as one of this release, and of this key."""
    await saver.rows(f"CREATE TABLE IF NOT EXISTS {_TABLE} (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
    values = {"key_check": saver.cipher.encrypt_text(_KEY_CHECK)} if saver.cipher is not None else {}
    # The version last: with it the table is whole.
    for name, value in (*values.items(), ("version", VERSION)):
        await saver.rows(
            f"INSERT INTO {_TABLE} (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (name, value)
        )


def _refusal(saver: ThreadSaver, why: str) -> StorageError:
    return StorageError(f"the database {saver.shown}: {why}; name another one with --db or FORETHOUGHT_DB")
