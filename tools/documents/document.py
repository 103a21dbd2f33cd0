"""What a reader makes of a file: Markdown in sections, each of which knows its place in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

FORMATS = "txt, md, html, xml, csv, tsv, json, eml, xlsx, xls, docx, pptx, pdf, epub, zip"
"""What can be read, in words."""
PART_HINT = "Ask the user for the part that matters, as a file of its own."
"""What to do about a document that is too large."""


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
    """A Markdown heading, repeated where the section goes on in a next part."""


@dataclass(frozen=True)
class Document:
    """A document's text."""

    sections: tuple[Section, ...]
    unit: str = ""
    """What a section is: sheet, page, slide, chapter, or '' for a document that is one piece."""
    note: str = ""
    """What the reader of the text should know, such as that the file is not what its name says."""

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
        return f"{plural} {ranges([int(place) for place in places])} of {len(self.sections)}"


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers in short: [1, 2, 3, 7] is '1-3, 7'."""
    breaks = [i for i, (a, b) in enumerate(pairwise(numbers), 1) if b != a + 1]
    groups = [numbers[a:b] for a, b in pairwise([0, *breaks, len(numbers)])]
    return ", ".join(f"{g[0]}-{g[-1]}" if len(g) > 1 else f"{g[0]}" for g in groups if g)
