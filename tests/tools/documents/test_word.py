"""Word documents, and their markup that a plain reader would lose."""

from __future__ import annotations

import io
import zipfile

import docx
import docx.document
import pytest
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from PIL import Image

from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.formats import read_document
from forethought.tools.documents.word import read_docx


def saved(document: docx.document.Document) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def test_headings_lists_tables_and_page_headers_in_order() -> None:
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "Internal"
    document.add_heading("Travel rules", 0)
    document.add_heading("Limits", 2)
    document.add_paragraph("Lodging is paid up to EUR 80 a night.")
    document.add_paragraph("12")
    document.add_paragraph("trains", style="List Bullet")
    document.add_paragraph("trams", style="List Bullet 2")
    table = document.add_table(3, 3)
    for row in range(3):
        for column in range(3):
            table.cell(row, column).text = f"r{row}c{column}"
    table.cell(0, 1).merge(table.cell(0, 2)).text = "Wide"
    table.cell(2, 2).text = "a | b"
    document.add_paragraph("The end.")
    assert read_document(saved(document), "rules.docx").text == (
        "(Header of the pages: Internal)\n\n# Travel rules\n\n## Limits\n\n"
        "Lodging is paid up to EUR 80 a night.\n\n12\n\n- trains\n  - trams\n\n"
        "| r0c0 | Wide | Wide |\n| --- | --- | --- |\n| r1c0 | r1c1 | r1c2 |\n| r2c0 | r2c1 | a \\| b |\n\n"
        "The end."
    )


def test_a_document_without_text_says_so() -> None:
    with pytest.raises(Unreadable, match="no text") as raised:
        read_document(saved(docx.Document()), "a.docx")
    assert raised.value.cause == "empty"


MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def document(*bodies: str) -> bytes:
    made = docx.Document()
    for place, body in enumerate(bodies):
        head, _, rest = body.partition(">")
        made.element.body.insert(place, parse_xml(f"{head} {nsdecls('w')}>{rest}"))
    return saved(made)


def run(text: str) -> str:
    return f"<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>"


def paragraph(*content: str) -> str:
    return f"<w:p>{''.join(content)}</w:p>"


def control(content: str) -> str:
    return f"<w:sdt><w:sdtContent>{content}</w:sdtContent></w:sdt>"


def row(text: str) -> str:
    return f"<w:tr><w:tc>{paragraph(run(text))}</w:tc></w:tr>"


def formula() -> str:
    def part(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    power = f"<m:sSup><m:e>{part('c')}</m:e><m:sup>{part('2')}</m:sup></m:sSup>"
    half = f"<m:f><m:num>{part('1')}</m:num><m:den>{part('2')}</m:den></m:f>"
    root = f"<m:rad><m:radPr/><m:deg/><m:e>{part('x')}</m:e></m:rad>"
    total = (
        f"<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{part('i')}</m:sub>"
        f"<m:sup>{part('n')}</m:sup><m:e>{part('i')}</m:e></m:nary>"
    )
    return (
        f"<m:oMathPara xmlns:m='{MATH}'><m:oMath>{part('E=m')}{power}+{half}{root}{total}</m:oMath>"
        "</m:oMathPara>"
    )


BOX = f"<w:txbxContent>{paragraph(run('In the box'))}</w:txbxContent>"
BOX_AND_FALLBACK = (
    f"<mc:AlternateContent xmlns:mc='{MC}'><mc:Choice Requires='wps'>{BOX}</mc:Choice>"
    f"<mc:Fallback>{BOX}</mc:Fallback></mc:AlternateContent>"
)
DELETED = "<w:del w:id='1' w:author='a'><w:r><w:delText>50</w:delText></w:r></w:del>"
INSERTED = f"<w:ins w:id='2' w:author='a'>{run('80')}</w:ins>"
TABLE = f"<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid>{row('head')}{control(row('row'))}</w:tbl>"


@pytest.mark.parametrize(
    ("bodies", "text"),
    [
        ([control(paragraph(run("Whole paragraph")))], "Whole paragraph"),
        ([paragraph(run("Name: "), control(run("Ann")))], "Name: Ann"),
        (
            [paragraph(run("Limit "), DELETED, f"<w:ins w:id='2' w:author='a'>{run('80')}</w:ins>")],
            "Limit [deleted by a: 50] [inserted by a: 80]",
        ),
        (
            [paragraph(run("Before"), f"<w:r>{BOX_AND_FALLBACK}</w:r>"), paragraph(run("After"))],
            "Before\n\nIn the box\n\nAfter",
        ),
        ([TABLE], "| head |\n| --- |\n| row |"),
        ([paragraph(run("Costs: "), f"<w:fldSimple w:instr='DATE'>{run('80')}</w:fldSimple>")], "Costs: 80"),
        (
            [paragraph(run("So "), formula(), run(" holds"))],
            "So E=mc^(2)(1)/(2)root(x)∑_(i)^(n)i holds",
        ),
    ],
    ids=["form", "form field", "tracked changes", "text box", "row in a form", "field", "formula"],
)
def test_markup_becomes_text(bodies: list[str], text: str) -> None:
    assert read_docx(document(*bodies)).text == text


def test_marks_of_notes_stay_what_they_are() -> None:
    made = docx.Document()
    for text in ("Fees", "* Guests pay 5 more.", "-12 degrees", "• tea"):
        made.add_paragraph(text)
    figure = made.add_paragraph("Total 120")
    figure.add_run("1").font.superscript = True
    figure.add_run(" 130").font.strike = True
    assert read_docx(saved(made)).text == (
        "Fees\n\n* Guests pay 5 more.\n\n-12 degrees\n\n• tea\n\nTotal 120^1^ [struck: 130]"
    )


def test_a_footnote_mark_at_the_beginning_of_a_line_stays_a_mark() -> None:
    made = docx.Document()
    for text in ("Lodging is EUR 80*.", "* without breakfast", "*) per night", "- a real item"):
        made.add_paragraph(text)
    mark = made.add_paragraph()
    mark.add_run("*").font.superscript = True
    mark.add_run(" from May")
    made.add_table(1, 2).cell(0, 0).text = "* net"
    text = read_document(saved(made), "rules.docx").text
    assert text.startswith(
        "Lodging is EUR 80*.\n\n* without breakfast\n\n*) per night\n\n- a real item\n\n* from May\n\n"
        "| * net |"
    )


def renamed(data: bytes, names: dict[str, str]) -> bytes:
    """An archive whose members, and what names them, are called otherwise."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            content = old.read(name).decode("latin-1")
            for before, after in names.items():
                name, content = name.replace(before, after), content.replace(before, after)
            new.writestr(name, content.encode("latin-1"))
    return file.getvalue()


def test_a_document_of_word_on_the_web_is_read() -> None:
    made = docx.Document()
    made.add_paragraph("Tea is up.")
    made.sections[0].header.paragraphs[0].text = "Prices"
    names = {"document.xml": "document2.xml", 'Target="header': 'Target="/word/header'}
    text = read_document(renamed(saved(made), names), "a.docx").text
    assert text == "(Header of the pages: Prices)\n\nTea is up."


def test_a_document_of_pictures_says_so() -> None:
    picture = io.BytesIO()
    Image.new("RGB", (4, 4)).save(picture, "PNG")
    made = docx.Document()
    made.add_picture(picture)
    assert read_document(saved(made), "a.docx").text == "(Not shown as text: 1 picture.)"


def test_smart_art_is_a_list() -> None:
    diagram = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
    drawing = "http://schemas.openxmlformats.org/drawingml/2006/main"
    made = docx.Document()
    data = f'<d:m xmlns:d="{diagram}" xmlns:a="{drawing}"><a:p><a:r><a:t>Plan</a:t></a:r></a:p></d:m>'
    place = PackURI("/word/diagrams/data1.xml")
    related = made.part.relate_to(Part(place, "application/xml", data.encode()), diagram)
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    made.add_paragraph("Steps:").add_run()._r.append(
        parse_xml(f'<d:relIds xmlns:d="{diagram}" xmlns:r="{relations}" r:dm="{related}"/>')
    )
    assert read_document(saved(made), "a.docx").text == "Steps:\n\n- Plan"
