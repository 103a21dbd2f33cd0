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
_ROWS, _OF_LAST = 40, 8
_LAST = 2
"""The place of rows without a yes."""
_QUOTE = 100
_RESERVED = frozenset(
    """all and any as asc case cast check column constraint create cross default desc distinct do else end
    except false for foreign from full group having in inner into is join left like limit not null offset on
    only or order primary references right select some table then to true union unique using when where
    with""".split()  # noqa: SIM905
)
"""Words of SQL that cannot be the name of a column."""


def table_of(fields: Sequence[FieldSpec], rows: Sequence[Row]) -> list[list[Any]]:
    """The rows as a table with a header: values, then status, reason, quotes and places."""
    names = _columns(fields)
    header = ["file", *names, "status", "why"]
    header += [f"{name}_{part}" for name in names for part in ("quote", "place")]
    table: list[list[Any]] = [header]
    for row in rows:
        values = [row.values.get(spec.name) for spec in fields]
        proofs = [text for value in values for text in ((value.quote, value.place) if value else ("", ""))]
        table.append(
            [row.name, *(value.value if value else None for value in values), row.status, row.why, *proofs]
        )
    return table


def _columns(fields: Sequence[FieldSpec]) -> list[str]:
    """The names of the fields as columns: `end_` for a word of SQL or another column's name."""
    taken = {
        "file",
        "status",
        "why",
        *(f"{spec.name}_{part}" for spec in fields for part in ("quote", "place")),
    }
    return [
        f"{spec.name}_" if spec.name.lower() in _RESERVED or spec.name.lower() in taken else spec.name
        for spec in fields
    ]


def summary(reading: Reading, rows: Sequence[Row], table: str, room: int) -> str:
    """The observation's text, at most about `room` characters."""
    lines = [*_head(reading, rows), *(_field_line(spec, rows) for spec in reading.fields)]
    for status in ("doubtful", "unreadable", "failed"):
        lines += _named(status, [row for row in rows if row.status == status])
    columns = _columns(reading.fields)
    lines.append(
        f"Table {table}. Columns: file, {', '.join(columns)}, status, why, and of each field its quote and"
        f" place, such as {columns[0]}_quote."
    )
    lines.append("Rows, those with yes first:")
    ordered = sorted(rows, key=lambda row: _matters(row, reading.fields))
    most = min(_ROWS, sum(_matters(row, reading.fields) < _LAST for row in rows) + _OF_LAST)
    for shown, row in enumerate(ordered):
        line = one_line(f"- {row.name}: {_values(row, reading.fields)}", 300)
        if shown == most or sum(map(len, lines)) + len(line) > room // 2:
            lines.append(f"{how_many(len(rows) - shown, 'more row')} in the table.")
            break
        lines.append(line)
    return "\n".join(lines)


def _matters(row: Row, fields: Sequence[FieldSpec]) -> int:
    """The order of a row: those with yes, with other values, with no."""
    said = [
        row.values[spec.name].value for spec in fields if spec.type == "yes_no" and spec.name in row.values
    ]
    return 0 if "yes" in said else _LAST if "no" in said else 1


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
        few = len(counts) <= _VALUES
        told = (
            ", ".join(f"{value} {count}" for value, count in counts)
            if few
            else f"{len(counts)} different values"
        )
    return f"{spec.name}: {told or 'no values'}" + (f", not stated {missing}" if missing else "")


def _named(status: str, rows: Sequence[Row]) -> Iterator[str]:
    if rows:
        listed = "; ".join(f"{row.name} ({one_line(row.why, 120)})" for row in rows[:_NAMED])
        more = f"; and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
        yield f"{status.capitalize()}: {listed}{more}"


def _values(row: Row, fields: Sequence[FieldSpec]) -> str:
    """The values that are stated, a status that is not ok, and the first quote of a value that is no text."""
    told = [
        f"{key} {one_line(value.value, _LONGEST_VALUE)}"
        for key, value in row.values.items()
        if value.value is not None
    ]
    told += [row.status] if row.status != "ok" else []
    values = (row.values.get(spec.name) for spec in fields if spec.type != "text" or len(fields) == 1)
    proof = next((value for value in values if value and value.quote), None)
    return ", ".join(told) + (f' "{one_line(proof.quote, _QUOTE)}", {proof.place}' if proof else "")
