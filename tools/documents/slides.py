"""Presentations (.pptx) through python-pptx: a section a slide, with its notes and comments."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from forethought.tools.documents.archive import open_archive, parse_xml, properties
from forethought.tools.documents.document import Document, Section, joined, list_item
from forethought.tools.documents.drawings import (
    M,
    alternative,
    chart_text,
    diagram_texts,
    formula,
    joined_chunks,
    not_shown,
)
from forethought.tools.documents.tables import NUMBER, SAME_CELL, markdown_table

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_COMMENT_TEXT = ("{http://schemas.openxmlformats.org/presentationml/2006/main}text", f"{_A}t")
_LONGEST_ITEM = 12
"""Words of a line that counts as a list's item; a longer one is prose."""


def read_pptx(data: bytes) -> Document:
    """A section a slide: title, text, tables, charts, notes, comments, and the number of pictures."""
    from pptx.package import Package

    # `pptx.Presentation` refuses slide shows (.ppsx) and templates for their type alone.
    package: Any = Package.open(io.BytesIO(data))
    slides = list(package.main_document_part.presentation.slides)
    size = package.main_document_part.presentation
    edges = (size.slide_width or 0, size.slide_height or 0)
    sections, everywhere = [], set[str]()
    for number, slide in enumerate(slides, 1):
        _unwrap(slide.element)
        hidden = ", hidden" if slide.element.get("show") in ("0", "false") else ""
        pieces = [
            *_new(slide, everywhere),
            joined(_blocks(slide, edges)),
            not_shown(slide.element),
            _speaker_notes(slide),
            _comments(slide),
        ]
        text = "\n\n".join(filter(None, pieces)) or "(This slide has no text.)"
        sections.append(Section(text, str(number), f"## Slide {number} of {len(slides)}{hidden}"))
    if sections and (about := properties(open_archive(data), "".join(section.text for section in sections))):
        sections[-1] = replace(sections[-1], text=f"{sections[-1].text}\n\n{about}")
    return Document(tuple(sections), unit="slide")


def _new(slide: Any, seen: set[str]) -> list[str]:
    """Texts of the slide's layout and master that no slide before had, such as 'Confidential'."""
    shapes = [
        shape for page in (slide.slide_layout, slide.slide_layout.slide_master) for shape in page.shapes
    ]
    texts = (" ".join(shape.text_frame.text.split()) for shape in shapes
             if shape.has_text_frame and not shape.is_placeholder)  # fmt: skip
    new = [text for text in dict.fromkeys(texts) if text and text not in seen]
    seen.update(new)
    return [f"(On every slide of this layout: {text})" for text in new]


def _blocks(slide: Any, edges: tuple[int, int]) -> Iterator[tuple[str, bool]]:
    """Each block from top to bottom, and whether it is a list's item."""
    title = slide.shapes.title
    for shape in sorted(_shapes(slide.shapes), key=lambda shape: (shape.top or 0, shape.left or 0)):
        mark = _unseen(shape, edges)
        if shape.has_table:
            yield markdown_table(_rows(shape.table, slide)), False
        elif shape.has_chart:
            yield chart_text(parse_xml(shape.chart.part.blob)), False
        elif shape.has_text_frame:
            is_title = title is not None and shape.element is title.element
            yield from _paragraphs(shape, slide, mark, is_title=is_title)
        for picture in shape.element.iter("{*}cNvPr"):
            yield alternative(picture), False
        for diagram in shape.element.iter("{*}relIds"):  # SmartArt
            data = slide.part.related_part(diagram.get(f"{_R}dm")).blob
            yield from ((list_item(text, 0), True) for text in diagram_texts(parse_xml(data)))


def _unseen(shape: Any, edges: tuple[int, int]) -> tuple[str, ...]:
    """The mark of a shape that no viewer of the slide sees."""
    if any(each.get("hidden") in ("1", "true") for each in shape.element.iter("{*}cNvPr")):
        return ("hidden text",)
    spans = ((shape.left or 0, shape.width or 0, edges[0]), (shape.top or 0, shape.height or 0, edges[1]))
    return ("hidden text, beside the slide",) if any(a >= e or a + size < 0 for a, size, e in spans) else ()


def _rows(table: Any, slide: Any) -> list[list[str]]:
    """The cells; one that is merged over several is repeated, a number is not."""
    rows = [[_cell_text(cell, slide) for cell in row.cells] for row in table.rows]
    for y, row in enumerate(table.rows):
        for x, cell in enumerate(row.cells):
            if cell.is_merge_origin:
                text = SAME_CELL if NUMBER.match(rows[y][x]) else rows[y][x]
                for down in range(y, y + cell.span_height):
                    for across in range(x, x + cell.span_width):
                        rows[down][across] = rows[y][x] if (down, across) == (y, x) else text
    return [row for row in rows if any(row)]


def _cell_text(cell: Any, slide: Any) -> str:
    return " ".join(" ".join(_text(paragraph._p, slide) for paragraph in cell.text_frame.paragraphs).split())


def _text(paragraph: Any, slide: Any, mark: tuple[str, ...] = ()) -> str:
    """A paragraph's text with what is struck, raised, highlighted or linked."""
    return joined_chunks((text, (*mark, *marks)) for text, marks in _chunks(paragraph, slide))


def _chunks(paragraph: Any, slide: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    for run in paragraph:
        if run.tag == f"{_A}br":
            yield "\n", ()
        if run.tag not in (f"{_A}r", f"{_A}fld"):
            continue
        text, looks = run.findtext(f"{_A}t") or "", run.find(f"{_A}rPr")
        if looks is None:
            yield text, ()
            continue
        marks = ["struck"] if looks.get("strike", "noStrike") != "noStrike" else []
        colour = looks.find(f"{_A}highlight")
        marks += [f"highlighted in #{each.get('val')}" for each in ([] if colour is None else colour)]
        marks += ["^"] if not looks.get("baseline", "0").startswith(("0", "-")) else []
        link = looks.find(f"{_A}hlinkClick")
        address = slide.part.rels.get(link.get(f"{_R}id")) if link is not None else None
        if address is not None and address.is_external and address.target_ref != text:
            text = text.replace(text.strip(), f"[{text.strip()}]({address.target_ref})")
        yield text, tuple(marks)


def _unwrap(slide: Any) -> None:
    """Put shapes and formulas that are there for newer programs where python-pptx looks for them."""
    for choice in list(slide.iter("{*}Choice")):
        for each in choice:
            choice.getparent().addprevious(each)
    for newer in list(slide.iter("{*}AlternateContent", "{*}contentPart")):  # and ink
        newer.getparent().remove(newer)
    for line in list(slide.iter(f"{M}oMath")):
        holder = next(each for each in line.iterancestors() if each.getparent().tag == f"{_A}p")
        run = holder.getparent().add_r()
        run.text = formula(line)
        holder.addprevious(run)


def _shapes(shapes: Any) -> Iterator[Any]:
    """The shapes, those of a group one by one."""
    for shape in shapes:
        inside = getattr(shape, "shapes", None)
        yield from [shape] if inside is None else _shapes(inside)


def _paragraphs(
    shape: Any, slide: Any, mark: tuple[str, ...], *, is_title: bool
) -> Iterator[tuple[str, bool]]:
    for paragraph in shape.text_frame.paragraphs:
        text, level = _text(paragraph._p, slide, mark).strip(), paragraph.level
        if not text:
            continue
        bullet = paragraph._p.find(f"{_A}pPr/{_A}buChar") is not None
        if is_title and not bullet:
            yield f"### {' '.join(text.split())}", False
            is_title = False
        elif bullet or len(text.split()) <= _LONGEST_ITEM:
            yield list_item(" ".join(text.split()), level), True
        else:
            yield text, False


def _speaker_notes(slide: Any) -> str:
    """The text of the notes page, which some programs keep in a plain text box; not its page number."""
    if not slide.has_notes_slide:
        return ""
    shapes = [shape for shape in slide.notes_slide.shapes if shape.has_text_frame and not _furniture(shape)]
    texts = [text for shape in shapes if (text := shape.text_frame.text.strip())]
    return "Speaker notes: " + "\n".join(texts) if texts else ""


def _furniture(shape: Any) -> bool:
    """Whether it is the header, footer, date or number of a page."""
    from pptx.enum.shapes import PP_PLACEHOLDER as KIND

    furniture = (KIND.HEADER, KIND.FOOTER, KIND.DATE, KIND.SLIDE_NUMBER)
    return bool(shape.is_placeholder) and shape.placeholder_format.type in furniture


def _comments(slide: Any) -> str:
    """Remarks of reviewers, which PowerPoint keeps in two forms: old, and threaded."""
    parts = [rel.target_part for rel in slide.part.rels.values() if rel.reltype.endswith("/comments")]
    notes: list[str] = []
    for part in parts:
        for comment in parse_xml(part.blob).iter("{*}cm", "{*}reply"):
            own = (e for child in comment if not child.tag.endswith("}replyLst") for e in child.iter())
            text = "".join(e.text or "" for e in own if e.tag in _COMMENT_TEXT)
            notes.append(f"- {' '.join(text.split())}")
    return "\n".join(["Comments:", *notes]) if notes else ""
