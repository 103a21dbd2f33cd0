"""Long documents by part, cut between paragraphs and table rows.

A table that is cut repeats its header, and a section that goes on repeats its heading.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forethought.tools.documents.document import Document, Section
from forethought.tools.documents.tables import split_header

PART_CHARACTERS = 12_000


@dataclass(frozen=True)
class Part:
    """A part of a document and the places (sheets, pages, slides) that it shows."""

    text: str
    places: tuple[str, ...]


@dataclass(frozen=True)
class _Piece:
    """What is not cut: a short paragraph with its heading, a table's row, a stretch of a long text."""

    text: str
    joint: str = "\n\n"
    """Between the piece before and this one."""
    lead: str = ""
    """Before this one where it begins a part: its table's header."""


def split(document: Document, limit: int = PART_CHARACTERS) -> list[Part]:
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
    """A paragraph or a table, cut where it is long."""
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
