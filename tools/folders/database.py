"""The SQLite file of an index. Write-ahead logging lets several processes search while one writes."""

from __future__ import annotations

import sqlite3
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

VERSION = 2
"""Version of the tables and of `words`. An index of another version is made anew."""
_SCHEMA = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    name TEXT PRIMARY KEY, size INTEGER NOT NULL, modified INTEGER NOT NULL, content INTEGER,
    reason TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX files_by_content ON files (content);
CREATE TABLE contents (
    id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE, language TEXT NOT NULL,
    characters INTEGER NOT NULL, named TEXT NOT NULL, reason TEXT NOT NULL
);
CREATE TABLE blocks (
    content INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL, text BLOB NOT NULL
);
CREATE INDEX blocks_by_content ON blocks (content, start);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, content INTEGER NOT NULL,
    start INTEGER NOT NULL, stop INTEGER NOT NULL, line INTEGER NOT NULL,
    place TEXT NOT NULL, heading TEXT NOT NULL
);
CREATE INDEX passages_by_content ON passages (content, start);
CREATE VIRTUAL TABLE words USING fts5 (
    name, heading, body, content='', tokenize='unicode61 remove_diacritics 0'
);
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(2.0, 1.5, 1.0)');
"""
Row = tuple[Any, ...]


class Database:
    """An SQLite file with the tables of an index. A connection serves all threads, one at a time."""

    def __init__(self, path: Path | None = None) -> None:
        """Open the file or make it; without a path, the index is kept in memory."""
        self._lock, self._path = threading.RLock(), path
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)
        try:
            self._open(path)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:  # no database: a disk was full, or a copy stopped half-way
            assert path is not None
            self._db.close()
            for part in path.parent.glob(f"{path.name}*"):
                part.unlink()
            self._open(path)

    def _open(self, path: Path | None) -> None:
        self._db = sqlite3.connect(
            path or ":memory:", timeout=30, isolation_level=None, check_same_thread=False
        )
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        if self._version() != VERSION:  # a reader does not wait for a process that writes
            with self.writing():
                if self._version() != VERSION:
                    self._make_anew()

    def _attach(self, name: str, suffix: str) -> None:
        """Add the tables of a file beside this one."""
        path = self._path and self._path.with_name(self._path.name + suffix)
        if path:
            path.touch(mode=0o600)
        self._db.execute(f"ATTACH ? AS {name}", (str(path or ":memory:"),))
        self._db.execute(f"PRAGMA {name}.journal_mode = WAL")

    def _version(self) -> int:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        return int(version)

    def close(self) -> None:
        """Close the file, after the query of another thread."""
        with self._lock:
            self._db.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction: it keeps all of its writes or none."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def about(self, key: str) -> str:
        """The fact about the folder under `key` ('': none)."""
        row = self._row("SELECT value FROM about WHERE key = ?", key)
        return row[0] if row else ""

    def set_about(self, **values: str) -> None:
        """Keep facts about the folder."""
        with self._lock:
            self._db.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", values.items())

    def _make_anew(self) -> None:
        for (table,) in self._all(
            "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%' ORDER BY name"
        ):
            self._db.execute(f"DROP TABLE {table}")
        for (table,) in self._all(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        ):
            self._db.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in _SCHEMA.split(";"):
            self._db.execute(statement)
        self._db.execute(f"PRAGMA user_version = {VERSION}")

    def _row(self, query: str, *values: object) -> Row | None:
        with self._lock:
            row: Row | None = self._db.execute(query, values).fetchone()
        return row

    def _all(self, query: str, *values: object) -> list[Row]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    def _text(self, number: int, start: int = 0, end: int = 1 << 60) -> str:
        rows = self._all(
            "SELECT start, text FROM blocks WHERE content = ? AND start < ? AND stop > ? ORDER BY start",
            number, end, start,
        )  # fmt: skip
        if not rows:
            return ""
        joined = "".join(zlib.decompress(text).decode() for _, text in rows)
        return joined[max(start - rows[0][0], 0) : end - rows[0][0]]
