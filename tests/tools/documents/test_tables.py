from __future__ import annotations

import time

import pytest
from bs4 import BeautifulSoup

from forethought.tools.documents import tables
from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.tables import html_rows, markdown_table, split_header, titled_table


def test_short_rows_are_filled_up_and_bars_and_line_breaks_escaped() -> None:
    assert markdown_table([["a", "b"], ["x|y\nz"]]) == "| a | b |\n| --- | --- |\n| x\\|y<br>z |  |"
    assert markdown_table([]) == ""


def test_a_table_is_told_from_a_text() -> None:
    assert split_header("| a |\n| --- |\n| 1 |\n| 2 |") == ("| a |\n| --- |", ["| 1 |", "| 2 |"])
    assert split_header("a | b\n--|--\n1 | 2") == ("a | b\n--|--", ["1 | 2"])
    assert split_header("Title\n---\ntext") is None
    assert split_header("one line") is None


def test_a_table_too_large_to_lay_out_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "LARGEST_TABLE", 5)
    with pytest.raises(Unreadable, match="too large"):
        markdown_table([["a", "b"]] * 3)


def test_wild_spans_do_not_fill_the_memory() -> None:
    html = "<table><tr><td colspan=99999999999999>a</td><td rowspan='x'>b</td></tr></table>"
    row = html_rows(BeautifulSoup(html, "lxml"))[0]
    assert row == ["a", "b"]


def test_a_long_rule_that_is_none_is_told_at_once() -> None:
    """In a time that grows with its length: with its square, a file of dashes would stop the process."""
    began = time.monotonic()
    assert split_header("a|b\n|" + "-" * 200_000 + "x") is None
    assert time.monotonic() - began < 1


def test_equal_cells_of_a_row_are_all_shown() -> None:
    assert titled_table([["5", "5"], ["7", "7"]]) == "| 5 | 5 |\n| --- | --- |\n| 7 | 7 |"
    assert titled_table([["Title", ""], ["a", "b"]]) == "Title\n\n| a | b |\n| --- | --- |"


@pytest.mark.parametrize(
    "number",
    ["500", "1,200.50", "-3", "(12)", "15 %", "€ 80", "80 €", "EUR 80", "80 EUR", "1 200", "$1.5"],
)
def test_a_number_that_spans_cells_does_not_count_twice(number: str) -> None:
    html = (
        f"<table><tr><td colspan=2>{number}</td><td rowspan=2>{number}</td></tr><tr><td>a<td>b</tr></table>"
    )
    assert html_rows(BeautifulSoup(html, "lxml")) == [
        [number, "(same cell)", number],
        ["a", "b", "(same cell)"],
    ]


@pytest.mark.parametrize("cell", ["<td colspan=2>May 5", "<td colspan=2>3rd", "<th colspan=2>2023"])
def test_a_text_or_header_that_spans_cells_is_repeated(cell: str) -> None:
    row = html_rows(BeautifulSoup(f"<table><tr>{cell}</tr></table>", "lxml"))[0]
    assert row[0] == row[1]
