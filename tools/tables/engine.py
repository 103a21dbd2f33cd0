"""Answer a query over tables with DuckDB, in a reader's process (`tools.documents.child`).

Everything is loaded into memory first. Then DuckDB is locked: a query reaches no file, no network and no
setting. DuckDB's documentation asks for a sandbox around SQL from others: hence the process of its own, with
limits on time and memory.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from forethought.tools.documents.document import Unreadable

if TYPE_CHECKING:
    from forethought.tools.tables.load import Tables

Json = dict[str, Any]
MOST_ROWS = 1000
"""Rows of a result that are handed over."""
_MEMORY_SHARE = 0.6
_OPTIONS: Json = {
    "threads": 4, "temp_directory": "",
    "autoinstall_known_extensions": "false", "autoload_known_extensions": "false",
}  # fmt: skip


def answer(job: Json, data: bytes) -> Json:
    """Answer a job's query: {columns, rows, more, notes, schema}.

    Args:
        job: {query, memory, tables}; see `Tables.add` for a table, which has a `size` besides.
        data: The contents of the tables, one after another.

    Raises:
        Unreadable: DuckDB is missing, a table cannot be loaded, or the query is wrong.
    """
    try:
        import duckdb
    except ImportError as error:
        raise Unreadable("needs DuckDB, which is not installed", cause="unavailable") from error
    from forethought.tools.tables.load import Tables

    memory = f"{int((job['memory'] >> 20) * _MEMORY_SHARE)}MB"
    with closing(duckdb.connect(config={**_OPTIONS, "memory_limit": memory})) as base:
        tables, start = Tables(base), 0
        for table in job["tables"]:
            end = start + table.get("size", 0)
            tables.add(table, data[start:end])
            start = end
        base.execute("SET enable_external_access = false")
        base.execute("SET lock_configuration = true")
        return {**_run(base, duckdb, job["query"], tables), "notes": tables.notes, "schema": tables.schema}


def _run(base: Any, duckdb: Any, query: str, tables: Tables) -> Json:
    try:
        statements = duckdb.extract_statements(query)
        if [statement.type.name for statement in statements] not in (["SELECT"], ["EXPLAIN"]):
            what, hint = "takes one query that reads", "Write one SELECT, WITH, DESCRIBE or SHOW statement."
            raise Unreadable(what, cause="arguments", hint=hint)
        base.execute(statements[0])
        columns = [column[0] for column in base.description or ()]
        rows = base.fetchmany(MOST_ROWS + 1)
    except duckdb.OutOfMemoryException as error:
        hint = "Select fewer columns or rows, or aggregate."
        raise Unreadable("needs more memory than a query may have", cause="limit", hint=hint) from error
    except duckdb.Error as error:
        reason = " ".join(str(error).split("\n\nLINE ")[0].split())
        raise Unreadable(f"failed: {reason}", cause="arguments", hint=tables.listing) from error
    shown = [[_value(value) for value in row] for row in rows[:MOST_ROWS]]
    return {"columns": columns, "rows": shown, "more": len(rows) > MOST_ROWS}


def _value(value: Any) -> Any:
    """A value as JSON has it; a number without the noise of its binary form."""
    if isinstance(value, float):
        return float(f"{value:.14g}") if abs(value) < float("inf") else str(value)
    if isinstance(value, list | tuple):
        return [_value(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _value(item) for key, item in value.items()}
    return value if isinstance(value, bool | int | str | None) else str(value)
