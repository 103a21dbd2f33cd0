"""Files as Markdown: a document has sections, and each section knows its place in the file.

A long document is shown by part, cut between paragraphs and table rows. A table that is cut repeats its
header, and a section that is cut repeats its heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from forethought.text import number_ranges

FORMATS = (
    "txt, md, html, xml, csv, tsv, json, eml, msg, mbox, ics, vcf, xlsx, xls, ods, docx, odt, rtf, "
    "pptx, pdf, epub, ipynb, sqlite, parquet, zip, tar, gz"
)
"""The readable formats, for messages."""
PART_HINT = "Ask the user for the part that matters, as a file of its own."
"""The hint for a document that is too large."""
EMPTY_SHEET = "(This sheet is empty.)"
_OWN_MARK = re.compile(r"\(?[\dA-Za-z]{1,4}[.)]\s|\*")


class Unreadable(Exception):
    """A file's content cannot be read. `what` completes a sentence that begins with the file's name."""

    def __init__(self, what: str, *, hint: str = "", cause: str = "tool") -> None:
        super().__init__(what)
        self.what, self.hint, self.cause = what, hint, cause


@dataclass(frozen=True)
class Section:
    """A sheet, page, slide or chapter, or a document that has none of these."""

    text: str
    """Markdown without the heading; paragraphs and tables are separated by an empty line."""
    place: str = ""
    """A sheet's name, or a page's, slide's or chapter's number."""
    heading: str = ""
    """A Markdown heading. If the section is cut, each part repeats it."""


@dataclass(frozen=True)
class Document:
    """A document's text."""

    sections: tuple[Section, ...]
    unit: str = ""
    """The kind of a section: sheet, page, slide, chapter, or '' for a document that is one piece."""
    note: str = ""
    """A remark for the reader, for example if the name of the file promises another kind."""

    @property
    def text(self) -> str:
        """The whole text."""
        return "\n\n".join(piece for s in self.sections for piece in (s.heading, s.text) if piece)

    def where(self, places: Sequence[str]) -> str:
        """These places in words: 'sheets: June, May', 'pages 2-4 of 12'; '' for a document in one piece."""
        if not self.unit or not places:
            return ""
        plural = self.unit + ("s" if len(places) > 1 else "")
        if self.unit == "sheet":
            return f"{plural}: {', '.join(places)}"
        return f"{plural} {number_ranges(map(int, places))} of {len(self.sections)}"


Rows = list[list[Any]]
"""A table's rows: texts, and in a workbook numbers and truth values."""


@dataclass(frozen=True)
class Content:
    """A file as a program gets it."""

    text: str
    """Of a text format its own text, else the document's Markdown."""
    tables: Rows | dict[str, Rows]
    """The rows of CSV and TSV; of a workbook the rows by sheet, hidden ones too; of any other document its
    tables by number, from '1'."""


@dataclass(frozen=True)
class Member:
    """A file in a file."""

    name: str
    """With the name of the file that holds it."""
    data: bytes
    reason: str = ""
    """Why it was not taken out, and there is no data."""
    size: int | None = None
    about: str = ""


def list_item(text: str, depth: int) -> str:
    """A list's item in Markdown; one that begins with a mark of its own keeps it."""
    return "  " * depth + (text if _OWN_MARK.match(text) else f"- {text}")


def joined(blocks: Iterable[tuple[str, bool]]) -> str:
    """Markdown of blocks, empty ones left out; each says whether it is a list's item."""
    pieces: list[str] = []
    listing = False
    for text, item in blocks:
        if text:
            pieces.append(("\n" if listing and item else "\n\n") + text)
            listing = item
    return "".join(pieces).strip("\n")


@dataclass(frozen=True)
class Part:
    """A part of a document and the places (sheets, pages, slides) that it shows."""

    text: str
    places: tuple[str, ...]


@dataclass(frozen=True)
class _Piece:
    """A piece that is not cut: a short paragraph with its heading, a table's row, a part of a long text."""

    text: str
    joint: str = "\n\n"
    """Between the piece before and this one."""
    lead: str = ""
    """Before this one if it begins a part: its table's header."""


def split(document: Document, limit: int) -> list[Part]:
    """The document in parts of at most about `limit` characters; only white space may be lost at a cut."""
    parts: list[Part] = []
    text = ""
    places: list[str] = []
    for section in document.sections:
        repeated = f"{section.heading} (continued)\n\n" if section.heading else ""
        for number, piece in enumerate(_pieces(section, limit)):
            if text and len(text) + len(piece.joint) + len(piece.text) > limit:
                parts.append(Part(text.strip("\n"), tuple(places)))
                text, places = "", []
            if text:
                text += piece.joint + piece.text
            else:
                text = (repeated if number else "") + piece.lead + piece.text
            if section.place and section.place not in places[-1:]:
                places.append(section.place)
    return [*parts, Part(text.strip("\n"), tuple(places))] if text.strip() else parts


def stretches(text: str, size: int) -> Iterator[str]:
    """The text in stretches of at most `size` characters, cut after the last line, sentence or word that ends
    in the second half; joined, they are the text.
    """
    start = 0
    while len(text) - start > size:
        half, end = start + size // 2, start + size
        cuts = (text.rfind(mark, half, end) + len(mark) for mark in ("\n", ". ", " "))
        cut = next((cut for cut in cuts if cut > half), end)
        yield text[start:cut]
        start = cut
    yield text[start:]


def _pieces(section: Section, limit: int) -> Iterator[_Piece]:
    """The section's pieces, its heading joined to the first one."""
    prefix = f"{section.heading}\n\n" if section.heading else ""
    for block in section.text.split("\n\n"):
        for piece in _cut(block.strip("\n"), limit) if block.strip() else ():
            yield _Piece(prefix + piece.text, piece.joint, piece.lead)
            prefix = ""


def _cut(block: str, limit: int) -> Iterator[_Piece]:
    """A paragraph or a table, cut if it is long."""
    header, rows = split_header(block) or ("", [])
    if not rows or len(header) > limit // 4:
        yield from _cut_text(block, limit)
        return
    begun = False
    for row in rows:
        whole = f"{header}\n{row}"
        if len(whole) > limit // 2:  # one row as long as a part
            yield from _cut_text(whole, limit)
            begun = False
        else:
            yield _Piece(row, "\n", f"{header}\n") if begun else _Piece(whole)
            begun = True


def _cut_text(text: str, limit: int) -> Iterator[_Piece]:
    size = max(limit // 4, 1) if len(text) > limit // 2 else limit
    for number, stretch in enumerate(stretches(text, size)):
        yield _Piece(stretch, "" if number else "\n\n")


def split_header(block: str) -> tuple[str, list[str]] | None:
    """The two header lines of a Markdown table and its rows; None when the block is no table."""
    first, _, rest = block.partition("\n")
    second, _, body = rest.partition("\n")
    if "|" not in first or "|" not in second or "-" not in second or set(second.strip()) - set(" :|-"):
        return None
    return f"{first}\n{second}", body.split("\n") if body else []
