"""Presentations: what is on the slides, and what hangs on them."""

from __future__ import annotations

import io

from PIL import Image
from pptx import Presentation
from pptx.util import Inches

from forethought.tools.documents.formats import read_document


def test_slides_keep_titles_lists_tables_and_speaker_notes() -> None:
    deck = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Plans"
    first.placeholders[
        1
    ].text = "Buy tea\n* without milk\nThe choir will travel to Prague in the month of May."
    first.notes_slide.notes_text_frame.text = "Do not mention the price."
    second = deck.slides.add_slide(deck.slide_layouts[6])
    table = second.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for row, texts in enumerate([("City", "Limit"), ("Prague", "110")]):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    picture = io.BytesIO()
    Image.new("RGB", (4, 4)).save(picture, "PNG")
    second.shapes.add_picture(picture, 0, 0)
    deck.slides.add_slide(deck.slide_layouts[6]).element.set("show", "0")
    file = io.BytesIO()
    deck.save(file)
    document = read_document(file.getvalue(), "plans.pptx")
    assert [section.heading for section in document.sections] == [
        "## Slide 1 of 3",
        "## Slide 2 of 3",
        "## Slide 3 of 3, hidden",
    ]
    one, two, three = (section.text for section in document.sections)
    assert one.startswith("### Plans\n\n- Buy tea\n* without milk\n")
    assert "The choir will travel to Prague in the month of May." in one
    assert one.endswith("\n\nSpeaker notes: Do not mention the price.")
    assert two == "| City | Limit |\n| --- | --- |\n| Prague | 110 |\n\n(Not shown as text: 1 picture.)"
    assert three == "(This slide has no text.)"
    assert document.where(["1", "2"]) == "slides 1-2 of 3"
