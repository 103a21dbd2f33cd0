"""Names of tables, and which files a query needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from forethought.tools.base import ToolError
from forethought.tools.folders.given import matches

if TYPE_CHECKING:
    from forethought.state.agent import FileRef

KINDS = {
    "csv": "csv", "tsv": "csv", "tab": "csv", "parquet": "parquet", "jsonl": "json", "ndjson": "json",
    "json": "json", "sqlite": "sqlite", "sqlite3": "sqlite", "db": "sqlite",
    "xlsx": "content", "xlsm": "content", "xls": "content", "ods": "content",
}  # fmt: skip
"""Of files that are tables, by the ending of the name; content: the document readers read it."""
TABLES = "table/"
"""The type of a folder that holds files of these kinds."""
LARGE = 1_000_000
"""Least bytes of a table that a program reads slowly."""
FEW = 10
"""Tables that are all loaded, whatever the query names."""
_PATTERN = re.compile(r"""["']([^"']*[*?][^"']*)["']""")


@dataclass(frozen=True)
class TableFile:
    """A file whose tables a query may name."""

    file: str
    name: str
    """Of its table, or the beginning of the names of its tables: orders_csv."""
    kind: str


def kind_of_table(file: str) -> str:
    """One of the kinds; 'document' for a file that may hold tables."""
    return KINDS.get(PurePosixPath(file).suffix.lower().lstrip("."), "document")


def needs_sql(item: FileRef) -> bool:
    """Whether a given file is a table that a program reads slowly, or not at all."""
    kind = kind_of_table(item["name"])
    return kind in ("parquet", "sqlite") or (kind != "document" and item.get("size", 0) >= LARGE)


def catalog(files: Iterable[str]) -> list[TableFile]:
    """Each file with a name for its tables."""
    used: dict[str, int] = {}
    found = []
    for file in files:
        name = re.sub(r"[^a-z0-9]+", "_", file.lower()).strip("_") or "file"
        name = f"t_{name}" if name[0].isdigit() else name
        used[name] = used.get(name, 0) + 1
        name = f"{name}_{used[name]}" if used[name] > 1 else name
        found.append(TableFile(file, name, kind_of_table(file)))
    return found


def named_in(query: str, tables: Iterable[TableFile]) -> list[TableFile]:
    """The files that a query names, by a table's name or by their own."""
    lowered = query.lower()
    words = set(re.findall(r"\w+", lowered))
    quoted = {text.strip() for text in re.findall(r"""["']([^"']+)["']""", lowered)}
    patterns = _PATTERN.findall(lowered)
    return [
        table
        for table in tables
        if table.name in words
        or table.file.lower() in quoted
        or any(word.startswith(f"{table.name}_") for word in words)
        or (table.kind != "document" and any(matches(table.file, pattern) for pattern in patterns))
    ]


def unions(query: str, loaded: Mapping[str, Sequence[str]]) -> dict[str, list[list[str]]]:
    """Patterns that a query uses as tables, with the file and the table of each that matches.

    Args:
        query: The query.
        loaded: The names of the tables of each file.

    Raises:
        ToolError: A file that matches has several tables.
    """
    found = {}
    for pattern in _PATTERN.findall(query):
        of = {file: tables for file, tables in loaded.items() if tables and matches(file, pattern)}
        if several := next((file for file, tables in of.items() if len(tables) > 1), None):
            hint = f"Name the tables that you mean: {', '.join(of[several][:5])}."
            raise ToolError(
                f"{several} has {len(of[several])} tables, so {pattern} does not say which",
                cause="arguments",
                hint=hint,
            )
        if of:
            found[pattern] = [[file, tables[0]] for file, tables in of.items()]
    return found
