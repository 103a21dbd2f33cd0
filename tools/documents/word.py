"""Word documents (.docx): headings, paragraphs, lists and tables in order, and what hangs on them.

That is headers and footers, watermarks, notes, fields of a form, text boxes, charts' data and formulas as one
line. `word_text` marks tracked changes, comments, and struck, hidden, raised or highlighted text.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import partial
from typing import Any
from zipfile import ZipFile

from forethought.tools.documents.archive import open_archive, parse_xml, properties
from forethought.tools.documents.document import Document, Section, joined, list_item
from forethought.tools.documents.drawings import chart_text, diagram_texts, not_shown
from forethought.tools.documents.tables import NUMBER, SAME_CELL, WIDEST_SPAN, Row, markdown_table
from forethought.tools.documents.word_numbers import Numbers, Styles, W, path, whole
from forethought.tools.documents.word_text import Texts

_STRICT = b"http://purl.oclc.org/ooxml/wordprocessingml/main"
"""The namespace of documents saved as 'Strict Open XML'."""
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_DROPPED = tuple(f"{W}{name}PrChange" for name in ("sect", "p", "r", "tbl", "tr", "tc"))
_BULLETS = "•◦▪●○■·– "
DEEPEST = 8


def read_docx(data: bytes) -> Document:
    """Headings, paragraphs, lists and tables in order, then footnotes, endnotes and properties."""
    with open_archive(data) as archive:
        word = _Word(archive)
        text = "\n\n".join(filter(None, [joined(word.blocks()), *word.texts.rest()])).strip()
        return Document((Section("\n\n".join(filter(None, [text, properties(archive, text)]))),))


def _part(archive: ZipFile, name: str) -> Any:
    """The root of a part, without duplicates and former formats; an empty one for a missing part.

    Its name is as a relationship has it: from the folder of the document, or from the root.
    """
    name = posixpath.normpath(posixpath.join("/word", name)).lstrip("/")
    if name not in archive.namelist():
        return parse_xml(b"<none/>")
    root = parse_xml(archive.read(name).replace(_STRICT, W[1:-1].encode()))
    for element in list(root.iter(_FALLBACK, *_DROPPED)):
        # A fallback repeats its neighbour for older programs.
        if element.tag != _FALLBACK or element.getprevious() is not None:
            element.getparent().remove(element)
    return root


def _inner(element: Any, *names: str) -> Iterator[Any]:
    """The topmost elements of these names below one, whatever wraps them, such as a form's field."""
    for child in element:
        if child.tag in names:
            yield child
        else:
            yield from _inner(child, *names)


class _Word:
    """A document on its way to Markdown: its lists are counted as its blocks come."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        name = min(name for name in archive.namelist() if re.fullmatch(r"word/document\d*\.xml", name))
        self._body = _part(archive, f"/{name}")
        self._styles = Styles(_part(archive, "styles.xml"))
        self._even_pages = _part(archive, "settings.xml").find(f"{W}evenAndOddHeaders") is not None
        self._targets = {
            each.get("Id"): each.get("Target", "")
            for each in _part(archive, f"_rels/{name.partition('/')[2]}.rels")
        }
        self._numbers = Numbers(_part(archive, "numbering.xml"))
        self.texts = Texts(partial(_part, archive), self._body, self._styles, self._targets)

    def blocks(self) -> Iterator[tuple[str, bool]]:
        """Each block and whether it is a list's item."""
        sections = iter(list(self._body.iter(f"{W}sectPr")))
        section = next(sections, None)
        yield from self._on_pages("header", section)
        for element in _inner(self._body, f"{W}p", f"{W}tbl"):
            yield from self._block(element)
            if section is not None and element.find(path("pPr", "sectPr")) is section:
                yield from self._on_pages("footer", section)
                section = next(sections, None)
                yield from self._on_pages("header", section)
        yield from self._on_pages("footer", section)
        yield not_shown(self._body), False

    def _block(self, element: Any) -> Iterator[tuple[str, bool]]:
        if element.tag == f"{W}tbl":
            yield markdown_table(self._rows(element)), False
            return
        yield self._paragraph(element)
        for diagram in element.iter("{*}relIds"):  # SmartArt
            data = _part(self._archive, self._targets.get(diagram.get(f"{_R}dm"), ""))
            yield from ((list_item(text, 0), True) for text in diagram_texts(data))
        for drawn in element.iter(f"{_C}chart"):
            chart = _part(self._archive, self._targets.get(drawn.get(f"{_R}id"), ""))
            yield chart_text(chart), False
        for box in _inner(element, f"{W}txbxContent"):
            for inside in _inner(box, f"{W}p", f"{W}tbl"):
                yield from self._block(inside)

    def _paragraph(self, paragraph: Any) -> tuple[str, bool]:
        """The paragraph and whether it is a list's item."""
        text = self.texts.of(paragraph).strip()
        label = self._label(paragraph, text)
        name, heading = self._styles.name(paragraph), self._styles.heading(paragraph)
        listed = self._styles.nearest(paragraph, "numPr", "numId") not in (None, "0")
        if not text:
            return "", False
        if heading:
            return f"{'#' * min(heading, 6)} {' '.join((label + text).split())}", False
        if not listed and name.partition(" ")[0] != "List":
            return text, False
        depth = whole(name.rpartition(" ")[2], 1) - 1
        depth = whole(self._styles.nearest(paragraph, "numPr", "ilvl"), depth)
        return list_item(label + " ".join(text.lstrip(_BULLETS).split()), min(depth, DEEPEST)), True

    def _label(self, paragraph: Any, text: str) -> str:
        """The label that Word counts for it, with a space. To be asked once, in the document's order."""
        list_id = self._styles.nearest(paragraph, "numPr", "numId")
        if list_id is None or not (text or paragraph.find(path("pPr", "sectPr")) is None):
            return ""  # an empty paragraph that ends a section is not counted
        level = self._styles.nearest(paragraph, "numPr", "ilvl")
        style_id = next((style.get(f"{W}styleId") for style in self._styles.chain(paragraph)), "")
        label = self._numbers.label(list_id, None if level is None else whole(level, 0), style_id)
        return f"{label} " if label else ""

    def _rows(self, table: Any) -> list[Row]:
        """The cells; texts that span several columns or rows are repeated in each, as `html_rows` does."""
        rows: list[Row] = []
        above: Row = []
        for tr in _inner(table, f"{W}tr"):
            row = [""] * _columns(tr, "trPr", "gridBefore", 0)
            for cell in _inner(tr, f"{W}tc"):
                merge = cell.find(path("tcPr", "vMerge"))
                goes_on = merge is not None and merge.get(f"{W}val") != "restart" and len(row) < len(above)
                text = above[len(row)] if goes_on else self._cell(cell)
                again = SAME_CELL if NUMBER.match(text) else text
                row += [again if goes_on else text, *[again] * (_columns(cell, "tcPr", "gridSpan", 1) - 1)]
            above = row
            if any(row):
                rows.append(row)
        return rows

    def _cell(self, cell: Any) -> str:
        texts = ((paragraph, self.texts.of(paragraph)) for paragraph in cell.iter(f"{W}p"))
        return " ".join(" ".join(self._label(paragraph, text) + text for paragraph, text in texts).split())

    def _on_pages(self, kind: str, section: Any) -> Iterator[tuple[str, bool]]:
        """The headers or footers of a section's pages, of its first page and of its even pages."""
        references = [] if section is None else section.findall(f"{W}{kind}Reference")
        by_pages = {each.get(f"{W}type", "default"): each.get(f"{_R}id") for each in references}
        shown = {
            "default": True,
            "first": section is not None and section.find(f"{W}titlePg") is not None,
            "even": self._even_pages,
        }
        for pages in (pages for pages in shown if shown[pages] and pages in by_pages):
            part = _part(self._archive, self._targets.get(by_pages[pages], ""))
            if text := self.texts.line(part):
                yield f"({kind.title()} of the pages: {text})", False
            for mark in part.iter("{urn:schemas-microsoft-com:vml}textpath"):
                yield f"(Watermark of the pages: {mark.get('string')})", False


def _columns(element: Any, properties: str, name: str, default: int) -> int:
    value = element.find(path(properties, name))
    return min(default if value is None else whole(value.get(f"{W}val"), default), WIDEST_SPAN)
