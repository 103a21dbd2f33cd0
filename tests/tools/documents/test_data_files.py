"""Databases, Parquet files and notebooks: tables as tables, outputs as text."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from forethought.tools.documents import data_files
from forethought.tools.documents.content import read_content
from forethought.tools.documents.formats import read_document


@pytest.fixture
def database(tmp_path: Path) -> bytes:
    base = sqlite3.connect(tmp_path / "a.db")
    base.execute("PRAGMA journal_mode = WAL")
    base.execute('CREATE TABLE "my fees" (name TEXT, fee REAL NOT NULL, scan BLOB)')
    base.executemany('INSERT INTO "my fees" VALUES (?, ?, ?)', [("Ana", 450.5, b"xyz"), ("Ben", 3, None)])
    base.execute('CREATE VIEW large AS SELECT * FROM "my fees" WHERE fee > 9')
    base.commit()
    base.close()
    return (tmp_path / "a.db").read_bytes()


def test_a_database_has_its_tables_with_their_definitions(
    database: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = read_document(database, "a.db").text
    assert "| name | fee | scan |\n| --- | --- | --- |\n| Ana | 450.5 | (3 bytes) |\n| Ben | 3 |  |" in text
    assert 'In the database: CREATE TABLE "my fees"' in text
    assert "In the database: CREATE VIEW large" in text
    tables = read_content(database, "a.db").tables
    assert isinstance(tables, dict)
    assert tables["my fees"][1][:2] == ["Ana", 450.5]
    monkeypatch.setattr(data_files, "MOST_ROWS", 1)
    assert "Only the first 1 of 2 rows are shown" in read_document(database, "a.db").text


def test_a_parquet_file_is_a_table(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "a.parquet"
    duckdb.sql("SELECT 1 AS id, DATE '2026-05-01' AS day, 'Käse' AS item").write_parquet(str(path))
    assert "| 1 | 2026-05-01 | Käse |" in read_document(path.read_bytes(), "a.parquet").text


def test_a_notebook_shows_code_and_outputs_without_pictures() -> None:
    output = {
        "output_type": "display_data",
        "data": {"text/plain": ["450"], "image/png": "iVBORw0KGgo" * 500},
    }
    failed = {"output_type": "error", "ename": "ValueError", "evalue": "no rate", "traceback": ["long"]}
    cells = [
        {"cell_type": "markdown", "source": ["# Rates"]},
        {"cell_type": "code", "source": "rate()", "execution_count": 7, "outputs": [output, failed]},
        {"cell_type": "code", "source": "later()", "execution_count": None, "outputs": []},
    ]
    text = read_document(json.dumps({"cells": cells}).encode(), "a.ipynb").text
    assert text.startswith("# Rates\n\nCell 2, code, run as number 7:\n```\nrate()\n```")
    assert "450\n(A picture, image/png, is not shown.)" in text
    assert "ValueError: no rate" in text
    assert "Cell 3, code, not run:" in text
    assert "iVBOR" not in text
