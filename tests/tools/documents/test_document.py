"""Documents by part, and tables as Markdown."""

from __future__ import annotations

import time

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from forethought.tools.documents import tables
from forethought.tools.documents.document import Document, Section, Unreadable, split, split_header, stretches
from forethought.tools.documents.tables import html_rows, markdown_table, titled_table

WORDS = st.lists(st.text("abcdef .,\n", max_size=300), max_size=20)


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(WORDS, st.integers(20, 500))
def test_parts_of_a_text_lose_nothing_and_stay_within_the_limit(paragraphs: list[str], limit: int) -> None:
    text = "\n\n".join(paragraphs)
    parts = split(Document((Section(text),)), limit)
    assert squeezed("".join(part.text for part in parts)) == squeezed(text)
    assert all(len(part.text) <= limit for part in parts)


@given(st.integers(0, 200), st.integers(0, 120), st.integers(300, 2000), WORDS)
def test_a_split_table_repeats_its_header_and_keeps_every_row(
    rows: int, width: int, limit: int, before: list[str]
) -> None:
    table = markdown_table([["id", "text"], *([f"row-{n}.", "x" * width] for n in range(rows))])
    document = Document((Section("\n\n".join([*before, table]), "June", '## "June"'),), unit="sheet")
    parts = split(document, limit)
    found = [line for part in parts for line in part.text.split("\n") if line.startswith("| row-")]
    assert [line.split()[1] for line in found] == [f"row-{n}." for n in range(rows)]
    for part in parts:
        if (at := part.text.find("| row-")) >= 0:
            assert part.text[:at].endswith("| id | text |\n| --- | --- |\n")
    assert all(part.text.startswith('## "June" (continued)') for part in parts[1:])
    assert all(part.places == ("June",) for part in parts)


def test_a_row_longer_than_a_part_is_split() -> None:
    table = markdown_table([["a", "b"], ["1", "x" * 950], ["2", "y"]])
    parts = split(Document((Section(table),)), 300)
    text = "".join(part.text for part in parts)
    assert (text.count("x"), "| 2 | y |" in text) == (950, True)
    assert all(len(part.text) <= 300 for part in parts)


def test_parts_know_their_pages_which_keep_their_headings() -> None:
    sections = tuple(Section(f"{n} " + "word " * 18, str(n), f"## Page {n} of 6") for n in range(1, 7))
    parts = split(Document(sections, unit="page"), 250)
    assert [part.places for part in parts] == [("1", "2"), ("3", "4"), ("5", "6")]
    assert all(part.text.startswith("## Page") and "(continued)" not in part.text for part in parts)


@given(st.text(alphabet="ab \n", max_size=400), st.integers(2, 50))
def test_stretches_joined_are_the_text_and_none_is_too_long(text: str, size: int) -> None:
    found = list(stretches(text, size))
    assert "".join(found) == text
    assert all(len(stretch) <= size for stretch in found)
    assert list(stretches("aaaa\nbbbb\ncccc", 11)) == ["aaaa\nbbbb\n", "cccc"]


def test_short_rows_are_padded_and_bars_and_line_breaks_escaped() -> None:
    assert markdown_table([["a", "b"], ["x|y\nz"]]) == "| a | b |\n| --- | --- |\n| x\\|y<br>z |  |"


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("| a |\n| --- |\n| 1 |\n| 2 |", ("| a |\n| --- |", ["| 1 |", "| 2 |"])),
        ("a | b\n--|--\n1 | 2", ("a | b\n--|--", ["1 | 2"])),
        ("Title\n---\ntext", None),
        ("one line", None),
    ],
)
def test_a_table_is_distinguished_from_text(text: str, split: tuple[str, list[str]] | None) -> None:
    assert split_header(text) == split


def test_a_table_too_large_to_lay_out_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "LARGEST_TABLE", 5)
    with pytest.raises(Unreadable, match="too large"):
        markdown_table([["a", "b"]] * 3)


@pytest.mark.parametrize(
    ("cells", "row"),
    [
        ("<td colspan=99999999999999>a</td><td rowspan='x'>b</td>", ["a", "b"]),
        ("<td colspan=2>May 5", ["May 5", "May 5"]),
        ("<th colspan=2>2023", ["2023", "2023"]),
    ],
)
def test_a_cell_that_spans_columns_is_repeated_within_limits(cells: str, row: list[str]) -> None:
    assert html_rows(BeautifulSoup(f"<table><tr>{cells}</tr></table>", "lxml"))[0] == row


def test_a_false_header_rule_is_rejected_in_linear_time() -> None:
    began = time.process_time()
    assert split_header("a|b\n|" + "-" * 200_000 + "x") is None
    assert time.process_time() - began < 1


def test_equal_cells_of_a_row_are_no_title() -> None:
    assert titled_table([["5", "5"], ["7", "7"]]) == "| 5 | 5 |\n| --- | --- |\n| 7 | 7 |"
