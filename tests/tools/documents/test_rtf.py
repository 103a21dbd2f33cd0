"""Rich text: marks on text, code pages, and tables."""

from __future__ import annotations

import pytest

from forethought.tools.documents.formats import read_document


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"Fee {\v 450} {\strike\b 450} 540", "Fee [hidden text: 450] [struck: 450] 540"),
        (r"Fee {\deleted\revauthdel1 450} {\b\revised 540}", "Fee [deleted: 450] [inserted: 540]"),
        (r"450{\super 2} a night", "450^2^ a night"),
        (r"450{\super {\*\footnote {\i net} of tax}} a night", "450[footnote: net of tax] a night"),
        (r"{\*\atnauthor Ann}{\*\annotation 450?}Fee", "[comment by Ann: 450?]Fee"),
        (r"\ansicpg1250 \'8a\'e1lek \u8364? 5", "Šálek € 5"),
        (r"{\fonttbl{\f1\fcharset204 A;}}{\f1 \'d7\'e0\'e9}", "Чай"),
        (r"{\headerl DRAFT}\trowd\intbl A\cell B\cell\row\intbl 1\cell\cell\row\pard after",
         "[header: DRAFT]\n\n| A | B |\n| --- | --- |\n| 1 |  |\n\nafter"),
    ],
)  # fmt: skip
def test_rich_text(source: str, text: str) -> None:
    assert read_document(rf"{{\rtf1\ansi {source}\par}}".encode("latin-1"), "a.rtf").text == text
