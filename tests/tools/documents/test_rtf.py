"""Rich text: marks on text, code pages, and tables."""

from __future__ import annotations

import pytest

from forethought.tools.documents.formats import read_document


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"Fee {\v 450}{\strike 4}{\strike 50} 540", "Fee [hidden text: 450] [struck: 450] 540"),
        (r"{\*\revtbl{Unknown;}{Anna;}}Fee {\deleted\revauthdel1 450}{\revised\revauth1 540}",
         "Fee [deleted by Anna: 450] [inserted by Anna: 540]"),
        (r"450{\super 2} a night", "450^2^ a night"),
        (r"450{\*\footnote net} a night", "450[footnote 1] a night\n\nFootnotes:\n- [footnote 1] net"),
        (r"{\*\atnauthor Ann}{\*\annotation 450?}Fee", "[comment by Ann: 450?]Fee"),
        (r"\ansicpg1250 \'8a\'e1lek \u8364? 5", "Šálek € 5"),
        (r"{\fonttbl{\f1\fcharset204 A;}}{\f1 \'d7\'e0\'e9}", "Чай"),
        (r"{\header DRAFT}\trowd\intbl A\cell B\cell\row\intbl 1\cell\cell\row\pard after",
         "(Header of the pages: DRAFT)\n\n| A | B |\n| --- | --- |\n| 1 |  |\n\nafter"),
        (r"{\*\unknown 450}{\pict\bin3 }}}}Fee {\field{\*\fldinst DATE}{\fldrslt May}}", "Fee May"),
    ],
)  # fmt: skip
def test_rich_text(source: str, text: str) -> None:
    assert read_document(rf"{{\rtf1\ansi {source}\par}}".encode("latin-1"), "a.rtf").text == text
