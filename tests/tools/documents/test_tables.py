from __future__ import annotations

import time

import pytest
from bs4 import BeautifulSoup

from forethought.tools.documents import tables
from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.tables import html_rows, markdown_table, split_header, titled_table


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
    began = time.monotonic()
    assert split_header("a|b\n|" + "-" * 200_000 + "x") is None
    assert time.monotonic() - began < 1


def test_equal_cells_of_a_row_are_no_title() -> None:
    assert titled_table([["5", "5"], ["7", "7"]]) == "| 5 | 5 |\n| --- | --- |\n| 7 | 7 |"
