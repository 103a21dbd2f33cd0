from __future__ import annotations

import pytest

from forethought.tools.documents.formats import read_document

TABLE = "| item | price |\n| --- | --- |\n| tea | 1,5 |\n| oat milk | 007 |"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", 'item,price\ntea,"1,5"\noat milk,007\n'),
        ("a.csv", "item;price\r\ntea;1,5\r\noat milk;007\r\n"),
        ("a.tsv", "item\tprice\ntea\t1,5\noat milk\t007"),
        ("a.csv", "\n;;\nitem;price;\ntea;1,5;\n;;\noat milk;007;\n"),
        ("a.CSV", "\ufeffitem|price\ntea|1,5\noat milk|007\n"),
    ],
)
def test_every_usual_delimiter_is_understood_and_cells_stay_as_written(name: str, text: str) -> None:
    assert read_document(text.encode(), name).text == TABLE


def test_title_lines_stay_above_the_table_and_line_breaks_in_the_cell() -> None:
    text = read_document(b'Report\n\na,b\n"x\n\ny",2\n', "a.csv").text
    assert text == "Report\n\n| a | b |\n| --- | --- |\n| x<br><br>y | 2 |"


def test_one_column_is_a_list_of_lines() -> None:
    assert read_document(b"name\nAna\nBen\n", "a.csv").text == "name\nAna\nBen"
