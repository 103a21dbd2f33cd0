"""Presentations (.pptx) through `unstructured`, slide by slide; speaker notes through python-pptx."""

from __future__ import annotations

import io
from collections import defaultdict
from typing import Any

from tools.documents.document import Document, Section
from tools.documents.elements import markdown
from tools.documents.offline import partitioner


def read_pptx(data: bytes) -> Document:
    """A section a slide: title, text, tables, speaker notes, and the number of charts and pictures."""
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
        pieces = [body, _not_shown(slide), _notes(slide)]
        text = "\n\n".join(filter(None, pieces)) or "(This slide has no text.)"
        sections.append(Section(text, str(number), f"## Slide {number} of {len(slides)}{hidden}"))
    return Document(tuple(sections), unit="slide")


def _notes(slide: Any) -> str:
    frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    text = frame.text.strip() if frame is not None else ""
    return f"Speaker notes: {text}" if text else ""


def _not_shown(slide: Any) -> str:
    from pptx.enum.shapes import MSO_SHAPE_TYPE

    charts = sum(bool(shape.has_chart) for shape in slide.shapes)
    pictures = sum(shape.shape_type == MSO_SHAPE_TYPE.PICTURE for shape in slide.shapes)
    counted = [f"{n} {what}{'s' * (n > 1)}" for n, what in ((charts, "chart"), (pictures, "picture")) if n]
    return f"(Not shown as text: {' and '.join(counted)}.)" if counted else ""
