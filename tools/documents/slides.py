"""Presentations (.pptx) through python-pptx: a section a slide, with its notes and comments."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from forethought.tools.documents.archive import open_archive, parse_xml, properties
from forethought.tools.documents.document import Document, Section, joined, list_item
from forethought.tools.documents.drawings import (
    Chunk,
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
    sections = []
    for number, slide in enumerate(slides, 1):
        _unwrap(slide.element)
        hidden = ", hidden" if slide.element.get("show") in ("0", "false") else ""
        shown = [joined(_blocks(slide, edges)), not_shown(slide.element)]
        pieces = [*shown, _speaker_notes(slide), _comments(slide)]
        text = "\n\n".join(filter(None, pieces)) or "(This slide has no text.)"
        sections.append(Section(text, str(number), f"## Slide {number} of {len(slides)}{hidden}"))
    if sections and (about := properties(open_archive(data), "".join(section.text for section in sections))):
        sections[-1] = replace(sections[-1], text=f"{sections[-1].text}\n\n{about}")
    return Document(tuple(sections), unit="slide")


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
    rows: list[list[str]] = []
    for row in table.rows:
        rows.append([])
        for x, cell in enumerate(row.cells):
            if cell.is_spanned:  # by the one on its left, or else by the one above it
                text = rows[-1][x - 1] if cell._tc.get("hMerge") else rows[-2][x]
                rows[-1].append(SAME_CELL if NUMBER.match(text) else text)
            else:
                texts = (_text(paragraph._p, slide) for paragraph in cell.text_frame.paragraphs)
                rows[-1].append(" ".join(" ".join(texts).split()))
    return [row for row in rows if any(row)]


def _text(paragraph: Any, slide: Any, mark: tuple[str, ...] = ()) -> str:
    """A paragraph's text with its marks: struck, raised, highlighted, linked."""
    runs = (run for run in paragraph if run.tag in (f"{_A}r", f"{_A}fld", f"{_A}br"))
    return joined_chunks(_chunk(run, slide, mark) for run in runs)


def _chunk(run: Any, slide: Any, mark: tuple[str, ...]) -> Chunk:
    text, looks = run.findtext(f"{_A}t") or "", run.find(f"{_A}rPr")
    if looks is None or run.tag == f"{_A}br":
        return "\n" if run.tag == f"{_A}br" else text, mark
    marks = ["struck"] if looks.get("strike", "noStrike") != "noStrike" else []
    marks += [f"highlighted in #{each.get('val')}" for each in looks.iterfind(f"{_A}highlight/*")]
    marks += ["^"] if not looks.get("baseline", "0").startswith(("0", "-")) else []
    for link in looks.iterfind(f"{_A}hlinkClick"):
        address = slide.part.rels.get(link.get(f"{_R}id"))
        if address is not None and address.is_external and address.target_ref != text:
            text = text.replace(text.strip(), f"[{text.strip()}]({address.target_ref})")
    return text, (*mark, *marks)


def _unwrap(slide: Any) -> None:
    """Move shapes and formulas for newer programs to the places that python-pptx reads."""
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
    """The shapes, with the shapes of a group one by one."""
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
