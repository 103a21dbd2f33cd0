"""E-books (.epub): the chapters in reading order, each through the reader of web pages."""

from __future__ import annotations

import posixpath
from typing import Any
from urllib.parse import unquote

from forethought.tools.documents.archive import open_archive, parse_xml
from forethought.tools.documents.document import Document, Section, Unreadable
from forethought.tools.documents.html import read_html


def read_epub(data: bytes) -> Document:
    """A section a chapter, and a note of title and authors. Raises Unreadable."""
    with open_archive(data) as archive:
        container = parse_xml(archive.read("META-INF/container.xml"))
        book = next(iter(container.iter("{*}rootfile"))).get("full-path")
        root, names = parse_xml(archive.read(book)), set(archive.namelist())
        pages = [archive.read(path) for path in _spine(root, posixpath.dirname(book)) if path in names]
    chapters = [text for page in pages if (text := read_html(page).text)]
    if not chapters:
        raise Unreadable("has no chapter with text", cause="empty", hint="Ask the user for another format.")
    sections = [
        Section(text, str(number), f"## Chapter {number} of {len(chapters)}")
        for number, text in enumerate(chapters, 1)
    ]
    return Document(tuple(sections), unit="chapter", note=_about(root))


def _spine(root: Any, folder: str) -> list[str]:
    """Names of the chapters' members, in order, each once: a book that names one a thousand times means harm.
    They are looked up in the archive only, never on a disk.
    """
    items = {
        item.get("id"): posixpath.normpath(posixpath.join(folder, unquote(item.get("href") or "")))
        for item in root.iter("{*}item")
    }
    refs = (ref.get("idref") for ref in root.iter("{*}itemref"))
    return list(dict.fromkeys(items[ref] for ref in refs if ref in items))


def _about(root: Any) -> str:
    title, author = (
        ", ".join(" ".join((e.text or "").split()) for e in root.iter(f"{{*}}{name}") if e.text)
        for name in ("title", "creator")
    )
    return f"E-book: {title}{f' by {author}' if author else ''}." if title else ""
