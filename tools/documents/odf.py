"""Texts and presentations of OpenDocument (.odt, .odp), with the marks that `word_text` writes.

OASIS OpenDocument 1.3, part 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

from forethought.tools.documents.archive import open_archive, parse_xml
from forethought.tools.documents.document import Document, Section, joined, list_item
from forethought.tools.documents.drawings import Chunk, joined_chunks
from forethought.tools.documents.tables import NUMBER, SAME_CELL, WIDEST_SPAN, markdown_table

_SILENT = ("tracked-changes", "forms", "sequence-decls", "note-citation", "creator", "date", "style")


def read_odt(data: bytes) -> Document:
    """Headers and footers, headings, paragraphs, lists and tables in order, then the notes."""
    with open_archive(data) as archive:
        odf = _Odf(archive)
        pages = [f"({_name(each).title()} of the pages: {odf.text(each)})" for each in odf.pages if len(each)]
        pieces = [*pages, joined(odf.blocks(next(odf.root.iter("{*}body")))), odf.notes()]
        return Document((Section("\n\n".join(filter(None, pieces))),))


def read_odp(data: bytes) -> Document:
    """A section a slide, with its notes and comments."""
    with open_archive(data) as archive:
        odf = _Odf(archive)
        pages, sections = list(odf.root.iter("{*}page")), []
        for number, page in enumerate(pages, 1):
            spoken = "".join(joined(odf.blocks(notes)) for notes in page.findall("{*}notes"))
            for notes in page.findall("{*}notes"):
                page.remove(notes)
            pieces = [joined(odf.blocks(page)), f"Speaker notes: {spoken}" if spoken else ""]
            hidden = ", hidden" if odf.looks(page).get("visibility") == "hidden" else ""
            text = "\n\n".join(filter(None, pieces)) or "(This slide has no text.)"
            sections.append(Section(text, str(number), f"## Slide {number} of {len(pages)}{hidden}"))
        return Document(tuple(sections), unit="slide")


class _Odf:
    """A document on its way to Markdown."""

    def __init__(self, archive: ZipFile) -> None:
        self.root = parse_xml(archive.read("content.xml"))
        styles = parse_xml(archive.read("styles.xml")) if "styles.xml" in archive.namelist() else self.root
        self.pages = list(styles.iter("{*}header", "{*}footer"))
        self._styles = {
            _get(each, "name"): each for root in (self.root, styles) for each in root.iter("{*}style")
        }
        self._changes = {_get(each, "id"): each for each in self.root.iter("{*}changed-region")}
        self._ends = {_get(each, "name") for each in self.root.iter("{*}annotation-end")}
        self._open: dict[str, tuple[Any, list[str]]] = {}
        """Comments by name, with their passages, while these go on."""
        self._inserted: tuple[str, ...] = ()
        self._notes: dict[str, list[str]] = {"footnote": [], "endnote": []}

    def notes(self) -> str:
        """The notes as lists with a title."""
        return "\n\n".join(
            "\n".join([f"{kind.title()}s:", *(f"- [{kind} {n}] {text}" for n, text in enumerate(texts, 1))])
            for kind, texts in self._notes.items()
            if texts
        )

    def blocks(self, element: Any, depth: int = -1) -> Iterator[tuple[str, bool]]:
        """Each block below an element, and whether it is a list's item."""
        for child in element:
            name = _name(child)
            if name == "h":
                yield (
                    f"{'#' * min(int(_get(child, 'outline-level') or 1), 6)} {self.text(child)}".rstrip("# "),
                    False,
                )
            elif name == "p":
                text = self.text(child)
                listed = bool(text) and depth >= 0
                yield (list_item(" ".join(text.split()), depth) if listed else text), listed
                for box in child.iter("{*}text-box"):
                    yield from self.blocks(box)
            elif name == "table":
                yield markdown_table(self._rows(child)), False
            elif name == "annotation":
                yield self._remark(child, ""), False
            elif name not in _SILENT:
                yield from self.blocks(child, depth + (name == "list"))

    def _rows(self, table: Any) -> list[list[str]]:
        """The cells; texts over several columns are repeated, numbers are not."""
        rows = []
        for tr in table.iter("{*}table-row"):
            row: list[str] = []
            for cell in tr.iter("{*}table-cell"):
                text = " ".join(filter(None, (self.text(each) for each in cell.iter("{*}p", "{*}h"))))
                times = min(int(_get(cell, "number-columns-repeated") or 1), WIDEST_SPAN)
                spans = min(int(_get(cell, "number-columns-spanned") or 1), WIDEST_SPAN)
                row += [text] * times + [SAME_CELL if NUMBER.match(text) else text] * (spans - 1)
            rows += [row] if any(row) else []
        return rows

    def text(self, element: Any) -> str:
        """The text of a paragraph with its marks."""
        return joined_chunks(self._chunks(element, ())).strip()

    def _chunks(self, element: Any, marks: tuple[str, ...]) -> Iterator[Chunk]:
        marks = (*marks, *self._marks(element))
        yield self._plain(element.text), (*marks, *self._inserted)
        for child in element:
            name = _name(child)
            if name in ("s", "tab", "line-break"):
                yield {"s": " " * min(int(_get(child, "c") or 1), 100), "tab": "\t"}.get(name, "\n"), marks
            elif name == "note":
                texts = self._notes[_get(child, "note-class") or "footnote"]
                texts.append(" ".join(self.text(each) for each in child.iter("{*}p")))
                yield f"[{_get(child, 'note-class')} {len(texts)}]", marks
            elif name == "annotation" and _get(child, "name") in self._ends:
                self._open[_get(child, "name")] = child, []
            elif name in ("annotation", "annotation-end"):
                remark, passage = self._open.pop(_get(child, "name"), (child, []))
                yield f" {self._remark(remark, ' '.join(''.join(passage).split()))}", ()
            elif name in ("change", "change-start", "change-end"):
                yield from self._change(child, name, marks)
            elif name == "hidden-text":
                yield _get(child, "string-value"), (*marks, "hidden text")
            elif name in ("title", "desc"):
                yield f"[picture: {self.text(child)}]", ()
            elif name == "a" and _get(child, "href").startswith("http"):
                yield f"[{self.text(child)}]({_get(child, 'href')})", marks
            elif name not in ("text-box", *_SILENT):
                yield from self._chunks(child, marks)
            yield self._plain(child.tail), (*marks, *self._inserted)

    def _plain(self, text: str | None) -> str:
        for _, passage in self._open.values():
            passage.append(text or "")
        return text or ""

    def _change(self, point: Any, name: str, marks: tuple[str, ...]) -> Iterator[Chunk]:
        region = self._changes.get(_get(point, "change-id"))
        author = "" if region is None else "".join(e.text or "" for e in region.iter("{*}creator"))
        if name != "change":
            self._inserted = (f"inserted by {author}",) if name == "change-start" else ()
        elif region is not None:
            words = " ".join(
                self.text(p) for deleted in region.iter("{*}deletion") for p in deleted.iter("{*}p", "{*}h")
            )
            yield words, (*marks, f"deleted by {author}")

    def _remark(self, note: Any, passage: str) -> str:
        author = "".join(each.text or "" for each in note.iter("{*}creator"))
        about = f" on '{passage}'" if passage else ""
        words = " ".join(self.text(each) for each in note.iter("{*}p"))
        return f"[comment{about}{f' by {author}' if author else ''}: {words}]"

    def looks(self, element: Any) -> dict[str, str]:
        """The properties of an element's style and of those that this is based on."""
        found: dict[str, str] = {}
        style = self._styles.get(_get(element, "style-name"))
        for _ in range(20):
            if style is None:
                break
            for key, value in (item for each in style.iter() for item in each.items()):
                found.setdefault(key.rpartition("}")[2], value)
            style = self._styles.get(_get(style, "parent-style-name"))
        return found

    def _marks(self, element: Any) -> Iterator[str]:
        looks = self.looks(element)
        if looks.get("display") == "none":
            yield "hidden text"
        if looks.get("text-line-through-style", "none") != "none":
            yield "struck"
        if looks.get("text-position", "").startswith("super"):
            yield "^"


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _get(element: Any, name: str) -> str:
    """An attribute, whatever its namespace; '' for none."""
    return next((value for key, value in element.items() if key.rpartition("}")[2] == name), "")
