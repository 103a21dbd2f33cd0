"""What Word counts: labels of lists and headings, which stand nowhere in a document's text."""

from __future__ import annotations

import pytest

from forethought.tools.documents.archive import parse_xml
from forethought.tools.documents.formats import read_document
from forethought.tools.documents.word_numbers import Numbers
from tests.tools.documents.bombs import zipped

NS = "xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'"


def level(at: int, text: str, form: str = "decimal", more: str = "") -> str:
    return (
        f"<w:lvl w:ilvl='{at}'><w:start w:val='1'/><w:numFmt w:val='{form}'/><w:lvlText w:val='{text}'/>"
        f"{more}</w:lvl>"
    )


def numbering(*levels: str, second: str = "") -> str:
    lists = "".join(
        f"<w:num w:numId='{n}'><w:abstractNumId w:val='0'/>{override}</w:num>"
        for n, override in (("1", ""), ("2", second))
    )
    return (
        f"<w:numbering {NS}><w:abstractNum w:abstractNumId='0'>{''.join(levels)}</w:abstractNum>"
        f"{lists}</w:numbering>"
    )


def labels(xml: str, *places: tuple[str, int]) -> list[str]:
    numbers = Numbers(parse_xml(xml.encode()))
    return [numbers.label(list_id, at, "") for list_id, at in places]


def test_a_deeper_level_begins_anew_below_the_next_number_above() -> None:
    xml = numbering(level(0, "%1."), level(1, "%1.%2"), level(2, "(%3)", "lowerLetter"))
    places = [("1", at) for at in (0, 1, 1, 2, 2, 0, 1, 2)]
    assert labels(xml, *places) == ["1.", "1.1", "1.2", "(a)", "(b)", "2.", "2.1", "(a)"]


def test_a_level_that_never_restarts_goes_on() -> None:
    xml = numbering(level(0, "Part %1"), level(1, "Article %2", more="<w:lvlRestart w:val='0'/>"))
    assert labels(xml, *[("1", at) for at in (0, 1, 0, 1)]) == ["Part 1", "Article 1", "Part 2", "Article 2"]


def test_another_list_of_the_same_kind_goes_on_unless_it_says_where_it_starts() -> None:
    assert labels(numbering(level(0, "%1)")), ("1", 0), ("2", 0)) == ["1)", "2)"]
    override = "<w:lvlOverride w:ilvl='0'><w:startOverride w:val='7'/></w:lvlOverride>"
    again = numbering(level(0, "%1)"), second=override)
    assert labels(again, ("1", 0), ("2", 0), ("2", 0)) == ["1)", "7)", "8)"]


@pytest.mark.parametrize(
    ("form", "fourth"),
    [
        ("decimal", "4"), ("upperRoman", "IV"), ("lowerRoman", "iv"), ("upperLetter", "D"),
        ("decimalZero", "04"), ("bullet", ""), ("none", ""), ("chineseCounting", "4"),
    ],
)  # fmt: skip
def test_forms_of_numbers(form: str, fourth: str) -> None:
    assert labels(numbering(level(0, "%1", form)), *[("1", 0)] * 4)[-1] == fourth


def test_a_list_that_is_not_defined_has_no_labels() -> None:
    assert labels(numbering(level(0, "%1.")), ("9", 0), ("1", 5)) == ["", ""]


STYLES = (
    f"<w:styles {NS}><w:style w:type='paragraph' w:styleId='berschrift1'><w:name w:val='heading 1'/><w:pPr>"
    "<w:numPr><w:numId w:val='1'/></w:numPr></w:pPr></w:style>"
    "<w:style w:type='paragraph' w:styleId='Own'><w:name w:val='Own'/><w:basedOn w:val='Base'/></w:style>"
    "<w:style w:type='paragraph' w:styleId='Base'><w:name w:val='Base'/><w:pPr>"
    "<w:outlineLvl w:val='1'/></w:pPr></w:style></w:styles>"
)


def paragraph(text: str, properties: str) -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def document(*paragraphs: str) -> bytes:
    kind = level(0, "%1.", more="<w:pStyle w:val='berschrift1'/>") + level(1, "(%2)", "lowerLetter")
    return zipped(
        {
            "[Content_Types].xml": "",
            "word/document.xml": f"<w:document {NS}><w:body>{''.join(paragraphs)}</w:body></w:document>",
            "word/styles.xml": STYLES,
            "word/numbering.xml": numbering(kind),
        }
    )


def test_headings_and_items_carry_their_labels() -> None:
    item = "<w:numPr><w:ilvl w:val='1'/><w:numId w:val='1'/></w:numPr>"
    heading = "<w:pStyle w:val='berschrift1'/>"
    cell = (
        f"<w:tbl><w:tr><w:tc>{paragraph('', item)}</w:tc><w:tc>{paragraph('Fees', '')}</w:tc></w:tr></w:tbl>"
    )
    parts = (paragraph("Scope", heading), paragraph("guests", item), paragraph("staff", item), cell)
    text = read_document(document(*parts, paragraph("Costs", heading)), "a.docx").text
    assert text == "# 1. Scope\n\n  (a) guests\n  (b) staff\n\n| (c) | Fees |\n| --- | --- |\n\n# 2. Costs"


def test_a_style_of_ones_own_is_a_heading_if_the_one_below_it_is() -> None:
    assert read_document(document(paragraph("Rules", "<w:pStyle w:val='Own'/>")), "a.docx").text == "## Rules"


def test_a_document_saved_as_strict_is_read() -> None:
    body = f"<w:document {NS}><w:body>{paragraph('Words', '')}</w:body></w:document>"
    strict = body.replace(
        "schemas.openxmlformats.org/wordprocessingml/2006", "purl.oclc.org/ooxml/wordprocessingml"
    )
    assert (
        read_document(zipped({"[Content_Types].xml": "", "word/document.xml": strict}), "a.docx").text
        == "Words"
    )
