"""Load tables into DuckDB, and make numbers and dates of their texts."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.plain import decode, delimited_rows, delimiter_of
from forethought.tools.tables.columns import MOST_OTHER, Conversion, conversion_of, quoted

Json = dict[str, Any]
Rows = Sequence[Sequence[Any]]
_SAMPLE = 2000
_HEAD = 1 << 16
_SPACES = "' \t\r\n\u00a0'"
_TITLES = 50
"""The header is among the first rows."""


class Tables:
    """The tables of one query. `base` is a connection to DuckDB."""

    def __init__(self, base: Any) -> None:
        self._base = base
        base.execute("CREATE SCHEMA loaded")
        self._columns: dict[str, list[str]] = {}
        self._aliases: set[str] = set()
        self.notes: list[str] = []
        """Values that are not converted, and doubts about others."""

    @property
    def schema(self) -> str:
        """All tables with their columns."""
        return ", ".join(f"{_shown(name)}({', '.join(columns)})" for name, columns in self._columns.items())

    @property
    def listing(self) -> str:
        """The schema as a hint."""
        return f"Tables: {self.schema or 'none'}."

    def add(self, table: Json, content: bytes) -> None:
        """Load a table, or each table of a database. Raises Unreadable.

        `table` is {name, kind, aliases}; kinds are csv, rows (JSON), sqlite, parquet and json. A union of
        loaded tables is {name, of: [[file, table]]}.
        """
        name, kind = table["name"], table.get("kind")
        if kind is None:
            return self._unite(name, table["of"])
        if kind == "csv":
            self._add_csv(name, content)
        elif kind == "rows":
            self._add_rows(name, json.loads(content))
        elif kind == "sqlite":
            for inner, rows in _sqlite_tables(content, name):
                self._add_rows(f"{name}_{inner}", rows)
        else:
            read = "read_parquet({})" if kind == "parquet" else "read_json({}, maximum_object_size=50000000)"
            with _as_file(content) as path:
                self._load(name, read.format(quoted(path)))
            self._settle(name, texts=kind == "json")
        for alias in table.get("aliases", ()) if name in self._columns else ():
            if alias.casefold() in self._aliases:
                self.notes.append(f"{alias} is here {name}: upper and lower case do not tell tables apart.")
                continue
            self._aliases.add(alias.casefold())
            self._base.execute(f"CREATE VIEW {_name(alias)} AS FROM {_name(name)}")
        return None

    def _add_csv(self, name: str, content: bytes) -> None:
        with suppress(UnicodeDecodeError):
            if "\0" not in content.decode():
                head = content[:_HEAD].decode("utf-8-sig", "ignore")
                whole = head[: head.rfind("\n") + 1] or head
                delimiter = delimiter_of(whole)
                skip, header = _header(
                    [row for row in csv.reader(io.StringIO(whole), delimiter=delimiter) if row]
                )
                if header and self._read_csv(name, content, header, delimiter, skip):
                    return self._settle(name)
        return self._add_rows(name, delimited_rows(decode(content)[0]))

    def _add_rows(self, name: str, rows: Rows) -> None:
        """Load rows of a reader. Their cells may be numbers."""
        skip, header = _header(rows)
        body, width = rows[skip:], len(header)
        written = io.StringIO()
        csv.writer(written).writerows([*row, *[""] * (width - len(row))] for row in body)
        typed = {at for row in body for at, cell in enumerate(row) if type(cell) in (int, float)}
        if not header or not self._read_csv(
            name, written.getvalue().encode("utf-8", "replace"), header, ",", 0
        ):
            raise Unreadable(f"cannot load the table {name}", hint="Read the file instead.")
        self._settle(name, typed=typed)

    def _read_csv(self, name: str, content: bytes, header: list[str], delimiter: str, skip: int) -> bool:
        """Load texts; False if DuckDB cannot make rows of this width of them."""
        columns = ", ".join(f"{quoted(column)}: 'VARCHAR'" for column in header)
        options = f"""auto_detect=false, delim={quoted(delimiter)}, quote='"', escape='"', header=false,
            skip={skip}, null_padding=true, max_line_size=20000000, columns={{{columns}}}"""
        with _as_file(content) as path:
            for parallel in ("true", "false"):  # several threads cannot read line breaks in quotes
                with suppress(Unreadable):
                    self._load(name, f"read_csv({quoted(path)}, parallel={parallel}, {options})")
                    return True
        return False

    def _load(self, name: str, source: str) -> None:
        try:
            self._base.execute(f"CREATE TABLE {_raw(name)} AS FROM {source}")
        except Exception as error:
            raise Unreadable(f"cannot load the table {name}: {str(error).splitlines()[0]}") from error

    def _settle(self, name: str, texts: bool = True, typed: set[int] | None = None) -> None:
        """Make the table from the loaded texts. Texts that are numbers or dates are converted."""
        columns = self._base.execute(f"DESCRIBE {_raw(name)}").fetchall()
        read = [column for column, kind, *_ in columns if kind == "VARCHAR" and texts]
        hows = self._conversions(name, read, typed or set()) if read else {}
        shown = {column: _name(column) for column, *_ in columns}
        for column, how in hows.items():
            shown[column] = _selected(column, how.sql, beside=how.doubtful)
            if how.note:
                self.notes.append(f"{name}.{column}: {how.note}.")
        self._make(name, shown)
        converted = {column: how for column, how in hows.items() if how.sql}
        if mended := self._mended(name, converted):
            self._make(name, {**shown, **mended})
        self._base.execute(f"DROP TABLE {_raw(name)}")
        self._describe(name)

    def _make(self, name: str, shown: Mapping[str, str]) -> None:
        selected = ", ".join(shown.values())
        self._base.execute(f"CREATE OR REPLACE TABLE {_name(name)} AS SELECT {selected} FROM {_raw(name)}")

    def _conversions(self, name: str, read: Sequence[str], typed: set[int]) -> dict[str, Conversion]:
        """How to convert the columns of texts, by a sample of their values."""
        (count,) = self._base.execute(f"SELECT count(*) FROM {_raw(name)}").fetchone()
        nth = f"rowid % {max(1, count // _SAMPLE)} = 0"
        sample = self._base.execute(f"SELECT {', '.join(map(_name, read))} FROM {_raw(name)} WHERE {nth}")
        cells = list(zip(*sample.fetchall(), strict=True)) or [()] * len(read)
        return {
            column: conversion_of([cell for cell in cells[at] if cell and cell.strip()], at in typed)
            for at, column in enumerate(read)
        }

    def _mended(self, name: str, converted: Mapping[str, Conversion]) -> dict[str, str]:
        """Other selections for columns that lost values, or that took codes for numbers."""
        if not converted:
            return {}
        given = (f"count(nullif({_name(column)}, ''))" for column in converted)
        codes = (
            f"count(*) FILTER (substr({_name(column)}, 1, 2) BETWEEN '00' AND '09')" for column in converted
        )
        before = self._base.execute(f"SELECT {', '.join([*given, *codes])} FROM {_raw(name)}").fetchone()
        made = ", ".join(f"count({_name(column)})" for column in converted)
        after = self._base.execute(f"SELECT {made} FROM {_name(name)}").fetchone()
        width = len(converted)
        return {
            column: self._instead(name, column, how)
            for at, (column, how) in enumerate(converted.items())
            if before[at] != after[at] or before[width + at]
        }

    def _instead(self, name: str, column: str, how: Conversion) -> str:
        named, where = _name(column), f"FROM {_raw(name)}"
        for sql in filter(None, (how.sql, how.wider)):
            value, given = _value(column, sql), f"trim({named}, {_SPACES}) <> ''"
            wrong = f"{given} AND {value} IS NULL"
            codes = f"regexp_full_match({named}, '0[0-9]+')"
            figures = ", ".join(f"count(*) FILTER ({condition})" for condition in (given, wrong, codes))
            total, failed, coded = self._base.execute(f"SELECT {figures} {where}").fetchone()
            if failed > MOST_OTHER * total or (coded and how.what == "numbers"):
                return _selected(column, "")
            if not failed:
                return _selected(column, sql, beside=how.doubtful)
        examples = f"SELECT DISTINCT {named} AS one {where} WHERE {wrong} ORDER BY one LIMIT 3"
        listed = ", ".join(repr(one[:40]) for (one,) in self._base.execute(examples).fetchall())
        self.notes.append(
            f"{name}.{column}: {failed:,} of {total:,} values are not {how.what}: {listed}. "
            f"They are NULL here; the column {_shown(column + '_text')} has the text."
        )
        return _selected(column, sql, beside=True)

    def _unite(self, name: str, of: Sequence[Sequence[str]]) -> None:
        parts = (f"SELECT {quoted(file)} AS file, * FROM {_name(table)}" for file, table in of)
        try:
            self._base.execute(f"CREATE VIEW {_name(name)} AS {' UNION ALL BY NAME '.join(parts)}")
        except Exception as error:
            raise Unreadable(f"cannot unite the tables {name}: {str(error).splitlines()[0]}") from error
        self._describe(name)

    def _describe(self, name: str) -> None:
        columns = self._base.execute(f"DESCRIBE {_name(name)}").fetchall()
        self._columns[name] = [f"{_shown(column)} {kind}" for column, kind, *_ in columns]


def _header(rows: Rows) -> tuple[int, list[str]]:
    """How many rows come before the body, and a name for each column. Titles above a table are left out."""
    rows = rows[:_TITLES]
    filled = [sum(cell not in ("", None) for cell in row) for row in rows]
    usual = max(set(filled), key=filled.count, default=0)
    at = next((at for at, count in enumerate(filled) if count >= usual), 0)
    first = [str("" if cell is None else cell).strip() for cell in rows[at]] if rows else []
    typed = any(type(cell) in (int, float) for row in rows[at : at + 1] for cell in row)
    is_header = not typed and not any(conversion_of([cell]).sql for cell in first if cell)
    names: list[str] = []
    for number in range(max(map(len, rows), default=0)):
        name = (first[number] if is_header and number < len(first) else "") or f"column{number + 1}"
        taken = {other.casefold() for other in names}
        names.append(name if name.casefold() not in taken else f"{name}_{number + 1}")
    return at + is_header, names


def _sqlite_tables(content: bytes, name: str) -> Iterator[tuple[str, Rows]]:
    listing = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    with closing(sqlite3.connect(":memory:")) as base:
        try:
            base.deserialize(content)
            for (table,) in base.execute(listing).fetchall():
                rows = base.execute(f"SELECT * FROM {_name(table)}")
                yield table, [[column[0] for column in rows.description], *rows.fetchall()]
        except sqlite3.Error as error:
            raise Unreadable(f"cannot load the database {name}: {error}") from error


@contextmanager
def _as_file(content: bytes) -> Iterator[str]:
    """A path of the bytes for DuckDB: in memory if the system can, so that no disk holds them."""
    create: Callable[[str], int] | None = getattr(os, "memfd_create", None)
    if create is None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "table")
            with open(path, "wb") as file:
                file.write(content)
            yield path
        return
    with os.fdopen(create("table"), "wb") as file:
        file.write(content)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}"


def _raw(name: str) -> str:
    """The loaded texts of the table `name`."""
    return f"loaded.{_name(name)}"


def _selected(column: str, sql: str, beside: bool = False) -> str:
    """What to select for a column of texts: its text, or the value that `sql` makes of it."""
    named, text = _name(column), f"nullif({_name(column)}, '')"
    also = f", {text} AS {_name(column + '_text')}" if beside else ""
    return f"{_value(column, sql) if sql else text} AS {named}{also}"


def _value(column: str, sql: str) -> str:
    """The value that `sql` makes of a column's text; white space around it takes longer."""
    texts = (_name(column), f"trim({_name(column)}, {_SPACES})")
    return f"coalesce({', '.join(sql.replace('@c', text) for text in texts)})"


def _shown(name: str) -> str:
    """A name as a query has to write it."""
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else _name(name)


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
