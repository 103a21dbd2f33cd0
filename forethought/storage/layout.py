"""Setting a database up, and the table that says which release made it and with which key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from forethought.storage.encryption import NO_KEY
from forethought.storage.errors import NoThreads, StorageError
from forethought.storage.locks import hold
from forethought.storage.saver import ThreadSaver

VERSION = "2"
_TABLE = "forethought_storage"
_KEY_CHECK = "forethought"
_SETUP_S = 60.0


async def set_up(saver: ThreadSaver, make_tables: Callable[[], Awaitable[None]], *, create: bool) -> None:
    """Check that a database is one of ours, and bring its tables up to date, one process at a time.

    Raises StorageError for one of another program or release, for another key, and where there are no threads
    and none are to be made.
    """
    is_ours = await _is_ours(saver)
    if not create:
        # LangGraph's tables come last: a process that makes them now has no thread yet either.
        if not is_ours or not await saver.has_table("checkpoints"):
            raise NoThreads(saver.shown)
        return
    async with hold(saver.locks, "setting up", _SETUP_S):
        if not is_ours and not await _is_ours(saver):  # another process may have set it up meanwhile
            rows = f"SELECT 'version' AS name, '{VERSION}' AS value"
            if saver.cipher is not None:
                rows += f" UNION ALL SELECT 'key_check', '{saver.cipher.encrypt_text(_KEY_CHECK)}'"
            # Whole at once and before LangGraph's tables: another process may be looking.
            await saver.rows(f"CREATE TABLE IF NOT EXISTS {_TABLE} AS {rows}")
        await make_tables()


async def _is_ours(saver: ThreadSaver) -> bool:
    """Whether a database is of this release and key; False for an empty one. Raises StorageError."""
    other = "name another one with --db or FORETHOUGHT_DB"
    # In this order: a process that sets it up meanwhile makes our table first.
    has_threads = await saver.has_table("checkpoints")
    if not await saver.has_table(_TABLE):
        if has_threads:
            raise StorageError(
                f"the database {saver.shown}: it belongs to an older release or another program; {other}"
            )
        return False
    values = dict(await saver.rows(f"SELECT name, value FROM {_TABLE}"))
    version, key_check = values.get("version"), values.get("key_check")
    if version != VERSION:
        raise StorageError(
            f"the database {saver.shown}: it belongs to another release (layout {version}; this "
            f"release needs {VERSION}); {other}"
        )
    if saver.cipher is None and key_check is not None:
        raise StorageError(f"the database {saver.shown}: {NO_KEY}")
    if saver.cipher is not None and key_check is None:
        raise StorageError(
            f"the database {saver.shown}: it is not encrypted; unset FORETHOUGHT_ENCRYPTION_KEY"
        )
    try:
        if saver.cipher is not None:
            saver.cipher.decrypt_text(str(key_check))
    except StorageError as error:
        raise StorageError(f"the database {saver.shown}: {error}") from error
    return True
