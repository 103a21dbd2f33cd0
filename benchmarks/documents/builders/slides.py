"""Presentations by python-pptx."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.documents.builders.parts import patched
from benchmarks.documents.builders.pictures import png


def pptx(
    slides: Sequence[Mapping[str, Any]], *, patches: Mapping[str, Any] = {}, parts: Mapping[str, str] = {}
) -> bytes:
    """A presentation.

    Args:
        slides: Each with any of title, body, notes, hidden, table (rows), chart {type, categories, series},
            picture {text, alt}, boxes [[left in inches, top, text], ...], group (texts).
        patches: Replacements in its parts, see `parts.patched`.
        parts: Parts to add.
    """
    from pptx import Presentation

    deck = Presentation()
    for about in slides:
        slide = deck.slides.add_slide(deck.slide_layouts[1 if "body" in about else 5])
        slide.shapes.title.text = about["title"]
        if "body" in about:
            slide.placeholders[1].text = about["body"]
        if "notes" in about:
            slide.notes_slide.notes_text_frame.text = about["notes"]
        if about.get("hidden"):
            slide._element.set("show", "0")
        _fill(slide.shapes, about)
    file = io.BytesIO()
    deck.save(file)
    return patched(file.getvalue(), patches, parts)


def _fill(shapes: Any, about: Mapping[str, Any]) -> None:
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    place = (Inches(1), Inches(2), Inches(6), Inches(3))
    if rows := about.get("table"):
        table = shapes.add_table(len(rows), len(rows[0]), *place).table
        for at, row in enumerate(rows):
            for column, text in enumerate(row):
                table.cell(at, column).text = str(text)
    if chart := about.get("chart"):
        data = CategoryChartData()
        data.categories = chart["categories"]
        for name, values in chart["series"].items():
            data.add_series(name, values)
        shapes.add_chart(getattr(XL_CHART_TYPE, chart["type"]), *place, data)
    if picture := about.get("picture"):
        shape = shapes.add_picture(io.BytesIO(png(picture["text"])), Inches(1), Inches(3))
        shape._element.nvPicPr.cNvPr.set("descr", picture["alt"])
    for left, top, text in about.get("boxes", ()):
        shapes.add_textbox(Inches(left), Inches(top), Inches(3), Inches(1)).text_frame.text = text
    if texts := about.get("group"):
        _fill(shapes.add_group_shape().shapes, {"boxes": [[1, at, text] for at, text in enumerate(texts)]})
