"""Readings, kept so that no file is paid for twice, and the tables made of them.

One SQLite file beside the stored files. Each reading is committed as it comes: a killed run loses only the
calls that were under way. With the operator's key, contents are encrypted.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import closing, contextmanager
from typing import Any

from forethought.storage.encryption import NO_KEY
from forethought.storage.errors import StorageError
from forethought.tools.files import FILE_MARK, FileStore

NAME = "readings.sqlite"
TABLE = re.compile(r"\brows_[0-9a-f]{8}\b")
"""The key of a table."""
_NAMED = re.compile(rf"\b(\w+) \(({TABLE.pattern})\)")
KEPT_DAYS = 180
"""Days until an unused reading is deleted."""
_DAY_S = 86_400
_SCHEMA = "CREATE TABLE IF NOT EXISTS {} (key TEXT PRIMARY KEY, value BLOB NOT NULL, used REAL NOT NULL)"


class ReadingStore:
    """The readings and tables of a user. Threads and processes may share it."""

    def __init__(self, files: FileStore) -> None:
        files.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._cipher, self._lock = files.cipher, threading.Lock()
        self._base = sqlite3.connect(files.root / NAME, timeout=30, check_same_thread=False)
        (files.root / NAME).chmod(0o600)
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = NORMAL")
        with self._base:
            for table in ("readings", "tables", "progress"):
                self._base.execute(_SCHEMA.format(table))
                self._base.execute(f"DELETE FROM {table} WHERE used < ?", (time.time() - KEPT_DAYS * _DAY_S,))

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def reading(self, key: str) -> Any:
        """The reading under a key; None if there is none."""
        return self._get("readings", key)

    def keep(self, readings: Mapping[str, Any]) -> None:
        """Keep readings, all or none of them: a process that is killed then has not lost them."""
        self._put("readings", readings.items())

    def table(self, name: str) -> list[list[Any]] | None:
        """The rows of a table, its header first; None if there is no such table."""
        rows: list[list[Any]] | None = self._get("tables", name)
        return rows

    def keep_table(self, name: str, rows: list[list[Any]]) -> None:
        """Keep the rows of a table."""
        self._put("tables", [(name, rows)])

    def forget(self, contents: Iterable[str], names: Set[str]) -> None:
        """Delete the readings of contents, given by hash, and the tables with a row of one of these files."""
        with self._lock:
            kept = self._base.execute("SELECT key FROM tables").fetchall()
        rows = {key: self.table(key) or [] for (key,) in kept}
        told = [(key,) for key in rows if any(row[0] in names for row in rows[key][1:])]
        with self._lock, self._base:
            keys = ((f"{each} ", f"{each}!") for each in contents)  # "!" comes after the space
            self._base.executemany("DELETE FROM readings WHERE key >= ? AND key < ?", keys)
            self._base.executemany("DELETE FROM tables WHERE key = ?", told)

    def tell(self, call: str, progress: Mapping[str, int] | None) -> None:
        """Keep how far the reading of a call is; None: it has ended."""
        if progress is not None:
            self._put("progress", [(call, dict(progress))])
            return
        with self._lock, self._base:
            self._base.execute("DELETE FROM progress WHERE key = ?", (call,))

    def under_way(self, thread: str) -> list[dict[str, int]]:
        """How far the readings of a thread are, which its calls name before a space."""
        with self._lock:
            found = self._base.execute("SELECT key FROM progress ORDER BY key").fetchall()
        return [self._get("progress", key) for (key,) in found if key.startswith(f"{thread} ")]

    def _get(self, table: str, key: str) -> Any:
        with self._lock, self._base:
            row = self._base.execute(f"SELECT value FROM {table} WHERE key = ?", (key,)).fetchone()
            now = time.time()
            self._base.execute(
                f"UPDATE {table} SET used = ? WHERE key = ? AND used < ?", (now, key, now - _DAY_S)
            )
        if not row:
            return None
        content = bytes(row[0])
        if content.startswith(FILE_MARK):
            if self._cipher is None:
                raise StorageError(NO_KEY)
            content = self._cipher.decrypt("aes", content.removeprefix(FILE_MARK))
        return json.loads(content)

    def _put(self, table: str, items: Iterable[tuple[str, Any]]) -> None:
        rows = [(key, self._sealed(json.dumps(value).encode()), time.time()) for key, value in items]
        with self._lock, self._base:
            self._base.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)", rows)

    def _sealed(self, content: bytes) -> bytes:
        return FILE_MARK + self._cipher.encrypt(content)[1] if self._cipher else content


def tables_in(text: str) -> dict[str, str]:
    """The keys of the tables in an observation, by the names that the model gave them."""
    return dict(_NAMED.findall(text))


def stored_table(files: FileStore, name: str) -> list[list[Any]] | None:
    """The rows of a table of `read_each`; None if there is no such table here."""
    with stored_readings(files) as store:
        return store.table(name) if store else None


def readings_under_way(files: FileStore, thread: str) -> list[dict[str, int]]:
    """How far the readings of a thread are: {done, total, doubtful} each."""
    with stored_readings(files) as store:
        return store.under_way(thread) if store else []


@contextmanager
def stored_readings(files: FileStore) -> Iterator[ReadingStore | None]:
    """The readings of a user; None if nothing was read yet."""
    if not (files.root / NAME).exists():
        yield None
        return
    with closing(ReadingStore(files)) as store:
        yield store
