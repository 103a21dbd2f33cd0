"""Documents that another program wrote (see made_elsewhere/README.md): what is in them is in the text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from forethought.tools.documents.document import Document, Unreadable
from forethought.tools.documents.formats import read_document

FOLDER = Path(__file__).parent / "made_elsewhere"


def read(name: str) -> Document:
    return read_document((FOLDER / name).read_bytes(), name)


def test_a_workbook_with_formulas_and_their_values_hidden_things_and_comments() -> None:
    assert read("book.xlsx").text == (
        '## Sheet "Tea" (1 of 2)\n\nMerged cells: A1:D1\n\nHidden rows: 4\n\nTea prices in Köln\n\n'
        "Cells A2:D6:\n\n"
        "| Kind | Price | Crates | Total |\n"
        "| --- | --- | --- | --- |\n"
        "| Assam | 3.5 | 4 | 14 (=B3*C3) |\n"
        "| [hidden row] Oolong | 5.25 | 2 | 10.5 (=B4*C4) |\n"
        "| Sum |  |  | 24.5 (=SUM(D3:D4)) |\n"
        "| Delivered on | 2025-03-09 | Rebate | 15% |\n\n"
        "Comments on cells:\n- B3: Only until May\n\n"
        '## Sheet "Margins" (2 of 2, hidden)\n\nCells A1:B2:\n\n'
        "| Kind | Margin |\n| --- | --- |\n| Assam | 40% |"
    )


def test_an_old_workbook_has_the_same_but_the_formulas() -> None:
    assert read("book.xls").text == (
        read("book.xlsx").text.replace(" (=B3*C3)", "").replace(" (=B4*C4)", "").replace(" (=SUM(D3:D4))", "")
    )


def test_an_open_workbook_has_the_values_and_says_that_it_has_only_those() -> None:
    first, second = read("book.ods").sections
    assert "not formulas" in first.text
    assert re.search(r"\| Sum \|.*\| 24.5 \|", first.text)
    assert second.heading == '## Sheet "Margins" (2 of 2, hidden)'


def test_a_sheet_as_csv_and_as_a_web_page() -> None:
    table = "| Kind | Price | Crates | Total |\n| --- | --- | --- | --- |\n| Assam | 3.5 | 4 | 14 |"
    text = read("book.csv").text
    assert text.startswith(
        f"Tea prices in Köln\n\n{table}\n| Oolong | 5.25 | 2 | 10.5 |\n| Sum |  |  | 24.5 |"
    )
    page = read("book.html").text
    assert page.startswith("| Tea prices in Köln | Tea prices in Köln |")
    assert "| Kind | Price | Crates | Total |" in page
    assert "Only until May" in page


def test_a_letter_keeps_footnotes_endnotes_and_comments() -> None:
    assert read("letter.docx").text == (
        "# Rules of travel\n\nLodging is paid up to EUR 80 a night[footnote 1] for everybody who travels "
        "[comment by Ben: Does this hold for guests?].\n\n"
        "## Means of transport\n\n- trains in second class\n- trams and buses\n\n"
        "Meals are paid by the day:\n\n"
        "| Country | Amount in EUR | Amount in EUR |\n| --- | --- | --- |\n| Österreich | 28 | 14 |\n\n"
        "Claims are due within a month[endnote 1].\n\n"
        "Footnotes:\n- [footnote 1] In Geneva up to EUR 140.\n\n"
        "Endnotes:\n- [endnote 1] Counted from the day of return."
    )


def test_a_letter_reads_the_same_in_every_format() -> None:
    assert read("letter.odt").text == read("letter.docx").text
    rich = read("letter.rtf").text
    assert "| Österreich | 28 | 14 |" in rich
    assert (
        "EUR 80 a night[footnote: In Geneva up to EUR 140.] for everybody who travels[comment by Ben:" in rich
    )


def test_slides_of_libreoffice_keep_notes_comments_and_what_is_hidden() -> None:
    text = read("talk.odp").text
    assert "Speaker notes: The rent is not yet public." in text
    assert ": Ask the landlord first]" in text
    assert "## Slide 2 of 2, hidden\n\nCosts\n\n| Item | EUR |" in text


@pytest.mark.parametrize("name", ["letter.epub", "letter.html"])
def test_a_footnote_mark_does_not_become_a_digit(name: str) -> None:
    text = " ".join(read(name).text.split())
    assert "EUR 80 a night^1^ for everybody" in text
    assert "| Österreich | 28 | 14 |" in text
    assert "In Geneva up to EUR 140." in text


def test_an_e_book_says_what_it_is() -> None:
    document = read("letter.epub")
    assert document.note.startswith("E-book: Rules of travel")
    assert document.text.startswith("## Chapter 1 of 1\n\nRules of travel\n\n")
    assert "Counted from the day of return." in document.text


def test_slides_keep_notes_and_comments() -> None:
    assert read("talk.pptx").text == (
        "## Slide 1 of 2\n\n- Plans for spring\n- Open a shop in Łódź\n- Hire two people\n\n"
        "Speaker notes: The rent is not yet public.\n\nComments:\n- Ask the landlord first\n\n"
        "## Slide 2 of 2, hidden\n\n- Costs\n\n| Item | EUR |\n| --- | --- |\n| Rent | 900 |"
    )


@pytest.mark.parametrize(
    ("name", "pages", "says"),
    [
        ("book.pdf", 1, ["Tea prices in Köln", "| Assam | 3.5 | 4 | 14 |", "Rebate |  | 15% |"]),
        (
            "letter.pdf",
            2,
            ["Rules of travel", "| Österreich | 28 | 14 |", "In Geneva up to EUR 140.", "day of return"],
        ),
        ("talk.pdf", 1, ["Plans for spring", "Open a shop in Łódź", "Hire two people"]),
    ],
)
def test_pdfs_page_by_page(name: str, pages: int, says: list[str]) -> None:
    document = read(name)
    assert (len(document.sections), document.unit) == (pages, "page")
    assert all(text in document.text for text in says)


@pytest.mark.parametrize(
    ("name", "kind", "instead"),
    [
        ("letter.doc", "is a .doc file", ".docx or PDF"),
    ],
)
def test_what_cannot_be_read_is_named_with_what_to_do(
    name: str, kind: str, instead: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")  # where LibreOffice and pandoc may be
    with pytest.raises(Unreadable) as raised:
        read(name)
    assert kind in raised.value.what
    assert instead in raised.value.hint


def test_every_file_is_looked_at() -> None:
    text = Path(__file__).read_text()
    assert all(path.name in text for path in FOLDER.iterdir() if path.name not in ("README.md", "sources"))
