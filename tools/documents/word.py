"""Word documents (.docx) through `unstructured`; footnotes and comments, which it omits, from the file."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

from forethought.tools.documents.archive import parse_xml
from forethought.tools.documents.document import Document, Section
from forethought.tools.documents.unstructured import markdown, partitioner
from forethought.tools.documents.word_markup import settled

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_GAPS = tuple(_W + name for name in ("p", "tab", "br", "cr"))
_APART = {"footnotes": "Footnotes", "endnotes": "Endnotes", "comments": "Comments"}


def read_docx(data: bytes) -> Document:
    """Headings, paragraphs, lists and tables in order, then footnotes, endnotes and comments."""
    data = settled(data)
    elements = partitioner("docx").partition_docx(
        file=io.BytesIO(data), languages=[""], include_page_breaks=False
    )
    pieces = [markdown(elements), *_apart(data)]
    return Document((Section("\n\n".join(filter(None, pieces))),))


def _apart(data: bytes) -> Iterator[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = set(archive.namelist())
        for part, title in _APART.items():
            if f"word/{part}.xml" not in members:
                continue
            root = parse_xml(archive.read(f"word/{part}.xml"))
            texts = (" ".join("".join(map(_piece, note.iter())).split()) for note in root)
            if notes := [f"- {text}" for text in texts if text]:
                yield "\n".join([f"{title}:", *notes])


def _piece(element: Any) -> str:
    """What an element of a note adds to its text: words, or what stands between them."""
    if element.tag == f"{_W}t":
        return element.text or ""
    return " " if element.tag in _GAPS else ""
