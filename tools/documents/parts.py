"""Long documents by part, cut between paragraphs and table rows.

A table that is cut repeats its header, and a section that goes on repeats its heading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from forethought.tools.documents.document import Document, Section
from forethought.tools.documents.tables import split_header

PART_CHARACTERS = 12_000
_MOST_CARRIED = 3
"""Headings and leads that go on to the next part, so that a list of headings is cut as any text is."""
_BREAKS = re.compile(r"\n|[.!?;]\s|\s|,")


@dataclass(frozen=True)
class Part:
    """A part of a document and the places (sheets, pages, slides) that it shows."""

    text: str
    places: tuple[str, ...]


def split(document: Document, limit: int = PART_CHARACTERS) -> list[Part]:
    """The document in parts of at most about `limit` characters; only white space may be lost at a cut."""
    filler = _Filler(limit)
    for section in document.sections:
        filler.begin(section)
        for block in section.text.split("\n\n"):
            if block.strip():
                filler.add(block.strip("\n"))
    return filler.finish()


@dataclass
class _Filler:
    """Fills part after part."""

    limit: int
    parts: list[Part] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    size: int = 0
    heading: str = ""
    place: str = ""

    @property
    def room(self) -> int:
        return self.limit - self.size - 2 * bool(self.blocks)

    def begin(self, section: Section) -> None:
        self.heading, self.place = section.heading, section.place
        # A heading at the very end of a part belongs to the next one.
        if self.blocks and self.room < max(len(section.heading) + len(section.text[:200]), self.limit // 20):
            self._flush(continued=False)
        if section.heading:
            self._put(section.heading)

    def add(self, block: str) -> None:
        """Add a paragraph or a table, cut where it does not fit."""
        if len(block) > self.room and len(block) <= self.limit * 3 // 4 and self.size > self.limit // 2:
            self._flush()
        if len(block) <= self.room:
            self._put(block)
        elif (table := split_header(block)) and len(table[0]) <= self.limit // 4:
            self._add_table(*table)
        else:
            self._add_text(block)

    def finish(self) -> list[Part]:
        if self.blocks:
            self._flush(continued=False)
        return self.parts

    def _add_table(self, header: str, rows: list[str]) -> None:
        taken: list[str] = []
        size = len(header)
        for row in rows:
            if size + 1 + len(row) > self.room and (taken or self.size > self.limit // 4):
                if taken:
                    self._put("\n".join([header, *taken]))
                self._flush()
                taken, size = [], len(header)
            if size + 1 + len(row) > self.room:  # one row longer than a part
                self._add_text(f"{header}\n{row}")
                continue
            taken.append(row)
            size += 1 + len(row)
        if taken:
            self._put("\n".join([header, *taken]))

    def _add_text(self, text: str) -> None:
        start = 0
        while start < len(text):
            if self.room < min(len(text) - start, self.limit // 4):
                self._flush()
            end = _boundary(text, start, start + max(self.room, 1))
            self._put(text[start:end].strip("\n"))
            start = end

    def _put(self, block: str) -> None:
        if not block.strip():
            return
        self.size += len(block) + 2 * bool(self.blocks)
        self.blocks.append(block)
        if self.place and self.place not in self.places[-1:]:
            self.places.append(self.place)

    def _flush(self, continued: bool = True) -> None:
        """End the part; a heading or table lead at its very end goes to the next one."""
        if not self.blocks:
            return
        carried: list[str] = []
        while continued and len(self.blocks) > 1 and len(carried) < _MOST_CARRIED and _leads(self.blocks[-1]):
            carried.insert(0, self.blocks.pop())
        self.parts.append(Part("\n\n".join(self.blocks), tuple(self.places)))
        self.blocks, self.places, self.size = [], [], 0
        if continued and self.heading and self.heading not in carried:
            self._put(f"{self.heading} (continued)")
        for block in carried:
            self._put(block)


def _leads(block: str) -> bool:
    return "\n" not in block and len(block) < 200 and (block.startswith("#") or block.endswith(":"))


def _boundary(text: str, start: int, end: int) -> int:
    """Where to cut text[start:end]: after the best break in its second half, else at `end`."""
    if end >= len(text):
        return len(text)
    half = start + (end - start) // 2
    breaks = [(m.group(), m.end()) for m in _BREAKS.finditer(text, half, end)]
    for kind in ("\n", ".!?;", " \t", ","):
        if at := [position for found, position in breaks if found[0] in kind]:
            return at[-1]
    return end
