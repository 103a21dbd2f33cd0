"""Readings of many files (`read_each`) on the page of a run: progress, rows, quotes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from forethought.app import view
from forethought.storage.errors import StorageError
from forethought.tools.each.store import TABLE, readings_under_way, stored_table
from forethought.tools.files import FileStore

Json = dict[str, Any]
MOST_ROWS = 50


def reading_progress(files: FileStore, thread_id: str) -> str:
    """How far the readings of a running thread are; '' if none is under way."""
    return "".join(f" It has {view.reading(one)}." for one in readings_under_way(files, thread_id))


def rows_by_step(files: FileStore, entries: Iterable[Mapping[str, Any]]) -> dict[int, Json]:
    """The rows of the steps that called `read_each`, by number: {fields, rows, more}. Doubtful rows and
    those that failed come first, then those with yes."""
    found = {}
    for entry in entries:
        names = TABLE.findall(str(entry["observation"])) if entry.get("tool") == "read_each" else []
        with suppress(StorageError):  # it is encrypted with another key
            if names and (table := stored_table(files, names[0])):
                found[entry["n"]] = _rows(table)
    return found


def _rows(table: list[list[Any]]) -> Json:
    header, *body = table
    fields = header[1 : header.index("status")]
    records = [dict(zip(header, row, strict=True)) for row in body]
    records.sort(key=lambda record: (record["status"] == "ok", "yes" not in record.values()))
    shown = [
        {
            **{key: record[key] for key in ("file", "status", "why")},
            "cells": [
                {"value": record[field], "quote": record[f"{field}_quote"], "place": record[f"{field}_place"]}
                for field in fields
            ],
        }
        for record in records[:MOST_ROWS]
    ]
    return {"fields": fields, "rows": shown, "more": len(records) - len(shown)}
