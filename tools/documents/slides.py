"""Presentations (.pptx) through `unstructured`, slide by slide; notes and comments through python-pptx."""

from __future__ import annotations

import io
from collections import defaultdict
from typing import Any

from forethought.tools.documents.archive import parse_xml
from forethought.tools.documents.document import Document, Section
from forethought.tools.documents.unstructured import markdown, partitioner

_COMMENT_TEXT = (
    "{http://schemas.openxmlformats.org/presentationml/2006/main}text",
    "{http://schemas.openxmlformats.org/drawingml/2006/main}t",
)


def read_pptx(data: bytes) -> Document:
    """A section a slide: title, text, tables, notes, comments, and the number of charts and pictures."""
    module = partitioner("pptx")
    from pptx import Presentation

    by_slide: dict[int, list[Any]] = defaultdict(list)
    for element in module.partition_pptx(file=io.BytesIO(data), languages=[""], include_page_breaks=False):
        by_slide[element.metadata.page_number].append(element)
    slides = list(Presentation(io.BytesIO(data)).slides)
    sections = []
    for number, slide in enumerate(slides, 1):
        hidden = ", hidden" if slide.element.get("show") in ("0", "false") else ""
        body = markdown(by_slide[number], heading_level=3, deepest_heading=3)
        pieces = [body, _not_shown(slide), _notes(slide), _comments(slide)]
        text = "\n\n".join(filter(None, pieces)) or "(This slide has no text.)"
        sections.append(Section(text, str(number), f"## Slide {number} of {len(slides)}{hidden}"))
    return Document(tuple(sections), unit="slide")


def _notes(slide: Any) -> str:
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


def _not_shown(slide: Any) -> str:
    from pptx.enum.shapes import MSO_SHAPE_TYPE

    charts = sum(bool(shape.has_chart) for shape in slide.shapes)
    pictures = sum(shape.shape_type == MSO_SHAPE_TYPE.PICTURE for shape in slide.shapes)
    counted = [f"{n} {what}{'s' * (n > 1)}" for n, what in ((charts, "chart"), (pictures, "picture")) if n]
    return f"(Not shown as text: {' and '.join(counted)}.)" if counted else ""
