"""Signs: what is found in documents by form and by words, what is not, and where it is marked."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.nodes.support.signs import MARK, MOST_OF_A_KIND, marked, other_versions
from forethought.tools.documents.document import Document, Section
from forethought.tools.documents.plain import read_delimited, read_text
from forethought.tools.documents.tables import markdown_table


def sheet(*rows: str, name: str = "May", number: str = "(1 of 1)", after: str = "") -> Section:
    table = markdown_table([row.split("|") for row in rows])
    return Section(
        f"Cells A1:Z{len(rows)}:\n\n{table}\n\n{after}".strip(), name, f'## Sheet "{name}" {number}'
    )


def book(*sheets: Section) -> Document:
    return Document(sheets, unit="sheet")


def pages(*texts: str) -> Document:
    sections = (Section(text, str(n), f"## Page {n} of {len(texts)}") for n, text in enumerate(texts, 1))
    return Document(tuple(sections), unit="page")


def found(document: Document) -> list[tuple[str, str]]:
    """The kind of each sign, and the end of the line before its mark."""
    text, number = marked(document)
    signs = [(sign[2], sign[1]) for sign in re.finditer(r"(.*?) \[sign: ([a-z ]+)\]", text)]
    assert len(signs) == number
    assert re.sub(r" \[sign: [a-z ]+\]", "", text) == document.text
    return signs


PRICES = ("Item|Price", "Bolt|1.00", "Nut|2.00", "Pin|3.50", "Cap|1.25", "Rod|9.00")
BY_FORM = {
    "a hidden sheet": (
        book(sheet("a|b", "x|1"), sheet("a|b", "x|2", name="Old", number="(2 of 2, hidden)")),
        ("hidden", '## Sheet "Old" (2 of 2, hidden)'),
    ),
    "hidden rows": (
        book(Section("Hidden rows: 7-9\n\nCells A1:B2:", "S", '## Sheet "S" (1 of 1)')),
        ("hidden", "Hidden rows: 7-9"),
    ),
    "a comment on a cell": (
        book(sheet(*PRICES, after="Comments on cells:\n- B3: Per hundred, says Kim")),
        ("comment", "- B3: Per hundred, says Kim"),
    ),
    "speaker notes": (
        Document(
            (
                Section(
                    "### Sales\n\n- 41\n\nSpeaker notes: The last one\nis a guess.", "2", "## Slide 2 of 2"
                ),
            )
        ),
        ("speaker note", "is a guess."),
    ),
    "a footnote of a document": (
        Document((Section("Fee: 40\n\nFootnotes:\n- In Geneva 60."),)),
        ("footnote", "- In Geneva 60."),
    ),
    "a line whose mark stands behind a figure": (
        read_text(b"Mon 4.20\nTue 6.80*\nWed 5.10\n\n* plus 1.00 for guests"),
        ("footnote", "* plus 1.00 for guests"),
    ),
    "a word among numbers": (
        book(sheet(*PRICES, "Lid|ask Ben")),
        ("odd value", "| Lid | ask Ben |"),
    ),
    "a remark in a column of blanks": (
        read_delimited(b"no,sum,info\n1,20,\n2,35,see 4\n3,40,\n4,30,\n"),
        ("remark", "| 2 | 35 | see 4 |"),
    ),
    "a row that is one sentence": (
        book(sheet("Room|Mon|Sat", "Small|40|60", "Large|70|95", "Members pay half on weekdays||")),
        ("remark", "| Members pay half on weekdays |  |  |"),
    ),
    "a cell that is struck out": (
        book(sheet("Item|Price", "Bolt|~~1.00~~", "Nut|2.00")),
        ("void", "| Bolt | ~~1.00~~ |"),
    ),
    "two currencies in a column": (
        book(sheet("Item|Price", "Bolt|€ 1.00", "Nut|€ 2.00", "Pin|$ 3.50")),
        ("unit", "| Pin | $ 3.50 |"),
    ),
    "two units in a column": (
        read_delimited(b"article,weight,unit\nlamp,3,kg\ndesk,900,g\nrug,8,kg\n"),
        ("unit", "| desk | 900 | g |"),
    ),
    "a line unlike all others": (
        read_text(
            "\n".join([*(f"{n}:00 pump {n} reads {n}" for n in range(12)), "12:30 clock set back"]).encode()
        ),
        ("odd line", "12:30 clock set back"),
    ),
    "a sentence among lines of data": (
        read_text(b"Line 7\n\nHarbour 7:10 S 8:40\nStation 7:25 S 8:55\n\nS runs on days of school."),
        ("remark", "S runs on days of school."),
    ),
    "a term in quotes": (
        pages("The fee is 9.", "'Days' are those on which the office is open."),
        ("definition", "'Days' are those on which the office is open."),
    ),
    "thousands of a currency": (
        book(sheet("Town|Sales (EUR k)", "Ulm|1", "Graz|2")),
        ("unit", "| Town | Sales (EUR k) |"),
    ),
}
"""By what it is: a document, and the sign that is in it."""


@pytest.mark.parametrize("what", BY_FORM)
def test_marks_of_no_language(what: str) -> None:
    document, sign = BY_FORM[what]
    assert sign in found(document)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("exception", "Delivery is free, except to islands."),
        ("exception", "Getränke sind nicht enthalten."),
        ("void", "Invoice 12 was cancelled on Monday."),
        ("void", "Die Rechnung wurde storniert."),
        ("correction", "The table should read 14 in place of 41."),
        ("version", "This list supersedes the one of March."),
        ("version", "Diese Liste gilt ab März."),
        ("unit", "All amounts in thousands of euros."),
        ("provisional", "The figure of June is an estimate."),
        ("rule", "Each line is rounded to the cent."),
        ("bound", "Purchases of more than 500 euros are signed twice."),
        ("remark", "Note: the shop was closed in May."),
        ("remark", "**Hinweis:** Mai war geschlossen."),
        ("definition", "x = present, o = missing"),
    ],
)
def test_words(kind: str, sentence: str) -> None:
    assert found(pages("The town has a library.", sentence)) == [(kind, sentence)]


PLAIN = {
    "table": read_delimited(
        b"item,qty,price\n" + b"".join(b"i%d,%d,%d.50\n" % (n, n * 7, n) for n in range(40))
    ),
    "book": book(
        sheet(*PRICES, number="(1 of 2)"), sheet("Name|Town", "Kern|Ulm", "Lutz|Graz", name="Suppliers")
    ),
    "letter": read_text(
        b"Dear Ms Novak,\n\nthank you for your order of 12 May. We send you these items:\n\n"
        b"- 20 chairs at 45.00\n- 4 tables at 210.00\n\nThey arrive in the week of 1 June. "
        b"If you have any questions, please call us.\n"
    ),
    "report": read_text(
        b"# The town library\n\nThe library was founded in 1902 by a teacher. It owns 40,000 books and\n"
        b"lends 300 a day. The reading room has 60 seats.\n\n"
        b"| Year | Loans |\n| --- | --- |\n| 2024 | 90 |\n| 2025 | 94 |\n"
    ),
    "manual": pages(
        "# Coffee\n\nPut a cup below the spout. Press the button once.", "Rinse the tank every evening."
    ),
    "log": read_text("\n".join(f"2026-01-{n:02} level {40 + n}" for n in range(1, 29)).encode()),
    "invoice": pages(
        "| Item | Amount |\n| --- | --- |\n| Desk | 420.00 |\n| Lamp | 78.00 |\n| Total | 498.00 |"
    ),
}


@pytest.mark.parametrize("name", PLAIN)
def test_an_ordinary_document_has_next_to_none(name: str) -> None:
    assert len(found(PLAIN[name])) <= 1


ORDINARY = (
    "# Minutes\n\n**Present:** Kim, Lutz\n\n* Kim is away until May\n* Lutz won 3 to 1 in total\n* see [1]\n"
    "* [Net prices](#net)\n\n1 Members left without a word, and the former chair returned\n\n"
    "| no | note |\n| --- | --- |\n| 742 | Returned: 742 |\n| 743 | Total |"
)


def test_words_and_forms_that_misled_are_no_signs() -> None:
    """Each was a sign once and misled readers of real documents."""
    assert found(read_text(ORDINARY.encode())) == []


def test_what_is_alike_is_one_sign() -> None:
    rows = b"".join(b"%d,%s\n" % (n, b"was cancelled" if n % 3 else b"paid") for n in range(1, 13))
    assert found(read_delimited(b"no,state\n" + rows)) == [("void", "| 1 | was cancelled |")]


def test_of_a_kind_the_first_are_marked() -> None:
    text = "\n\n".join(f"Chapter {n} excludes the north." for n in range(20))
    assert len(found(read_text(text.encode()))) == MOST_OF_A_KIND


def test_words_that_a_file_is_full_of_are_no_signs() -> None:
    sentences = [f"Room {n} holds up to 9." for n in range(3)]
    assert len(found(pages(*sentences))) == 3
    assert found(pages(*sentences, "Room 4 holds up to 8.")) == []


def test_a_mark_follows_its_sentence_inside_a_wrapped_paragraph() -> None:
    text = "The library lends books to all people of the town, except\nto children. It has 60 seats."
    assert marked(read_text(text.encode()))[0] == text.replace("children.", "children. [sign: exception]")


def test_versions_by_the_names_of_files() -> None:
    names = ["prices_v1.xlsx", "prices_v2.xlsx", "plan.docx", "plan (final).docx", "2024.csv", "2025.csv"]
    assert other_versions(names) == {
        "prices_v1.xlsx": ["prices_v2.xlsx"],
        "prices_v2.xlsx": ["prices_v1.xlsx"],
        "plan.docx": ["plan (final).docx"],
        "plan (final).docx": ["plan.docx"],
    }


WILD = st.text(alphabet=st.sampled_from("ab1*|-\n .,#()=^¹\"'€:?") | st.characters(), max_size=600)


@given(WILD.filter(lambda text: "[sign" not in text), st.sampled_from(["", "page", "sheet"]))
def test_marks_change_nothing_else_in_any_text(text: str, unit: str) -> None:
    table = f"| a | b |\n| --- | --- |\n| {text} | 1 |\n| 2 | {text} |"
    document = Document((Section(text, "1", text[:20]), Section(table, "2"), Section("")), unit=unit)
    shown, number = marked(document)
    assert (shown, number) == marked(document)
    assert shown.count(MARK) == number
    assert re.sub(r" \[sign: [a-z ]+\]", "", shown) == document.text


@pytest.mark.parametrize(
    "text", ["1" * 60_000, "a" * 60_000, "*" * 60_000, " (=" * 20_000, "[a]\n" * 15_000, '"a' * 30_000]
)
def test_no_text_takes_long(text: str) -> None:
    began = time.process_time()
    marked(Document((Section(text), Section(f"| a | b |\n| --- | --- |\n| {text} | 1 |"))))
    assert time.process_time() - began < 2
