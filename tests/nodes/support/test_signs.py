"""Signs: what is found in documents by form and by words, what is not, and which are shown."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.nodes.support.signs import (
    MOST_OF_A_KIND,
    MOST_SHOWN,
    chosen,
    document_signs,
    file_name_signs,
    task_signs,
)
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


def found(document: Document) -> list[tuple[str, str, str]]:
    return [(s["kind"], s["place"].removeprefix("f, "), s["text"]) for s in document_signs("f", document)]


PRICES = ("Item|Price", "Bolt|1.00", "Nut|2.00", "Pin|3.50", "Cap|1.25", "Rod|9.00")
BY_FORM = {
    "a hidden sheet": (
        book(sheet("a|b", "x|1"), sheet("a|b", "x|2", name="Old", number="(2 of 2, hidden)")),
        ("hidden", "sheet Old", 'Sheet "Old" (2 of 2, hidden)'),
    ),
    "hidden rows": (
        book(Section("Hidden rows: 7-9\n\nCells A1:B2:", "S", '## Sheet "S" (1 of 1)')),
        ("hidden", "sheet S", "Hidden rows: 7-9"),
    ),
    "a comment on a cell": (
        book(sheet(*PRICES, after="Comments on cells:\n- B3: Per hundred, says Kim")),
        ("comment", "sheet May", "B3: Per hundred, says Kim"),
    ),
    "speaker notes": (
        Document(
            (
                Section(
                    "### Sales\n\n- 41\n\nSpeaker notes: The last one\nis a guess.", "2", "## Slide 2 of 2"
                ),
            )
        ),
        ("speaker note", "line 5", "The last one is a guess."),
    ),
    "a footnote of a document": (
        Document((Section("Fee: 40\n\nFootnotes:\n- In Geneva 60."),)),
        ("footnote", "line 4", "In Geneva 60."),
    ),
    "a line whose mark stands behind a figure": (
        read_text(b"Mon 4.20\nTue 6.80*\nWed 5.10\n\n* plus 1.00 for guests"),
        ("footnote", "line 5", "* plus 1.00 for guests"),
    ),
    "a word among numbers": (
        book(sheet(*PRICES, "Lid|ask Ben")),
        ("odd value", "sheet May, row 7", "Lid | Price: ask Ben"),
    ),
    "a negative number among positive ones": (
        read_delimited(b"day,amount\n1,20\n2,35\n3,40\n4,-35\n5,25\n"),
        ("odd value", "row 4", "4 | amount: -35"),
    ),
    "one value among many equal ones": (
        read_delimited(b"meter,read by\n1,Ana\n2,Ana\n3,guessed\n4,Ana\n5,Ana\n6,Ana\n"),
        ("odd value", "row 3", "3 | read by: guessed"),
    ),
    "a remark in a column of blanks": (
        read_delimited(b"no,sum,info\n1,20,\n2,35,see 4\n3,40,\n4,30,\n"),
        ("remark", "row 2", "2 | info: see 4"),
    ),
    "a row that is one sentence": (
        book(sheet("Room|Mon|Sat", "Small|40|60", "Large|70|95", "Members pay half on weekdays||")),
        ("remark", "sheet May, row 4", "Members pay half on weekdays"),
    ),
    "a cell that is struck out": (
        book(sheet("Item|Price", "Bolt|~~1.00~~", "Nut|2.00")),
        ("void", "sheet May, row 2", "Bolt | Price: ~~1.00~~"),
    ),
    "two currencies in a column": (
        book(sheet("Item|Price", "Bolt|€ 1.00", "Nut|€ 2.00", "Pin|$ 3.50")),
        ("unit", "sheet May, row 4", "Price: 1 of $, 2 of €"),
    ),
    "two units in a column": (
        read_delimited(b"article,weight,unit\nlamp,3,kg\ndesk,900,g\nrug,8,kg\n"),
        ("unit", "row 2", "unit: 1 of g, 2 of kg"),
    ),
    "sums among their parts": (
        read_delimited(b"kind,period,eur\nm,Jan,10\nm,Feb,25\nall,A,35\nm,Mar,40\nm,Apr,12\nall,B,52\n"),
        ("total", "row 3", "all | A | 35"),
    ),
    "a line unlike all others": (
        read_text(
            "\n".join([*(f"{n}:00 pump {n} reads {n}" for n in range(12)), "12:30 clock set back"]).encode()
        ),
        ("odd line", "line 13", "12:30 clock set back"),
    ),
    "a sentence among lines of data": (
        read_text(b"Line 7\n\nHarbour 7:10 S 8:40\nStation 7:25 S 8:55\n\nS runs on days of school."),
        ("remark", "line 6", "S runs on days of school."),
    ),
    "a term in quotes": (
        pages("The fee is 9.", "'Days' are those on which the office is open."),
        ("definition", "page 2", "'Days' are those on which the office is open."),
    ),
    "thousands of a currency": (
        book(sheet("Town|Sales (EUR k)", "Ulm|1", "Graz|2")),
        ("unit", "sheet May, header", "Sales (EUR k)"),
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
        ("version", "Diese Fassung ersetzt die von März."),
        ("deputy", "In her absence Mr Lutz signs."),
        ("deputy", "Frau Kern ist im Urlaub."),
        ("unit", "All amounts in thousands of euros."),
        ("time zone", "Departures are shown in UTC."),
        ("provisional", "The figure of June is an estimate."),
        ("rule", "Each line is rounded to the cent."),
        ("bound", "Purchases of more than 500 euros are signed twice."),
        ("period", "The ream costs 4.90 starting April."),
        ("case", "Should both arrive, the first is kept."),
        ("negation", "Dogs pay nothing."),
        ("remark", "Note: the shop was closed in May."),
        ("remark", "**Hinweis:** Mai war geschlossen."),
        ("definition", "x = present, o = missing"),
    ],
)
def test_words(kind: str, sentence: str) -> None:
    assert found(pages("The town has a library.", sentence)) == [(kind, "page 2", sentence)]


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


def test_what_is_alike_is_one_sign() -> None:
    rows = b"".join(b"%d,%s\n" % (n, b"void" if n % 3 else b"paid") for n in range(1, 13))
    signs = document_signs("f", read_delimited(b"no,state\n" + rows))
    assert [(s["text"], s["more"], s["origin"]) for s in signs] == [("1 | state: void", 7, "file:f")]


def test_of_a_kind_the_first_are_kept_and_the_others_counted() -> None:
    text = "\n\n".join(f"Chapter {n} excludes the north." for n in range(20))
    signs = document_signs("f", read_text(text.encode()))
    assert len(signs) == MOST_OF_A_KIND
    assert sum(1 + sign["more"] for sign in signs) == 20


def test_words_that_a_file_is_full_of_are_no_signs() -> None:
    sentences = [f"Room {n} has no window." for n in range(3)]
    assert len(found(pages(*sentences))) == 3
    assert found(pages(*sentences, "Room 4 has no door.")) == []


def test_conditions_of_the_task() -> None:
    task = "How much is owed, without tax, as of 31 March 2026? Count members only. Be kind."
    assert [(s["kind"], s["place"], s["text"]) for s in task_signs(task)] == [
        ("condition", "task", "without tax"),
        ("condition", "task", "as of 31 March 2026"),
        ("condition", "task", "Count members only"),
    ]


def test_versions_by_the_names_of_files() -> None:
    names = ["prices_v1.xlsx", "prices_v2.xlsx", "plan.docx", "plan (final).docx", "2024.csv", "2025.csv"]
    assert [(s["text"], s["origin"]) for s in file_name_signs(names)] == [
        ("prices_v1.xlsx / prices_v2.xlsx", "file:prices_v1.xlsx, file:prices_v2.xlsx"),
        ("plan.docx / plan (final).docx", "file:plan.docx, file:plan (final).docx"),
    ]


def test_the_highest_in_rank_and_the_nearest_to_the_task_are_shown_in_order() -> None:
    kinds = ("excludes", "cancelled", "corrected", "supersedes", "estimate", "deputy", "net", "rounded")
    text = "\n\n".join(f"The {thing} list: {kind}." for kind in kinds for thing in ("wood", "glass", "stone"))
    signs = document_signs("f", read_text(text.encode()))
    shown = chosen(signs, "What does the glass cost?")
    assert len(shown) == MOST_SHOWN
    assert [sign for sign in signs if sign in shown] == shown
    assert sum("glass" in sign["text"] for sign in shown) > sum("wood" in sign["text"] for sign in shown)


WILD = st.text(alphabet=st.sampled_from("ab1*|-\n .,#()=^¹\"'€:?") | st.characters(), max_size=600)


@given(WILD, st.sampled_from(["", "page", "sheet"]), st.text(max_size=300))
def test_any_text_has_few_short_signs_and_always_the_same(text: str, unit: str, task: str) -> None:
    table = f"| a | b |\n| --- | --- |\n| {text} | 1 |\n| 2 | {text} |"
    document = Document((Section(text, "1", text[:20]), Section(table, "2")), unit=unit)
    signs = document_signs("f", document)
    assert signs == document_signs("f", document)
    for sign in (*signs, *task_signs(task), *task_signs(text)):
        assert len(sign["text"]) <= 320
        assert "\n" not in sign["text"]
    assert len(chosen(signs, task)) <= MOST_SHOWN


@pytest.mark.parametrize(
    "text", ["1" * 60_000, "a" * 60_000, "*" * 60_000, " (=" * 20_000, "[a]\n" * 15_000, '"a' * 30_000]
)
def test_no_text_takes_long(text: str) -> None:
    began = time.process_time()
    document_signs("f", Document((Section(text), Section(f"| a | b |\n| --- | --- |\n| {text} | 1 |"))))
    assert time.process_time() - began < 2
