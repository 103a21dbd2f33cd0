"""What only `unstructured` reads, with other programs: old and open formats.

It has LibreOffice convert .doc and .ppt, and pandoc (with `pip install pypandoc`) .odt and .rtf. It is pinned
to its last release without spaCy and numba. The advisory on that one (CVE-2026-71428) is about addresses that
it fetches; here it gets bytes only. It would download data that splits sentences, by which it tells prose
from titles; a plain function stands in for that.
"""

from __future__ import annotations

import io
import os
from importlib import import_module
from typing import Any

from forethought.tools.documents.document import Document, Section, Unreadable, joined, list_item
from forethought.tools.documents.tables import html_rows, markdown_table

SAVE_AS = {
    "doc": ".docx", "ppt": ".pptx", "odt": ".docx", "rtf": ".docx", "msg": ".eml",
    "ods": ".xlsx", "odp": ".pptx", "xlsb": ".xlsx",
}  # fmt: skip
"""What to ask for where a kind cannot be read."""
KINDS = ("doc", "ppt", "odt", "rtf")
_QUIET = {
    "SCARF_NO_ANALYTICS": "true", "DO_NOT_TRACK": "true", "AUTO_DOWNLOAD_NLTK": "false",
}  # fmt: skip
_STYLED = ("doc", "odt")
"""Kinds whose titles are marked as such; in others they are guessed."""


def cannot_be_read(kind: str) -> Unreadable:
    """Says what to do about a file of this kind."""
    hint = f"Ask the user to save it as {SAVE_AS[kind]} or PDF."
    return Unreadable(f"is a .{kind} file, which cannot be read", hint=hint)


def read_rare(kind: str, data: bytes) -> Document:
    """A file of one of the kinds. Raises Unreadable where it takes a program that is not there."""
    os.environ.update(_QUIET)  # read when unstructured is imported
    try:
        tokenize: Any = import_module("unstructured.nlp.tokenize")
        tokenize._sent_tokenize = lambda text: [text]
        tokenize._word_tokenize = str.split
        tokenize._pos_tag = lambda words: []
        partition = getattr(import_module(f"unstructured.partition.{kind}"), f"partition_{kind}")
        elements = partition(file=io.BytesIO(data), languages=[""])
    except (ImportError, OSError) as error:  # no pypandoc, no LibreOffice, no pandoc
        raise cannot_be_read(kind) from error
    return Document((Section(joined(_block(element, kind in _STYLED) for element in elements)),))


def _block(element: Any, styled: bool) -> tuple[str, bool]:
    """An element as Markdown, and whether it is a list's item."""
    kind, depth, text = element.category, element.metadata.category_depth or 0, str(element.text).strip()
    if kind == "Table" and element.metadata.text_as_html:
        from bs4 import BeautifulSoup

        return markdown_table(html_rows(BeautifulSoup(element.metadata.text_as_html, "lxml"))), False
    if kind == "Title" and styled:
        return f"{'#' * min(depth + 1, 6)} {' '.join(text.split())}", False
    return (list_item(" ".join(text.split()), depth), True) if kind == "ListItem" else (text, False)
