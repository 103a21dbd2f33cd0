from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.tools.tables.columns import conversion_of
from forethought.tools.tables.numbers import Style, numbers_in, read_date, read_number, readings

duckdb = pytest.importorskip("duckdb")
AMOUNTS = st.decimals(min_value=-(10**9), max_value=10**9, places=2)
UNITS = st.sampled_from(["", "EUR ", "$", "€ "])


def written(amount: Decimal, style: Style) -> str:
    """The amount with thousands separators, as people write it."""
    text = f"{amount:,.2f}"
    return text if style == "point" else text.translate(str.maketrans(".,", ",."))


@given(AMOUNTS, UNITS, st.sampled_from(["point", "comma"]))
def test_a_number_is_read_as_it_was_written(amount: Decimal, unit: str, style: Style) -> None:
    text = unit + written(amount, style)
    assert read_number(text, style) == amount
    assert amount in readings(text)
    assert abs(amount) in numbers_in(f"The total of {text} is due.")


@given(st.lists(AMOUNTS, min_size=3, max_size=20), UNITS, st.sampled_from(["point", "comma"]))
def test_duckdb_reads_a_column_as_python_does(amounts: list[Decimal], unit: str, style: Style) -> None:
    texts = [unit + written(amount, style) for amount in amounts]
    how = conversion_of([*texts, unit + written(Decimal("1234567.89"), style)])
    with duckdb.connect() as base:
        base.execute("CREATE TABLE t (c VARCHAR)")
        base.executemany("INSERT INTO t VALUES (?)", [[text] for text in texts])
        found = [row[0] for row in base.execute(f"SELECT {how.sql.replace('@c', 'c')} FROM t").fetchall()]
    assert found == pytest.approx([float(amount) for amount in amounts])


@given(st.text(max_size=30))
def test_any_text_can_be_asked_for_numbers(text: str) -> None:
    assert all(value.is_finite() for value in readings(text) | numbers_in(text))
    read_date(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [("(12)", -12), ("5-", -5), ("1e3", 1000), ("1'234.50", "1234.5"), ("1 234,5", "1234.5"), ("−3", -3)],
)
def test_other_forms_of_numbers(text: str, value: str | int) -> None:
    assert readings(text) == {Decimal(value)}


@pytest.mark.parametrize("text", ["n/a", "1,23,4", "12 pieces of 3", "", "1_000", "0x1F", "nan"])
def test_what_is_no_number(text: str) -> None:
    assert readings(text) == set()


def test_a_point_before_three_digits_can_be_either_mark() -> None:
    assert readings("1.234") == {Decimal("1.234"), Decimal(1234)}
    assert {Decimal("1.234"), Decimal(1234)} <= numbers_in("costs 1.234 in all")


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-11-28", date(2026, 11, 28)),
        ("28.11.2026", date(2026, 11, 28)),
        ("28/11/2026 10:30", date(2026, 11, 28)),
        ("3 March 2026", date(2026, 3, 3)),
        ("2026-11-28T10:00:00Z", date(2026, 11, 28)),
        ("03/04/2026", None),
        ("soon", None),
    ],
)
def test_days(text: str, day: date | None) -> None:
    assert read_date(text) == day
