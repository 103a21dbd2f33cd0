from __future__ import annotations

import io

import docx
import docx.document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from forethought.tools.documents.word import accept_changes, read_docx

RUN = "<w:r><w:t>{}</w:t></w:r>"


def document(*bodies: str) -> bytes:
    made = docx.Document()
    for place, body in enumerate(bodies):
        head, _, rest = body.partition(">")
        close = "/" * head.endswith("/")
        made.element.body.insert(place, parse_xml(f"{head.removesuffix('/')} {nsdecls('w')}{close}>{rest}"))
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


def test_a_form_shows_what_is_filled_in() -> None:
    inline = f"<w:sdt><w:sdtPr/><w:sdtContent>{RUN.format('Ann')}</w:sdtContent></w:sdt>"
    data = document(
        f"<w:sdt><w:sdtContent><w:p>{RUN.format('Whole paragraph')}</w:p></w:sdtContent></w:sdt>",
        f"<w:p>{RUN.format('Name:')}<w:r><w:t xml:space='preserve'> </w:t></w:r>{inline}</w:p>",
    )
    assert read_docx(data).text == "Whole paragraph\n\nName: Ann"


def test_tracked_changes_count_as_accepted() -> None:
    data = document(
        f"<w:p>{RUN.format('Limit ')}"
        "<w:del w:id='1' w:author='a'><w:r><w:delText>50</w:delText></w:r></w:del>"
        f"<w:ins w:id='2' w:author='a'>{RUN.format('80')}</w:ins></w:p>"
    )
    assert read_docx(data).text == "Limit 80"


def test_a_text_box_follows_the_paragraph_that_it_hangs_on_and_comes_once() -> None:
    box = f"<w:txbxContent><w:p>{RUN.format('In the box')}</w:p></w:txbxContent>"
    mc = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    both = (
        f"<mc:AlternateContent xmlns:mc='{mc}'><mc:Choice Requires='wps'>{box}</mc:Choice>"
        f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>"
    )
    data = document(
        f"<w:p>{RUN.format('Before')}<w:r>{both}</w:r></w:p>", f"<w:p>{RUN.format('After')}</w:p>"
    )
    assert read_docx(data).text == "Before\n\nIn the box\n\nAfter"


def test_a_row_in_a_content_control_stays_in_its_table() -> None:
    rows = [f"<w:tr><w:tc><w:p>{RUN.format(text)}</w:p></w:tc></w:tr>" for text in ("head", "row")]
    control = f"<w:sdt><w:sdtContent>{rows[1]}</w:sdtContent></w:sdt>"
    data = document(f"<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid>{rows[0]}{control}</w:tbl>")
    assert read_docx(data).text == "| head |\n| --- |\n| row |"


def test_what_a_field_shows_is_text() -> None:
    field = f"<w:fldSimple w:instr='DOCPROPERTY Price'>{RUN.format('80 EUR')}</w:fldSimple>"
    assert read_docx(document(f"<w:p>{RUN.format('Costs: ')}{field}</w:p>")).text == "Costs: 80 EUR"


def test_a_formula_stands_on_one_line_where_it_was() -> None:
    m = "http://schemas.openxmlformats.org/officeDocument/2006/math"

    def run(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    power = f"<m:sSup><m:e>{run('c')}</m:e><m:sup>{run('2')}</m:sup></m:sSup>"
    half = f"<m:f><m:num>{run('1')}</m:num><m:den>{run('2')}</m:den></m:f>"
    root = f"<m:rad><m:radPr/><m:deg/><m:e>{run('x')}</m:e></m:rad>"
    total = (
        f"<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{run('i')}</m:sub><m:sup>{run('n')}</m:sup>"
        f"<m:e>{run('i')}</m:e></m:nary>"
    )
    formula = (
        f"<m:oMathPara xmlns:m='{m}'><m:oMath>{run('E=m')}{power}+{half}{root}{total}</m:oMath></m:oMathPara>"
    )
    data = document(f"<w:p>{RUN.format('So ')}{formula}{RUN.format(' holds')}</w:p>")
    assert read_docx(data).text == "So E=mc^(2)(1)/(2)root(x)∑_(i)^(n)(i) holds"


def test_a_document_without_any_of_these_is_not_touched() -> None:
    data = document(f"<w:p>{RUN.format('plain')}</w:p>")
    assert accept_changes(data) is data
