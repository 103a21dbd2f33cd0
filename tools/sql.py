"""The tool `sql`: a query over the tables of files and of readings (`tools.tables`)."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from forethought.extras import install_command
from forethought.text import how_many, one_line
from forethought.tools.base import Observation, ToolEnv, ToolError, make_tool
from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.reader import load_content, read_apart
from forethought.tools.each.store import stored_table
from forethought.tools.folders.given import file_origins
from forethought.tools.given_files import stored_bytes
from forethought.tools.tables.catalog import FEW, TableFile, catalog, named_in, unions

Json = dict[str, Any]
MOST_BYTES = 200_000_000
"""Of the tables of one query."""
_LISTED = 40
_CELL = 300
_LESS = (
    "Use fewer tables or columns, or aggregate first. "
    "The operator can raise FORETHOUGHT_READER_SECONDS and FORETHOUGHT_READER_MEMORY_MB."
)


def is_installed() -> bool:
    """Whether DuckDB can be imported."""
    return find_spec("duckdb") is not None


async def sql(env: ToolEnv, query: str) -> Observation:
    """Query the tables of the given files with SQL (DuckDB), which is exact and quick on millions of rows.

    Tables: CSV, TSV, Parquet, SQLite, JSON and JSON lines, sheets of workbooks, tables in documents, and
    those of read_each by their names. Write a file's name as a table: FROM "orders.csv", or FROM "2025/*.csv"
    for all files that match, with a column `file`. A sheet is book_xlsx_june, a table of a database
    shop_db_customers, a document's second table report_docx_2. SHOW TABLES and DESCRIBE work. Texts that are
    numbers or dates are converted; notes say which values are not.

    Args:
        query: One SELECT, WITH, DESCRIBE or SHOW statement.
    """
    if not is_installed():
        raise ToolError(
            f"sql needs DuckDB: {install_command('sql')}", cause="unavailable", hint="Use python."
        )
    files = await asyncio.to_thread(lambda: catalog(env.files))
    own = [table for table in files if table.kind != "document"]
    wanted = named_in(query, files)
    made = [name for name in env.tables if re.search(rf"\b{name}\b", query, re.IGNORECASE)]
    if not wanted and len(own) <= FEW and not made:
        wanted = own
    tables, contents, sources = await _tables(env, query, wanted, made)
    job = {"job": "sql", "query": query, "tables": tables}
    try:
        answer = await read_apart(job, b"".join(contents), env.settings)
    except Unreadable as error:
        if error.cause in ("timeout", "limit"):
            what = error.what.removesuffix(" to read")
            raise ToolError(f"the query {what}", cause=error.cause, hint=_LESS) from error
        known = _known(env, own) if "does not exist" in error.what else ""
        hint = one_line(" ".join(filter(None, (error.hint, known))), env.sizes.part // 2)
        raise ToolError(f"the query {error.what}", cause=error.cause, hint=hint) from error
    text, partial = _shown(answer, env.sizes.part)
    return Observation(text, origin=file_origins(sources), partial=partial)


async def _tables(
    env: ToolEnv, query: str, wanted: Sequence[TableFile], made: Sequence[str]
) -> tuple[list[Json], list[bytes], list[str]]:
    """The tables that a query needs, their contents, and the files that they come from."""
    tables, contents = list[Json](), list[bytes]()
    loaded: dict[str, list[str]] = {}

    def add(name: str, kind: str, content: bytes, *aliases: str) -> None:
        others = [alias for alias in aliases if alias.lower() != name.lower()]
        tables.append({"name": name, "kind": kind, "size": len(content), "aliases": others})
        contents.append(content)
        if sum(map(len, contents)) > MOST_BYTES:
            hint = "Name fewer tables, or select from one after the other."
            raise ToolError(
                f"the tables have more than {MOST_BYTES // 1_000_000} MB", cause="limit", hint=hint
            )

    assert env.store is not None, "a run has a storage"
    for table in sorted(wanted, key=lambda table: table.file not in query):  # of two, the exact name counts
        loaded[table.file] = [table.name]
        if table.kind not in ("content", "document"):
            data = await asyncio.to_thread(stored_bytes, env.store, env.files[table.file], table.file)
            add(table.name, table.kind, data, table.file)
            continue
        content = await load_content(env.store, env.files[table.file], table.file, env.settings)
        parts = {"": content.tables} if isinstance(content.tables, list) else content.tables
        parts = {part: rows for part, rows in parts.items() if rows}
        names = [catalog([f"{table.name}_{part}"])[0].name if part else table.name for part in parts]
        loaded[table.file] = names
        for name, rows in zip(names, parts.values(), strict=True):
            only = (table.name, table.file) if len(parts) == 1 else ()
            add(name, "rows", json.dumps(rows).encode(), *only)
    for name in made:
        kept = await asyncio.to_thread(stored_table, env.store, env.tables[name])
        add(name, "rows", json.dumps(kept or []).encode())
    tables += [{"name": pattern, "of": of} for pattern, of in unions(query, loaded).items()]
    return tables, contents, list(loaded)


def _known(env: ToolEnv, own: Sequence[TableFile]) -> str:
    """The tables that there are, for a query that names another one."""
    names = [*env.tables, *(f"{table.name} ({table.file})" for table in own)]
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"Files with tables: {', '.join(names[:_LISTED]) or 'none'}{more}."


def _shown(answer: Json, room: int) -> tuple[str, bool]:
    """The result as text, and whether rows are missing."""
    rows, more = answer["rows"], answer["more"]
    lines = [" | ".join(answer["columns"])]
    size = len(lines[0])
    for row in rows:
        line = " | ".join(_cell(value) for value in row)
        if size + len(line) > room:
            break
        lines.append(line)
        size += len(line) + 1
    shown = len(lines) - 1
    count = f"more than {len(rows):,} rows" if more else how_many(len(rows), "row")
    head = (
        f"{count}:" if shown == len(rows) and not more else f"{count}, of which the first {shown} are shown:"
    )
    notes = [f"Note: {note}" for note in answer["notes"]]
    return "\n".join([head, *lines, *notes]), more or shown < len(rows)


def _cell(value: Any) -> str:
    if value is None:
        return "NULL"
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), _CELL)


SQL = make_tool(sql, timeout_s=75, needs="tables")
