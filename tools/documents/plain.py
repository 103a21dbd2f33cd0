"""Plain text (txt, md, json, xml, code, logs), tables as text (CSV with any usual delimiter, TSV), and the
decoding that all text formats share."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

from forethought.tools.documents.document import FORMATS, Document, Rows, Section, Unreadable
from forethought.tools.documents.encodings import guess_encoding
from forethought.tools.documents.tables import Row, titled_table
from forethought.tools.tables.numbers import Style, read_number

NOT_UTF8 = "The file is not UTF-8; it was read as {}, so that letters with accents may be wrong."
BROKEN_UTF8 = "The file is UTF-8 with bytes that are not; \ufffd replaces them."
# UTF-32 first: its mark begins with the mark of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MOST_CONTROL = 0.01
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)

_DELIMITERS = (",", ";", "\t", "|")
_SEPARATOR = re.compile(r"sep=(.)\n")
"""A first line that names the delimiter for Excel."""
_SAMPLE_ROWS = 50
LARGEST_TABLE = 5_000_000
"""Bytes."""
_STYLES: tuple[Style, Style] = ("point", "comma")
_COMMAS = "Numbers in it have decimal commas: 1.234,5 is 1234.5."
_FIGURES = re.compile("[-+]?[\\d.,' \u00a0\u202f]+")
"""A number without a unit."""
_PLAIN = re.compile(r"[-+]?\d+(?:\.\d+)?")
_CODE = re.compile(r"[-+]?0\d")
_SAMPLE_NUMBERS = 2000
"""Rows."""
_LONGEST_CELL = 10_000_000
"""Characters; the csv module's own limit would refuse a long text in a cell."""


def read_text(data: bytes) -> Document:
    """Text as written."""
    text, note = decode(data)
    return Document((Section(text.strip("\n")),), note=note)


def read_delimited(data: bytes) -> Document:
    """A table, with title lines above it if there are any; cells stay as they are written."""
    text, note = decode(data)
    if len(data) > LARGEST_TABLE:
        note = f"{note} The table is large: it is shown as its own text. Query it with sql.".strip()
        return Document((Section(text.strip("\n")),), note=note)
    rows = delimited_rows(text)
    note = f"{note} {_COMMAS}".strip() if _style(rows) == "comma" else note
    return Document((Section(titled_table(rows)),), note=note)


def delimited_numbers(text: str) -> Rows:
    """The rows, with numbers in columns whose numbers have decimal commas or commas between thousands."""
    if len(text) > LARGEST_TABLE:
        hint = "Use sql for it, or search_files; read_file shows it by part."
        raise Unreadable("is too large for a program", cause="limit", hint=hint)
    rows = delimited_rows(text)
    style = _style(rows)
    result: list[list[Any]] = [list(row) for row in rows]
    if style is None:
        return result
    for column in range(max(map(len, rows), default=0)):
        cells = [row[column] for row in rows[1:] if column < len(row) and row[column]]
        numbers = {
            cell for cell in cells if _FIGURES.fullmatch(cell) and read_number(cell, style) is not None
        }
        written = all(map(_PLAIN.fullmatch, numbers)) or any(map(_CODE.match, cells))
        if not written and sum(cell in numbers for cell in cells) * 2 > len(cells):
            for row in result[1:]:
                if column < len(row) and row[column] in numbers:
                    value = read_number(row[column], style) or Decimal()
                    row[column] = int(value) if value == value.to_integral() else float(value)
    return result


def _style(rows: Sequence[Row]) -> Style | None:
    """The decimal mark of a table; None if its cells do not tell, or disagree."""
    cells = (cell for row in rows[:_SAMPLE_NUMBERS] for cell in row)
    fits = [[read_number(cell, style) is not None for style in _STYLES] for cell in cells]
    point, comma = fits.count([True, False]), fits.count([False, True])
    return "point" if point > 20 * comma else "comma" if comma > 20 * point else None


def delimited_rows(text: str) -> list[Row]:
    """The rows that are not empty, their cells as they are written."""
    csv.field_size_limit(_LONGEST_CELL)
    declared = _SEPARATOR.match(text)
    delimiter = declared[1] if declared else delimiter_of(text)
    body = io.StringIO(text[declared.end() :] if declared else text, newline="")
    rows = [row for row in csv.reader(body, delimiter=delimiter) if any(row)]
    width = max(map(len, rows), default=0)
    while width and not any(row[width - 1] for row in rows if len(row) == width):
        rows, width = [row[: width - 1] for row in rows], width - 1
    return [[cell.strip() for cell in row] for row in rows]


def delimiter_of(text: str) -> str:
    """The delimiter that gives every row, its header too, the most columns: '1,5;2,5' under 'a;b' is two."""
    lines = [line for line in text.splitlines()[: 2 * _SAMPLE_ROWS] if line.strip()][:_SAMPLE_ROWS]

    def score(delimiter: str) -> tuple[int, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        return (min(widths), Counter(widths).most_common(1)[0][0]) if widths else (0, 0)

    return max(_DELIMITERS, key=score)


def decode(data: bytes, charset: str | None = None) -> tuple[str, str]:
    """The text of the bytes and a note on a guess that was made.

    The encoding is the first that fits of: the byte order mark's, or `charset` (a server's word); UTF-8; the
    declared one of a page or an XML file. If none fits, its letters decide. Raises Unreadable for other data.
    """
    mark = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    declared = _DECLARED.search(data[:4000]) if data[:1] == b"<" else None
    for encoding in (
        mark or charset or _wide(data),
        "utf-8",
        declared and declared[1].decode("ascii", "replace"),
    ):
        with suppress(LookupError, UnicodeError):
            if encoding:
                return _as_text(data.decode(encoding)), ""
    text = data.decode("utf-8", errors="replace")
    if text.count("\ufffd") * 10 < sum(character > "\x7f" for character in text):
        return _as_text(text), BROKEN_UTF8
    encoding = guess_encoding(data)
    return _as_text(data.decode(encoding, errors="replace")), NOT_UTF8.format(encoding)


def _wide(data: bytes) -> str | None:
    """The encoding of text with a zero byte beside each letter, or with Japanese escapes."""
    start = data[:1000]
    if start.count(0) * 5 > len(start) * 2:
        return "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"
    return "iso2022_jp" if b"\x1b$" in start else None


def _as_text(text: str) -> str:
    control = len(_CONTROL.findall(text)) + text.count("\ufffd")
    if "\0" in text or control > _MOST_CONTROL * len(text):
        raise Unreadable(
            f"is neither text nor a document in a supported format ({FORMATS})",
            hint="Ask the user for the document in one of these formats.",
        )
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
