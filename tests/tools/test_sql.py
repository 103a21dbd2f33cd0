from __future__ import annotations

import io
import json
import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from docx import Document
from openpyxl import Workbook

from forethought.settings import Settings
from forethought.tools.base import Observation, ToolEnv
from forethought.tools.call import call_tool
from forethought.tools.each.store import ReadingStore
from forethought.tools.files import FileStore
from forethought.tools.python import PYTHON
from forethought.tools.registry import offered, toolbox
from forethought.tools.sql import SQL

duckdb = pytest.importorskip("duckdb")
EXPORT = (
    b"Export of today;;;\nid;amount;day;zip\n1;1.204,50;28.11.2026;01234\n2;12,00;03.01.2026;10115\n"
    b"3;n/a;;20000\n" + b"".join(b"%d;%d,25;13.06.2026;12345\n" % (n, n) for n in range(4, 40))
)


@pytest.fixture
def env(tmp_path: Path, settings: Callable[..., Settings]) -> Callable[..., ToolEnv]:
    def make(**contents: bytes) -> ToolEnv:
        store = FileStore(tmp_path / "blobs")
        named = {name.replace("__", "/").replace("_", "."): data for name, data in contents.items()}
        return ToolEnv(settings(), files={name: store.put(data) for name, data in named.items()}, store=store)

    return make


async def ask(env: ToolEnv, query: str) -> Observation:
    return await call_tool(SQL, {"query": query}, env)


def database() -> bytes:
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE customers (id INTEGER, name TEXT)")
    base.executemany("INSERT INTO customers VALUES (?, ?)", [(1, "Ada"), (2, None)])
    base.commit()
    return bytes(base.serialize())


def workbook() -> bytes:
    book = Workbook()
    for title in ("June", "May 2026"):
        sheet = book.create_sheet(title)
        sheet.append(["Item", "Price"])
        sheet.append(["Tea", 1.234])
        sheet.append(["Cake", 2])
    del book["Sheet"]
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def letter() -> bytes:
    document, out = Document(), io.BytesIO()
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(
        [*table.rows[0].cells, *table.rows[1].cells], ["Who", "Owes", "Ada", "3,50"], strict=True
    ):
        cell.text = text
    document.save(out)
    return out.getvalue()


def parquet(folder: Path) -> bytes:
    duckdb.execute(f"COPY (SELECT 1 AS a, date '2026-01-02' AS d) TO '{folder / 'x.parquet'}'")
    return (folder / "x.parquet").read_bytes()


@pytest.mark.parametrize(
    ("query", "result"),
    [
        ("SELECT sum(amount), min(day), max(zip) FROM \"orders.csv\"", "1999.5 | 2026-01-03 | 20000"),
        ("SELECT count(*) FROM orders_csv WHERE amount IS NULL", "1"),
        ("SELECT amount_text FROM 'orders.csv' WHERE id = 3", "n/a"),
        ("SELECT name FROM shop_db_customers WHERE id = 1", "Ada"),
        ("SELECT Price FROM book_xlsx_june WHERE Item = 'Tea'", "1.234"),
        ("SELECT sum(Price) FROM book_xlsx_may_2026", "3.234"),
        ("SELECT Owes FROM letter_docx WHERE Who = 'Ada'", "3.5"),
        ("SELECT d + 1 FROM x_parquet", "2026-01-03"),
        ("SELECT b FROM 'lines.jsonl' WHERE a = 2", "y"),
        ("WITH t AS (FROM orders_csv) SELECT count(*) FROM t;", "39"),
    ],
)  # fmt: skip
async def test_tables_of_every_kind(env: Any, tmp_path: Path, query: str, result: str) -> None:
    made = env(
        orders_csv=EXPORT, shop_db=database(), book_xlsx=workbook(), letter_docx=letter(),
        x_parquet=parquet(tmp_path), lines_jsonl=b'{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n',
    )  # fmt: skip
    observation = await ask(made, query)
    assert observation.ok, observation
    assert observation.text.splitlines()[2] == result


async def test_values_that_are_no_numbers_are_reported(env: Any) -> None:
    observation = await ask(env(orders_csv=EXPORT), "SELECT 1 FROM orders_csv LIMIT 1")
    assert "1 of 39 values are not numbers: 'n/a'" in observation.text
    assert observation.origin == "file:orders.csv"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["007", "123"], "VARCHAR"),
        (["1", "2.5"], "DOUBLE"),
        (["03/04/2026", "05/06/2026"], "VARCHAR"),
        (["13/04/2026", "05/06/2026"], "DATE"),
        (["2026-01-02 10:00", "2026-01-03"], "TIMESTAMP"),
        (["true", "FALSE"], "BOOLEAN"),
        (["1", "x", "2", "y"], "VARCHAR"),
        (["1_000", "2_000"], "VARCHAR"),
        (["12 %", "3 %"], "DOUBLE"),
        ([" 5 ", "6"], "BIGINT"),
    ],
)
async def test_types_of_columns(env: Any, values: list[str], kind: str) -> None:
    made = env(t_csv="\n".join(["v;w", *(f"{value};" for value in values)]).encode())
    assert f"v | {kind}" in (await ask(made, "DESCRIBE t_csv")).text


async def test_a_decimal_after_many_whole_numbers_is_not_rounded(env: Any) -> None:
    rows = b"".join(b"%d\n" % n for n in range(5_001)) + b"0.5\n"
    assert "12502500.5" in (await ask(env(t_csv=b"v\n" + rows), "SELECT sum(v) FROM t_csv")).text


async def test_an_ambiguous_point_is_said(env: Any) -> None:
    observation = await ask(env(t_csv=b"v,w\n1.234,a\n5.678,b\n"), "SELECT sum(v) FROM t_csv")
    assert "6.912" in observation.text
    assert "'1.234' is read as 1.234" in observation.text


@pytest.mark.parametrize(
    "content",
    [
        b'a,b\n1,"x\ny"\n2,z\n', b"a,b\n1,2\n3,4,5\n2,z\n", "a;b\n1;\xfc\n2;z\n".encode("latin-1"),
        b"\xef\xbb\xbfa,b\n1,2\n2,z\n",
    ],
)  # fmt: skip
async def test_odd_files_lose_no_row(env: Any, content: bytes) -> None:
    observation = await ask(env(t_csv=content), "SELECT a, b FROM t_csv WHERE b = 'z'")
    assert "2 | z" in observation.text, observation


async def test_files_that_match_a_pattern_are_one_table(env: Any) -> None:
    made = env(a__one_csv=b"x;y\n1,5;2\n", a__two_csv=b"x;z\n2,5;7\n", b__three_csv=b"x\n100\n")
    observation = await ask(made, 'SELECT file, sum(x) FROM "a/*.csv" GROUP BY ALL ORDER BY 1')
    assert observation.text.splitlines()[2:4] == ["a/one.csv | 1.5", "a/two.csv | 2.5"]


async def test_a_pattern_of_files_with_several_tables_is_refused_with_their_names(env: Any) -> None:
    result = await ask(env(book_xlsx=workbook()), 'SELECT * FROM "*.xlsx"')
    assert not result.ok
    assert "book_xlsx_june" in result.hint


async def test_names_that_differ_in_case_alone_are_told_apart(env: Any) -> None:
    both = env(Orders_csv=b"id,v\n1,2\n", orders_csv=b"id,v\n3,4\n")
    result = await ask(both, 'SELECT v FROM "orders.csv"')
    assert result.text.startswith("1 row:\nv\n4\n")
    assert "Orders.csv" in result.text


@pytest.mark.parametrize(
    "query",
    [
        "DROP TABLE t_csv", "INSERT INTO t_csv VALUES (1)", "SELECT 1; SELECT 2", "COPY t_csv TO 'x.csv'",
        "ATTACH 'x.db'", "SET threads = 9", "INSTALL httpfs", "PRAGMA database_size", "SELECT FROM",
        "SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM read_csv('http://127.0.0.1/x.csv')",
        "SELECT * FROM '/etc/passwd'", "SELECT * FROM glob('/*')",
    ],
)  # fmt: skip
async def test_a_query_only_reads_its_tables(env: Any, query: str) -> None:
    observation = await ask(env(t_csv=b"a\n1\n"), query)
    assert not observation.ok
    assert "root:" not in observation.text
    assert observation.cause == "arguments"


async def test_errors_list_the_tables(env: Any) -> None:
    made = env(orders_csv=EXPORT, letter_docx=letter())
    missing = await ask(made, "SELECT * FROM nope")
    assert "orders_csv(id BIGINT, amount DOUBLE" in missing.hint
    column = await ask(made, "SELECT nope FROM orders_csv")
    assert "orders_csv(id BIGINT" in column.hint


async def test_a_query_is_stopped_after_its_time(env: Any, settings: Callable[..., Settings]) -> None:
    made = replace(env(t_csv=b"a\n1\n"), settings=settings(reader_seconds=2))
    began = time.monotonic()
    observation = await ask(made, "SELECT count(*) FROM range(10000000000) a, range(1000) b")
    assert observation.cause == "timeout"
    assert time.monotonic() - began < 15, "generous, for a slow machine"


async def test_long_results_say_what_is_missing(env: Any) -> None:
    observation = await ask(env(t_csv=b"a\n" + b"12345678\n" * 5_000), "SELECT * FROM t_csv")
    assert observation.partial
    assert observation.text.startswith("more than 1,000 rows")


async def test_rows_of_readings_are_tables(env: Any) -> None:
    made = env(t_csv=b"a\n1\n")
    store = ReadingStore(made.store)
    store.keep_table("rows_0123abcd", [["file", "total"], ["a.eml", 3], ["b.eml", 4.5]])
    store.close()
    query = "SELECT sum(total) FROM complaints"
    assert not (await ask(made, query)).ok, "the thread has made no such table"
    assert "7.5" in (await ask(replace(made, tables={"complaints": "rows_0123abcd"}), query)).text


async def test_a_million_rows(env: Any) -> None:
    lines = (
        b"%d,C%05d,2026-%02d-11,%d.%02d\n" % (n, n % 5000, n % 12 + 1, n % 977, n % 100)
        for n in range(1_000_000)
    )
    made = env(big_csv=b"id,customer,day,amount\n" + b"".join(lines))
    began = time.monotonic()
    observation = await ask(
        made, "SELECT customer, sum(amount) FROM big_csv GROUP BY 1 ORDER BY 2 DESC LIMIT 3"
    )
    assert observation.ok, observation
    assert time.monotonic() - began < 30, "generous, for a machine that does other things"


async def test_code_that_cannot_hold_a_table_is_pointed_to_sql(
    env: Any, settings: Callable[..., Settings]
) -> None:
    made = env(big_csv=b"a,b,c\n" + b"some text,more text,1\n" * 200_000)
    made = replace(made, settings=settings(python_memory_mb=16), offered={"sql": SQL})
    observation = await call_tool(PYTHON, {"code": "len(tables['big.csv'])"}, made)
    assert observation.cause == "limit"
    assert "sql" in observation.hint


def test_sql_is_offered_for_large_tables_and_databases(settings: Callable[..., Settings]) -> None:
    tools = toolbox(settings())
    small: Any = {"name": "a.csv", "size": 1000, "hash": "", "type": "text/csv"}
    assert "sql" not in offered(tools, [small])
    assert "sql" in offered(tools, [{**small, "size": 40_000_000}])
    assert "sql" in offered(tools, [{**small, "name": "shop.sqlite"}])
    assert "sql" in offered(tools, [small] * 10)
    assert json.dumps(SQL.arguments.model_json_schema())
