"""Databases (SQLite), Parquet files and notebooks."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from forethought.tools.documents.document import Document, Section, Unreadable
from forethought.tools.documents.plain import decode
from forethought.tools.documents.sheets import Cell, Sheet

MOST_ROWS = 100_000
"""Rows of a table that are shown."""
_LONGEST_OUTPUT = 20_000
"""Characters."""


def read_sqlite_sheets(data: bytes) -> list[Sheet]:
    """The tables of an SQLite database, each with its definition. Views are only defined."""
    base = sqlite3.connect(":memory:")
    # A log of changes that belongs to the file is not here: the file counts as one without.
    base.deserialize(data[:18] + b"\1\1" + data[20:])
    base.text_factory = lambda text: text.decode("utf-8", "replace")
    found = base.execute("SELECT type, name, sql FROM sqlite_master ORDER BY rowid").fetchall()
    views = [" ".join(sql.split()) for kind, _, sql in found if kind in ("view", "trigger") and sql]
    sheets = []
    for kind, name, sql in found:
        if kind == "table" and not name.startswith("sqlite_"):
            quoted = '"' + name.replace('"', '""') + '"'
            (count,) = base.execute(f"SELECT count(*) FROM {quoted}").fetchone()
            rows = base.execute(f"SELECT * FROM {quoted} LIMIT {MOST_ROWS}")
            sheet = _table(name, [column[0] for column in rows.description], rows, count)
            sheet.before.insert(0, f"Table of a database: {' '.join((sql or '').split())}")
            sheets.append(sheet)
    if sheets and views:
        sheets[-1].before += [f"Also in the database: {view}" for view in views]
    return sheets


def read_parquet_sheets(data: bytes) -> list[Sheet]:
    """The rows of a Parquet file. Raises Unreadable if duckdb is not installed."""
    try:
        import duckdb
    except ImportError as error:
        hint = "Ask the operator for `pip install duckdb`, or the user for a .csv file."
        raise Unreadable("is a .parquet file, which takes the package duckdb", hint=hint) from error
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file, duckdb.connect(":memory:") as base:
        file.write(data)
        file.flush()
        base.execute("SET threads = 1; SET memory_limit = '400MB'")
        (count,) = base.execute("SELECT count(*) FROM read_parquet(?)", [file.name]).fetchone() or (0,)
        found = base.execute(f"SELECT * FROM read_parquet(?) LIMIT {MOST_ROWS}", [file.name])
        names = [column[0] for column in found.description or ()]
        return [_table("Table", names, found.fetchall(), count)]


def _table(name: str, columns: Sequence[str], rows: Any, count: int) -> Sheet:
    sheet = Sheet(name)
    if count > MOST_ROWS:
        sheet.before.append(
            f"Only the first {MOST_ROWS:,} of {count:,} rows are shown; the tool sql reads all."
        )
    sheet.cells[1] = {at: Cell(column) for at, column in enumerate(columns, 1)}
    for number, row in enumerate(rows, 2):
        cells = {at: Cell(_plain(value)) for at, value in enumerate(row, 1) if value is not None}
        if cells:
            sheet.cells[number] = cells
    return sheet


def _plain(value: Any) -> Any:
    return f"({len(value):,} bytes)" if isinstance(value, bytes | bytearray | memoryview) else value


def read_notebook(data: bytes) -> Document:
    """The cells of a notebook with the text that they put out; pictures are only named."""
    text, note = decode(data)
    try:
        notebook = json.loads(text)
        cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
    except (ValueError, KeyError, TypeError, IndexError):  # another kind of file under this name
        return Document((Section(text.strip("\n")),), note=note)
    blocks = [block for number, cell in enumerate(cells, 1) for block in _cell(number, cell)]
    return Document((Section("\n\n".join(blocks)),), note=note)


def _cell(number: int, cell: dict[str, Any]) -> Iterator[str]:
    source = _joined(cell.get("source") or cell.get("input") or "")
    if cell.get("cell_type") != "code":
        yield source
        return
    run = cell.get("execution_count") or cell.get("prompt_number")
    yield f"Cell {number}, code, {f'run as number {run}' if run else 'not run'}:\n```\n{source}\n```"
    for output in cell.get("outputs", ()):
        if said := _output(output):
            yield f"Output of cell {number}:\n```\n{said[:_LONGEST_OUTPUT]}\n```"
            if len(said) > _LONGEST_OUTPUT:
                yield f"(Of {len(said):,} characters of output the first {_LONGEST_OUTPUT:,} are shown.)"


def _output(output: dict[str, Any]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename')}: {output.get('evalue')}"
    kinds = output.get("data") or {kind: output[kind] for kind in ("text", "html", "png") if kind in output}
    pictures = [kind for kind in kinds if kind.startswith("image/") or kind == "png"]
    said = _joined(kinds.get("text/plain") or kinds.get("text") or "")
    return "\n".join(filter(None, (said, *(f"(A picture, {kind}, is not shown.)" for kind in pictures))))


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)
