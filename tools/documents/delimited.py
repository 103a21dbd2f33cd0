"""Tables as text: CSV with any usual delimiter, and TSV. Cells stay as they are written."""

from __future__ import annotations

import csv
import io
from collections import Counter

from forethought.tools.documents.document import Document, Section
from forethought.tools.documents.plain import decode
from forethought.tools.documents.tables import titled_table

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_ROWS = 50
_LONGEST_CELL = 10_000_000
"""Characters; the csv module's own limit would refuse a long text in a cell."""


def read_delimited(data: bytes) -> Document:
    """A table, with title lines above it if there are any."""
    text, note = decode(data)
    csv.field_size_limit(_LONGEST_CELL)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)) if any(row)]
    width = max(map(len, rows), default=0)
    while width and not any(row[width - 1] for row in rows if len(row) == width):
        rows, width = [row[: width - 1] for row in rows], width - 1
    cells = [[cell.strip() for cell in row] for row in rows]
    return Document((Section(titled_table(cells)),), note=note)


def _delimiter(text: str) -> str:
    """The delimiter that gives every row, its header too, the most columns: '1,5;2,5' under 'a;b' is two."""
    lines = [line for line in text.splitlines()[: 2 * _SAMPLE_ROWS] if line.strip()][:_SAMPLE_ROWS]

    def score(delimiter: str) -> tuple[int, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        return (min(widths), Counter(widths).most_common(1)[0][0]) if widths else (0, 0)

    return max(_DELIMITERS, key=score)
