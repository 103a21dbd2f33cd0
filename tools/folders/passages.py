"""A document as passages: paragraphs, table rows in groups, stretches of a log, each with its headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from forethought.tools.documents.document import Document, split_header, stretches

SIZE = 700
"""Characters up to which neighbouring paragraphs or rows are one passage."""
LONGEST = 1400
"""Characters from which a paragraph is cut."""
_HEADING = 160
_GAP = re.compile(r"\n{2,}")
_TITLE = re.compile(r"(#{1,6})\s+(.+)")


@dataclass(frozen=True)
class Passage:
    """A stretch of a document's text."""

    start: int
    stop: int
    line: int
    """Number of its first line in the text, from 1."""
    place: str
    """'page 212', 'sheet June'; '' for a document in one piece."""
    heading: str
    """The headings above it, and a table's header."""


def passages(document: Document) -> tuple[str, list[Passage]]:
    """The document's whole text, and the passages that it is made of, in order and without a gap."""
    whole, found = document.text, list[Passage]()
    start, line = 0, 1
    for section in document.sections:
        text = "\n\n".join(piece for piece in (section.heading, section.text) if piece)
        if not text:
            continue
        place = f"{document.unit} {section.place}" if document.unit and section.place else ""
        start = found[-1].stop if found else 0
        cuts = list(_cuts(text))
        for at, (begin, heading) in enumerate(cuts):
            end = cuts[at + 1][0] if at + 1 < len(cuts) else len(text) + 2  # with the gap after the section
            stop = min(start + end - begin, len(whole))
            found.append(Passage(start, stop, line, place, heading))
            line += whole.count("\n", start, stop)
            start = stop
    return whole, found


def _cuts(text: str) -> Iterator[tuple[int, str]]:
    """Where each passage of a section begins, and the headings above it. A heading begins a passage."""
    titles: dict[int, str] = {}
    begun: int | None = None
    """Where headings begin of which no text has come yet."""
    size = SIZE
    for start, block in _blocks(text):
        if title := _TITLE.match(block):
            level = len(title[1])
            titles = {depth: said for depth, said in titles.items() if depth < level}
            titles[level] = title[2].strip()[:_HEADING]
            begun = start if begun is None else begun
            continue
        heading = " > ".join(titles.values())
        header, rows = split_header(block) or ("", [])
        first = start if begun is None else begun
        if rows or len(block) > LONGEST:
            cut = _groups(start, header, rows) if rows else _parts(start, block)
            above = " > ".join(filter(None, (heading, _columns(header))))
            yield first, above
            yield from ((at, above) for at in cut)
            size = SIZE
        elif begun is not None or size + len(block) > SIZE:
            yield first, heading
            size = len(block)
        else:
            size += len(block)
        begun = None
    if begun is not None:
        yield begun, " > ".join(titles.values())


def _columns(header: str) -> str:
    """The names in a table's header."""
    return " ".join(re.sub(r"[|:-]+", " ", header).split())[:_HEADING]


def _parts(start: int, block: str) -> Iterator[int]:
    """Where the second and later parts of a long paragraph begin."""
    for piece in list(stretches(block, SIZE))[:-1]:
        start += len(piece)
        yield start


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs and tables of a text, each with the gap after it."""
    start = 0
    for gap in _GAP.finditer(text):
        yield start, text[start : gap.end()]
        start = gap.end()
    if start < len(text):
        yield start, text[start:]


def _groups(start: int, header: str, rows: list[str]) -> Iterator[int]:
    """Where the second and later groups of a table's rows begin."""
    at, size = start + len(header) + 1, len(header) + 1
    for number, row in enumerate(rows):
        if number and size + len(row) > SIZE:
            yield at
            size = 0
        size += len(row) + 1
        at += len(row) + 1
