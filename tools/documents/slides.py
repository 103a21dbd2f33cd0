"""Presentations (.pptx) through python-pptx: a section a slide, with its notes and comments."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from forethought.tools.documents.archive import parse_xml
from forethought.tools.documents.document import Document, Section, joined, list_item
from forethought.tools.documents.drawings import M, diagram_texts, formula, not_shown
from forethought.tools.documents.tables import markdown_table

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_COMMENT_TEXT = ("{http://schemas.openxmlformats.org/presentationml/2006/main}text", f"{_A}t")
_LONGEST_ITEM = 12
"""Words of a line that counts as a list's item; a longer one is prose."""


def read_pptx(data: bytes) -> Document:
    """A section a slide: title, text, tables, notes, comments, and the number of charts and pictures."""
    from pptx.package import Package

    # `pptx.Presentation` refuses slide shows (.ppsx) and templates for their type alone.
    package: Any = Package.open(io.BytesIO(data))
    slides = list(package.main_document_part.presentation.slides)
    sections = []
    for number, slide in enumerate(slides, 1):
        _unwrap(slide.element)
        hidden = ", hidden" if slide.element.get("show") in ("0", "false") else ""
        pieces = [joined(_blocks(slide)), not_shown(slide.element), _speaker_notes(slide), _comments(slide)]
        text = "\n\n".join(filter(None, pieces)) or "(This slide has no text.)"
        sections.append(Section(text, str(number), f"## Slide {number} of {len(slides)}{hidden}"))
    return Document(tuple(sections), unit="slide")


def _blocks(slide: Any) -> Iterator[tuple[str, bool]]:
    """Each block from top to bottom, and whether it is a list's item."""
    title = slide.shapes.title
    for shape in sorted(_shapes(slide.shapes), key=lambda shape: (shape.top or 0, shape.left or 0)):
        if shape.has_table:
            rows = [[" ".join(cell.text.split()) for cell in row.cells] for row in shape.table.rows]
            yield markdown_table([row for row in rows if any(row)]), False
        elif shape.has_text_frame:
            yield from _paragraphs(shape, is_title=title is not None and shape.element is title.element)
        for diagram in shape.element.iter("{*}relIds"):  # SmartArt
            data = slide.part.related_part(diagram.get(f"{_R}dm")).blob
            yield from ((list_item(text, 0), True) for text in diagram_texts(parse_xml(data)))


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


def _paragraphs(shape: Any, *, is_title: bool) -> Iterator[tuple[str, bool]]:
    for paragraph in shape.text_frame.paragraphs:
        text, level = paragraph.text.strip(), paragraph.level
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
