"""The observation of a reading: counts, sums, doubts, the first rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from forethought.text import how_many, one_line
from forethought.tools.each.fields import FieldSpec, Row
from forethought.tools.each.reading import Reading

_NAMED = 20
"""Files that a list names."""
_VALUES, _LONGEST_VALUE = 12, 60
_FIRST_ROWS = 10


def table_of(fields: Sequence[FieldSpec], rows: Sequence[Row]) -> list[list[Any]]:
    """The rows as a table with a header: values, then status, reason, quotes and places."""
    header = ["file", *(spec.name for spec in fields), "status", "why"]
    header += [f"{spec.name}_{part}" for spec in fields for part in ("quote", "place")]
    table: list[list[Any]] = [header]
    for row in rows:
        values = [row.values.get(spec.name) for spec in fields]
        proofs = [text for value in values for text in ((value.quote, value.place) if value else ("", ""))]
        table.append(
            [row.name, *(value.value if value else None for value in values), row.status, row.why, *proofs]
        )
    return table


def summary(reading: Reading, rows: Sequence[Row], table: str, room: int) -> str:
    """The observation's text, at most about `room` characters."""
    lines = [*_head(reading, rows), *(_field_line(spec, rows) for spec in reading.fields)]
    for status in ("doubtful", "unreadable", "failed"):
        lines += _named(status, [row for row in rows if row.status == status])
    columns = ", ".join(table_of(reading.fields, [])[0])
    lines.append(
        f"All rows: tables['{table}'] in python, {table} in sql (if you have it). Columns: {columns}."
    )
    lines.append("First rows:")
    for row in rows[:_FIRST_ROWS]:
        line = one_line(f"- {row.name}: {_values(row)} ({row.status})", 400)
        if sum(map(len, lines)) + len(line) > room:
            break
        lines.append(line)
    return "\n".join(lines)


def _head(reading: Reading, rows: Sequence[Row]) -> Iterator[str]:
    counts = Counter(row.status for row in rows)
    told = ", ".join(f"{counts[status]} {status}" for status in ("ok", "doubtful", "unreadable", "failed"))
    yield f"{how_many(len(rows), 'file')}: {told}."
    if reading.over:
        yield f"The reading stopped early: {reading.over}. The same call goes on with the missing files."
    if reading.compared:
        share = 1 - reading.agreed / reading.compared
        rate = f", so about {share:.0%} of the rows may be wrong" if share else ""
        yield f"Second reading of {how_many(reading.compared, 'row')}: {reading.agreed} agree{rate}."


def _field_line(spec: FieldSpec, rows: Sequence[Row]) -> str:
    values = [value.value for row in rows if (value := row.values.get(spec.name)) and value.value is not None]
    missing = sum(row.status in ("ok", "doubtful") for row in rows) - len(values)
    if spec.type == "number" and values:
        numbers = [Decimal(str(value)) for value in values]
        figures = {"sum": sum(numbers), "smallest": min(numbers), "largest": max(numbers)}
        told = (
            ", ".join(f"{name} {number:,f}" for name, number in figures.items()) + f", {len(numbers)} values"
        )
    elif spec.type == "date" and values:
        told = f"from {min(map(str, values))} to {max(map(str, values))}, {len(values)} values"
    else:
        counts = Counter(one_line(value, _LONGEST_VALUE) for value in values).most_common()
        told = ", ".join(f"{value} {count}" for value, count in counts[:_VALUES])
        told += f" and {len(counts) - _VALUES} other values" if len(counts) > _VALUES else ""
    return f"{spec.name}: {told or 'no values'}" + (f", not stated {missing}" if missing else "")


def _named(status: str, rows: Sequence[Row]) -> Iterator[str]:
    if rows:
        listed = "; ".join(f"{row.name} ({one_line(row.why, 120)})" for row in rows[:_NAMED])
        more = f"; and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
        yield f"{status.capitalize()}: {listed}{more}"


def _values(row: Row) -> str:
    return ", ".join(
        f"{key} {'not stated' if value.value is None else value.value}"
        + (f' "{one_line(value.quote, 80)}", {value.place}' if value.quote else "")
        for key, value in row.values.items()
    )
