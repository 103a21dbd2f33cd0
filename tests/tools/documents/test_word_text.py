"""Word's marks on text: changes, comments, notes, hidden and struck words, and fields of forms."""

from __future__ import annotations

import docx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from forethought.tools.documents.word import read_docx
from tests.tools.documents.test_word import document, paragraph, run, saved

W14 = "xmlns:w14='http://schemas.microsoft.com/office/word/2010/wordml'"


def formatted(properties: str, text: str) -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>"


def field(data: str) -> str:
    return f"<w:r><w:fldChar w:fldCharType='begin'><w:ffData>{data}</w:ffData></w:fldChar></w:r>"


def change(kind: str, content: str, author: str = "Anna") -> str:
    return f"<w:{kind} w:id='1' w:author='{author}'>{content}</w:{kind}>"


DELETED = "<w:r><w:delText>450</w:delText></w:r>"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([change("moveFrom", run("450"))], "Fee [moved away by Anna: 450]"),
        ([change("ins", run("540") + change("del", DELETED, "Bo"))],
         "Fee [inserted by Anna: 540] [inserted by Anna: [deleted by Bo: 450]]"),
        ([change("del", DELETED.replace("450", "4") + DELETED.replace("450", "50"))],
         "Fee [deleted by Anna: 450]"),
        ([formatted("<w:vanish/>", "450")], "Fee [hidden text: 450]"),
        ([formatted("<w:vanish w:val='0'/>", "450")], "Fee 450"),
        ([formatted("<w:dstrike/>", "4"), formatted("<w:strike/>", "50 "), run("540")],
         "Fee [struck: 450] 540"),
        ([formatted("<w:highlight w:val='yellow'/>", "450")], "Fee [highlighted in yellow: 450]"),
        ([formatted("<w:shd w:val='clear' w:fill='FFFF00'/>", "450")], "Fee [highlighted in #FFFF00: 450]"),
        (["<w:r><w:sym w:font='Symbol' w:char='F0A3'/></w:r>", run(" 450")], "Fee ≤ 450"),
        (["<w:r><w:sym w:font='Webdings' w:char='F061'/></w:r>"], "Fee [symbol 61 of Webdings]"),
        ([field("<w:checkBox><w:default w:val='0'/><w:checked/></w:checkBox>"), run(" paid")],
         "Fee [ticked] paid"),
        ([field("<w:checkBox><w:default w:val='0'/></w:checkBox>"), run(" paid")], "Fee [not ticked] paid"),
        ([field("<w:ddList><w:result w:val='1'/><w:listEntry w:val='due'/><w:listEntry w:val='paid'/>"
                "</w:ddList>")], "Fee [chosen: paid]"),
        ([f"<w:sdt><w:sdtPr><w14:checkbox {W14}><w14:checked w14:val='1'/></w14:checkbox></w:sdtPr>"
          f"<w:sdtContent>{run('☒')}</w:sdtContent></w:sdt>"], "Fee [ticked]"),
        ([f"<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{run('450')}</w:sdtContent></w:sdt>"],
         "Fee [placeholder, not filled in: 450]"),
    ],
)  # fmt: skip
def test_a_mark_is_beside_its_text(content: list[str], text: str) -> None:
    assert read_docx(document(paragraph(run("Fee "), *content))).text == text


def test_a_style_that_hides_or_strikes_text_marks_it() -> None:
    made = docx.Document()
    for number, (kind, name) in enumerate((("vanish", "character"), ("strike", "paragraph"))):
        made.styles.element.append(
            parse_xml(
                f"<w:style {nsdecls('w')} w:type='{name}' w:styleId='S{number}'><w:name w:val='S{number}'/>"
                f"<w:rPr><w:{kind}/></w:rPr></w:style>"
            )
        )
    made.add_paragraph("Fee ").add_run("450", style="S0")
    made.add_paragraph("Fee 540", style="S1")
    assert read_docx(saved(made)).text == "Fee [hidden text: 450]\n\n[struck: Fee 540]"


def test_a_comment_is_at_its_passage_with_author_and_replies() -> None:
    made = docx.Document()
    line = made.add_paragraph("Lodging: ")
    fee = line.add_run("the fee")
    line.add_run(" is due.")
    made.add_comment(fee, text="450 or 540?", author="Anna")
    assert read_docx(saved(made)).text == (
        "Lodging: the fee [comment on 'the fee' by Anna: 450 or 540?] is due."
    )


def test_notes_are_numbered_in_the_order_of_their_marks() -> None:
    def mark(note: int) -> str:
        raised = "<w:rPr><w:vertAlign w:val='superscript'/></w:rPr>"
        return f"<w:r>{raised}<w:footnoteReference w:id='{note}'/></w:r>"

    made = docx.Document()
    body = paragraph(run("Fee 450"), mark(7), run(", meals 30"), mark(3)).replace(
        "<w:p>", f"<w:p {nsdecls('w')}>"
    )
    made.element.body.insert(0, parse_xml(body))
    notes = "".join(
        f"<w:footnote w:id='{n}'>{paragraph(run(t))}</w:footnote>" for n, t in ((3, "net"), (7, "gross"))
    )
    data = f"<w:footnotes {nsdecls('w')}>{notes}</w:footnotes>".encode()
    part = Part(PackURI("/word/footnotes.xml"), "application/xml", data, made.part.package)
    made.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
    assert read_docx(saved(made)).text == (
        "Fee 450[footnote 1], meals 30[footnote 2]\n\nFootnotes:\n- [footnote 1] gross\n- [footnote 2] net"
    )


def test_watermarks_links_properties_and_charts_are_in_the_text() -> None:
    made = docx.Document()
    line = made.add_paragraph("See ")
    target = made.part.relate_to("https://example.org/rules", RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    line._p.append(
        parse_xml(
            f"<w:hyperlink {nsdecls('w')} xmlns:r='{relations}' r:id='{target}'>{run('rules')}</w:hyperlink>"
        )
    )
    made.sections[0].header.paragraphs[0].add_run()._r.append(
        parse_xml("<v:textpath xmlns:v='urn:schemas-microsoft-com:vml' string='DRAFT'/>")
    )
    made.core_properties.content_status = "Superseded"
    c = "http://schemas.openxmlformats.org/drawingml/2006/chart"
    chart = (
        f"<c:chartSpace xmlns:c='{c}'><c:ser><c:tx><c:v>Sales</c:v></c:tx><c:cat><c:pt idx='0'><c:v>May</c:v>"
        "</c:pt></c:cat><c:val><c:pt idx='0'><c:v>450</c:v></c:pt></c:val></c:ser></c:chartSpace>"
    ).encode()
    part = Part(PackURI("/word/charts/chart1.xml"), "application/xml", chart, made.part.package)
    drawn = made.part.relate_to(part, RELATIONSHIP_TYPE.CHART)
    made.add_paragraph().add_run()._r.append(
        parse_xml(f"<c:chart xmlns:c='{c}' xmlns:r='{relations}' r:id='{drawn}'/>")
    )
    assert read_docx(saved(made)).text == (
        "(Watermark of the pages: DRAFT)\n\nSee [rules](https://example.org/rules)\n\n"
        "Chart\n\n|  | Sales |\n| --- | --- |\n| May | 450 |\n\n"
        "Properties of the file:\n- contentStatus: Superseded"
    )
