from __future__ import annotations

import io

import docx
import pytest

from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.formats import read_document


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
    assert read_document(saved(document), "rules.docx").text == "\n".join(
        [
            "(Header of the pages: Internal)",
            "",
            "# Travel rules",
            "",
            "## Limits",
            "",
            "Lodging is paid up to EUR 80 a night.",
            "",
            "12",
            "",
            "- trains",
            "  - trams",
            "",
            "| r0c0 | Wide | Wide |",
            "| --- | --- | --- |",
            "| r1c0 | r1c1 | r1c2 |",
            "| r2c0 | r2c1 | a \\| b |",
            "",
            "The end.",
        ]
    )


def test_a_document_without_text_says_so() -> None:
    with pytest.raises(Unreadable, match="no text") as raised:
        read_document(saved(docx.Document()), "a.docx")
    assert raised.value.cause == "empty"
