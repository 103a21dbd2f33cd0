"""Presentations: what is on the slides, and what hangs on them."""

from __future__ import annotations

import io
from typing import Any

from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml
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


def saved(deck: Any) -> bytes:
    file = io.BytesIO()
    deck.save(file)
    return file.getvalue()


def slide_text(deck: Any) -> str:
    return read_document(saved(deck), "a.pptx").sections[0].text


A = "http://schemas.openxmlformats.org/drawingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"


def test_text_that_begins_off_the_slide_is_kept() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(-32, 5, Inches(4), Inches(1)).text_frame.text = "Results"
    assert slide_text(deck) == "- Results"


def test_a_slide_show_is_read_as_slides() -> None:
    deck = Presentation()
    deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = "Plans"
    deck.part._content_type = deck.part.content_type.replace("presentation.main", "slideshow.main")
    document = read_document(saved(deck), "plans.ppsx")
    assert (document.text, document.note) == ("## Slide 1 of 1\n\n### Plans", "")


def test_smart_art_is_a_list() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    data = f'<d:m xmlns:d="{DIAGRAM}" xmlns:a="{A}"><a:p><a:r><a:t>Plan</a:t></a:r></a:p></d:m>'
    part = Part(PackURI("/ppt/diagrams/data1.xml"), "application/xml", deck.part.package, data.encode())
    slide.shapes._spTree.append(
        parse_xml(
            f'<p:graphicFrame xmlns:p="{P}" xmlns:a="{A}"><p:nvGraphicFramePr><p:cNvPr id="4" name="d"/>'
            f"<p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>"
            f'<p:xfrm><a:off x="1" y="1"/><a:ext cx="1" cy="1"/></p:xfrm>'
            f'<a:graphic><a:graphicData uri="{DIAGRAM}">'
            f'<d:relIds xmlns:d="{DIAGRAM}" xmlns:r="{R}" r:dm="{slide.part.relate_to(part, R)}"/>'
            "</a:graphicData></a:graphic></p:graphicFrame>"
        )
    )
    assert slide_text(deck) == "- Plan"


def test_a_shape_for_newer_programs_is_read_with_its_formula() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    shape = slide.shapes.add_textbox(5, 5, Inches(4), Inches(1))
    shape.text_frame.text = "Energy is "
    math = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    new = "http://schemas.microsoft.com/office/drawing/2010/main"
    shape.text_frame.paragraphs[0]._p.append(
        parse_xml(
            f'<n:m xmlns:n="{new}" xmlns:m="{math}"><m:oMathPara><m:oMath><m:r><m:t>mc</m:t></m:r>'
            "<m:sSup><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></m:oMathPara></n:m>"
        )
    )
    compatible = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    both = parse_xml(
        f'<c:AlternateContent xmlns:c="{compatible}"><c:Choice/><c:Fallback/></c:AlternateContent>'
    )
    slide.shapes._spTree.append(both)
    both[0].append(shape._element)
    assert slide_text(deck) == "- Energy is mc^(2)"


def blank(deck: Any) -> Any:
    return deck.slides.add_slide(deck.slide_layouts[6])


def box(slide: Any, text: str, left: int = 5) -> Any:
    shape = slide.shapes.add_textbox(left, 5, Inches(4), Inches(1))
    shape.text_frame.text = text
    return shape


def test_a_chart_is_a_table_of_its_data() -> None:
    deck = Presentation()
    data = CategoryChartData()
    data.categories = ["May", "June"]
    data.add_series("Sales", (450, None))
    data.add_series("Plan", (500, 540))
    frame = blank(deck).shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 5, 5, Inches(4), Inches(3), data)
    frame.chart.has_title = True
    frame.chart.chart_title.text_frame.text = "Pieces"
    assert slide_text(deck) == (
        "Chart: Pieces\n\n|  | Sales | Plan |\n| --- | --- | --- |\n| May | 450 | 500 |\n| June |  | 540 |"
    )


def test_struck_raised_and_linked_words_say_so() -> None:
    deck = Presentation()
    paragraph = box(blank(deck), "Fee 45").text_frame.paragraphs[0]
    for text, name, value in (("2", "baseline", "30000"), (" ", "", ""), ("4", "strike", "sngStrike"),
                              ("50", "strike", "sngStrike")):  # fmt: skip
        run = paragraph.add_run()
        run.text = text
        if name:
            run.font._element.set(name, value)
    link = paragraph.add_run()
    link.text = " rules"
    link.hyperlink.address = "https://example.org"
    assert slide_text(deck) == "- Fee 45^2^ [struck: 450] [rules](https://example.org)"


def test_what_no_viewer_sees_is_marked() -> None:
    deck = Presentation()
    slide = blank(deck)
    box(slide, "Results")
    box(slide, "old 450", deck.slide_width + 5)
    box(slide, "secret 540")._element.nvSpPr.cNvPr.set("hidden", "1")
    assert slide_text(deck) == (
        "- Results\n- [hidden text: secret 540]\n- [hidden text, beside the slide: old 450]"
    )


def test_merged_cells_are_repeated_and_figures_are_not() -> None:
    deck = Presentation()
    table = blank(deck).shapes.add_table(2, 2, 5, 5, Inches(4), Inches(1)).table
    for row, text in enumerate(("Plan", "450")):
        table.cell(row, 0).text = text
        table.cell(row, 0).merge(table.cell(row, 1))
    assert slide_text(deck) == "| Plan | Plan |\n| --- | --- |\n| 450 | (same cell) |"
