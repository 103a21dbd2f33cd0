"""Texts and presentations of OpenDocument (.odt, .odp), as LibreOffice writes them.

OASIS OpenDocument 1.3, part 3. Tracked changes, comments, notes, hidden and struck text are marked as in Word
documents (`word_text`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

from forethought.tools.documents.archive import open_archive, parse_xml
from forethought.tools.documents.document import Document, Section, joined, list_item
from forethought.tools.documents.drawings import Chunk, joined_chunks
from forethought.tools.documents.tables import NUMBER, SAME_CELL, WIDEST_SPAN, markdown_table

_NS = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
T, _TABLE, _DRAW, _OFFICE, _STYLE, _FO = (
    _NS % name for name in ("text", "table", "drawing", "office", "style", "xsl-fo-compatible")
)
_HREF = "{http://www.w3.org/1999/xlink}href"
_ELSEWHERE = (f"{T}tracked-changes", f"{T}note", f"{_OFFICE}forms")


def read_odt(data: bytes) -> Document:
    """Headings, paragraphs, lists and tables in order, then the notes."""
    with open_archive(data) as archive:
        text = _Odf(archive)
        (body,) = text.root.iter(f"{_OFFICE}text")
        around = [
            f"({kind.title()} of the pages: {words})"
            for kind in ("header", "footer")
            for words in text.margin(kind)
        ]
        return Document(
            (Section("\n\n".join(filter(None, [*around, joined(text.blocks(body)), text.rest()]))),)
        )


def read_odp(data: bytes) -> Document:
    """A section a slide, with its notes and comments."""
    with open_archive(data) as archive:
        text = _Odf(archive)
        pages = list(text.root.iter(f"{_DRAW}page"))
        sections = []
        for number, page in enumerate(pages, 1):
            notes = page.find("{*}notes")
            pieces = [joined(text.blocks(page))]
            if notes is not None:
                page.remove(notes)
                spoken = joined(text.blocks(notes))
                pieces = [joined(text.blocks(page)), f"Speaker notes: {spoken}" if spoken else ""]
            hidden = ", hidden" if text.looks(page).get("visibility") == "hidden" else ""
            shown = "\n\n".join(filter(None, [*pieces, text.rest()])) or "(This slide has no text.)"
            sections.append(Section(shown, str(number), f"## Slide {number} of {len(pages)}{hidden}"))
        return Document(tuple(sections), unit="slide")


class _Odf:
    """A document on its way to Markdown."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self.root = parse_xml(archive.read("content.xml"))
        self._pages = parse_xml(archive.read("styles.xml")) if "styles.xml" in archive.namelist() else None
        roots = [self.root, *([] if self._pages is None else [self._pages])]
        self._styles = {
            each.get(f"{_STYLE}name"): each for root in roots for each in root.iter(f"{_STYLE}style")
        }
        self._changes = {each.get(f"{T}id"): each for each in self.root.iter(f"{T}changed-region")}
        self._ends = {each.get(f"{_OFFICE}name") for each in self.root.iter(f"{_OFFICE}annotation-end")}
        self._open: dict[str | None, Any] = {}
        self._inserted: list[str] = []
        self._notes: dict[str, list[str]] = {"footnote": [], "endnote": []}
        self._list_depth = 0

    def rest(self) -> str:
        """The notes since the last call, as lists with a title."""
        lists = [
            "\n".join([f"{kind.title()}s:", *(f"- [{kind} {n}] {text}" for n, text in enumerate(texts, 1))])
            for kind, texts in self._notes.items()
            if texts
        ]
        return "\n\n".join(lists)

    def margin(self, kind: str) -> Iterator[str]:
        """The texts of the pages' headers or footers."""
        for element in () if self._pages is None else self._pages.iter(f"{_STYLE}{kind}"):
            if words := " ".join(self.text(each) for each in element.iter(f"{T}p", f"{T}h")).strip():
                yield words

    def blocks(self, element: Any) -> Iterator[tuple[str, bool]]:
        """Each block below an element, and whether it is a list's item."""
        for child in element:
            if child.tag == f"{T}h":
                level = min(int(child.get(f"{T}outline-level", "1")), 6)
                yield f"{'#' * level} {self.text(child)}".rstrip("# "), False
            elif child.tag == f"{T}p":
                text = self.text(child)
                in_list = self._list_depth > 0
                yield (
                    (list_item(" ".join(text.split()), self._list_depth - 1), True)
                    if in_list and text
                    else (text, False)
                )
                for frame in child.iter(f"{_DRAW}text-box", f"{_DRAW}object"):
                    yield from self._frame(frame)
            elif child.tag == f"{T}list":
                self._list_depth += 1
                yield from self.blocks(child)
                self._list_depth -= 1
            elif child.tag == f"{_TABLE}table":
                yield markdown_table(self._rows(child)), False
            elif child.tag in (f"{_DRAW}text-box", f"{_DRAW}object"):
                yield from self._frame(child)
            elif str(child.tag).endswith("}annotation"):
                yield self._remark(child), False
            elif child.tag not in _ELSEWHERE and isinstance(child.tag, str):
                yield from self.blocks(child)

    def _frame(self, frame: Any) -> Iterator[tuple[str, bool]]:
        """The text of a box, or the data of a chart, which is a table in an object of its own."""
        name = f"{(frame.get(_HREF) or '').removeprefix('./')}/content.xml"
        if frame.tag == f"{_DRAW}text-box":
            yield from self.blocks(frame)
        elif name in self._archive.namelist():
            for table in parse_xml(self._archive.read(name)).iter(f"{_TABLE}table"):
                yield f"Chart\n\n{markdown_table(self._rows(table))}", False

    def _rows(self, table: Any) -> list[list[str]]:
        """The cells; texts over several columns are repeated, numbers are not."""
        rows = []
        for tr in table.iter(f"{_TABLE}table-row"):
            row: list[str] = []
            for cell in (
                each for each in tr if each.tag in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
            ):
                text = " ".join(filter(None, (self.text(each) for each in cell.iter(f"{T}p", f"{T}h"))))
                spans = int(cell.get(f"{_TABLE}number-columns-spanned", "1")) - 1
                times = int(cell.get(f"{_TABLE}number-columns-repeated", "1"))
                if cell.tag.endswith("}covered-table-cell") and not text:
                    continue
                again = SAME_CELL if NUMBER.match(text) else text
                row += [text] * min(times, WIDEST_SPAN) + [again] * min(spans, WIDEST_SPAN)
            if any(row):
                rows.append(row)
        return rows

    def text(self, element: Any) -> str:
        """The text of a paragraph with its marks."""
        return joined_chunks(self._chunks(element, self._marks(element))).strip()

    def _chunks(self, element: Any, marks: tuple[str, ...]) -> Iterator[Chunk]:
        own = (*marks, *self._inserted)
        yield element.text or "", own
        for child in element:
            yield from self._child(child, marks)
            yield child.tail or "", (*marks, *self._inserted)

    def _child(self, child: Any, marks: tuple[str, ...]) -> Iterator[Chunk]:
        name = str(child.tag).rpartition("}")[2]
        now = (*marks, *self._inserted)
        if name == "s":
            yield " " * min(int(child.get(f"{T}c", "1")), 100), now
        elif name in ("tab", "line-break"):
            yield "\t" if name == "tab" else "\n", now
        elif name == "note":
            kind = child.get(f"{T}note-class", "footnote")
            body = child.find(f"{T}note-body")
            words = (
                " ".join(self.text(each) for each in body.iter(f"{T}p", f"{T}h")) if body is not None else ""
            )
            self._notes[kind].append(words)
            yield f"[{kind} {len(self._notes[kind])}]", now
        elif name in ("annotation", "annotation-end"):
            remark = child.get(f"{_OFFICE}name")
            if name == "annotation" and remark in self._ends:  # it is written at the end of its passage
                self._open[remark] = child
            else:
                yield f" {self._remark(self._open.get(remark, child))}", ()
        elif name in ("change", "change-start", "change-end"):
            yield from self._change(child, name, marks)
        elif name == "hidden-text":
            yield child.get(f"{T}string-value") or "".join(child.itertext()), (*now, "hidden text")
        elif name == "a" and (address := child.get(_HREF) or "").startswith(("http", "mailto:")):
            yield f"[{''.join(child.itertext())}]({address})", now
        elif name in ("title", "desc"):
            yield f"[picture: {' '.join(''.join(child.itertext()).split())}]", ()
        elif name not in ("text-box", "object", "tracked-changes") and isinstance(child.tag, str):
            yield from self._chunks(child, (*marks, *self._marks(child)))

    def _change(self, point: Any, name: str, marks: tuple[str, ...]) -> Iterator[Chunk]:
        region = self._changes.get(point.get(f"{T}change-id"))
        if region is None:
            return
        author = "".join(region.iter("{http://purl.org/dc/elements/1.1/}creator").__next__().itertext())
        if name == "change-start":
            self._inserted.append(f"inserted by {author}")
        elif name == "change-end" and self._inserted:
            self._inserted.pop()
        for deleted in region.iter(f"{T}deletion") if name == "change" else ():
            words = " ".join(self.text(each) for each in deleted.iter(f"{T}p", f"{T}h"))
            yield words, (*marks, f"deleted by {author}")

    def _remark(self, note: Any) -> str:
        """A comment with its author and the passage that it is on."""
        name = note.get(f"{_OFFICE}name")
        passage, on = "", False
        for each in note.getroottree().iter() if name else ():
            if each is note:
                on = True
            elif on and each.tag == f"{_OFFICE}annotation-end" and each.get(f"{_OFFICE}name") == name:
                break
            passage += (each.tail or "") if on else ""
        words = " ".join(self.text(each) for each in note.iter(f"{T}p", f"{T}h"))
        author = "".join(note.findtext("{http://purl.org/dc/elements/1.1/}creator") or "")
        about = f" on '{' '.join(passage.split())}'" if passage.strip() and on else ""
        return f"[comment{about}{f' by {author}' if author else ''}: {words}]" if words else ""

    def looks(self, element: Any) -> dict[str, str]:
        """The properties of an element's style and of those that this is based on."""
        found: dict[str, str] = {}
        name = next((value for key, value in element.items() if key.endswith("}style-name")), None)
        for _ in range(20):
            style = self._styles.get(name)
            if style is None:
                break
            for each in style.iter():
                for key, value in each.items():
                    found.setdefault(key.rpartition("}")[2], value)
            name = style.get(f"{_STYLE}parent-style-name")
        return found

    def _marks(self, element: Any) -> tuple[str, ...]:
        looks = self.looks(element)
        marks = ["hidden text"] if looks.get("display") == "none" else []
        if looks.get("text-line-through-style", "none") != "none":
            marks.append("struck")
        if (colour := looks.get("background-color", "transparent")) not in (
            "transparent",
            "#ffffff",
        ) and element.tag == f"{T}span":
            marks.append(f"highlighted in {colour}")
        if looks.get("text-position", "").startswith("super"):
            marks.append("^")
        return tuple(marks)
