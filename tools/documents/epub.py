"""E-books (.epub): the chapters in reading order, each through the reader of web pages."""

from __future__ import annotations

import posixpath
from typing import Any
from urllib.parse import unquote
from zipfile import ZipFile

from forethought.tools.documents.archive import check_document, open_archive, parse_xml
from forethought.tools.documents.document import Document, Section, Unreadable
from forethought.tools.documents.html import read_html

_CONTAINER = "META-INF/container.xml"


def read_epub(data: bytes) -> Document:
    """A section a chapter, with title and authors before the first. Raises Unreadable."""
    with open_archive(data) as archive:
        check_document(archive)
        book = _package(archive)
        root, folder = parse_xml(archive.read(book)), posixpath.dirname(book)
        chapters = [chapter for path in _spine(root, folder) if (chapter := _chapter(archive, path))]
    if not chapters:
        raise Unreadable("has no chapter with text", cause="empty", hint="Ask the user for another format.")
    about = _about(root)
    sections = [
        Section(text, str(number), f"## Chapter {number} of {len(chapters)}")
        for number, text in enumerate(chapters, 1)
    ]
    return Document(tuple(sections), unit="chapter", note=about)


def _package(archive: ZipFile) -> str:
    if _CONTAINER not in archive.namelist():
        raise Unreadable(
            "is no e-book: its table of files is missing", hint="Ask the user for the file again."
        )
    for element in parse_xml(archive.read(_CONTAINER)).iter("{*}rootfile"):
        if path := element.get("full-path"):
            return str(path)
    raise Unreadable("is no e-book: it names no book", hint="Ask the user for the file again.")


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


def _chapter(archive: ZipFile, path: str) -> str:
    try:
        data = archive.read(path)
    except KeyError:
        return ""
    return read_html(data).text


def _about(root: Any) -> str:
    title, author = (
        ", ".join(" ".join((e.text or "").split()) for e in root.iter(f"{{*}}{name}") if e.text)
        for name in ("title", "creator")
    )
    return f"E-book: {title}{f' by {author}' if author else ''}." if title else ""
