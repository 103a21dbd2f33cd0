"""Databases (SQLite), Parquet files and notebooks."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from typing import Any

from forethought.tools.documents.document import Document, Section, Unreadable
from forethought.tools.documents.plain import decode
from forethought.tools.documents.sheets import Sheet

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
    found = base.execute("SELECT type, name, sql FROM sqlite_master WHERE sql NOT NULL").fetchall()
    names = [name for kind, name, _ in found if kind == "table" and not name.startswith("sqlite_")]
    sheets = [_table(base, name, '"' + name.replace('"', '""') + '"') for name in names]
    for kind, name, sql in found:
        if kind in ("table", "view", "trigger") and sheets:
            at = names.index(name) if name in names else -1
            sheets[at].before.append(f"In the database: {' '.join(sql.split())}")
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
        return [_table(base, "Table", f"read_parquet('{file.name}')")]


def _table(base: Any, name: str, source: str) -> Sheet:
    sheet = Sheet(name)
    (count,) = base.execute(f"SELECT count(*) FROM {source}").fetchone()
    if count > MOST_ROWS:
        sheet.before.append(f"Only the first {MOST_ROWS:,} of {count:,} rows are shown; sql reads all.")
    found = base.execute(f"SELECT * FROM {source} LIMIT {MOST_ROWS}")
    rows = [[column[0] for column in found.description], *found.fetchall()]
    sheet.values = [[_plain(each) for each in row] for row in rows]
    return sheet


def _plain(value: Any) -> Any:
    return f"({len(value):,} bytes)" if isinstance(value, bytes | bytearray) else value


def read_notebook(data: bytes) -> Document:
    """The cells of a notebook with the text that they put out; pictures are only named."""
    text, note = decode(data)
    cells = json.loads(text)["cells"]
    blocks = [block for number, cell in enumerate(cells, 1) for block in _cell(number, cell)]
    return Document((Section("\n\n".join(blocks)),), note=note)


def _cell(number: int, cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell.get("source", ""))
    if cell.get("cell_type") != "code":
        yield source
        return
    run = cell.get("execution_count")
    yield f"Cell {number}, code, {f'run as number {run}' if run else 'not run'}:\n```\n{source}\n```"
    for output in cell.get("outputs", ()):
        said = "\n".join(filter(None, _output(output)))
        cut = "\n(The rest is not shown.)" if len(said) > _LONGEST_OUTPUT else ""
        yield f"Output of cell {number}:\n```\n{said[:_LONGEST_OUTPUT]}{cut}\n```"


def _output(output: dict[str, Any]) -> Iterator[str]:
    if "ename" in output:
        yield f"{output['ename']}: {output.get('evalue')}"
    kinds = output.get("data", {})
    yield "".join(kinds.get("text/plain") or output.get("text") or "")
    for kind in kinds:
        if kind.startswith("image/"):
            yield f"(A picture, {kind}, is not shown.)"
