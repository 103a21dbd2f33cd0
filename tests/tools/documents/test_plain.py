from __future__ import annotations

import pytest

from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.formats import read_document
from forethought.tools.documents.plain import BROKEN_UTF8, NOT_UTF8, read_text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("name", ["a.txt", "a.md", "notes"])
def test_text_of_any_name_stays_as_it_is(name: str, encoding: str) -> None:
    text = "# Über\n\n  1. Kč\n\n| a |\n"
    document = read_document(text.replace("\n", "\r\n").encode(encoding), name)
    assert document.text == text.strip("\n")
    assert document.note == ""


def test_text_that_is_not_utf8_is_read_and_the_guess_is_told() -> None:
    document = read_document("Café für 5 €".encode("cp1252"), "a.txt")
    assert document.text == "Café für 5 €"
    assert document.note == NOT_UTF8


@pytest.mark.parametrize("data", [bytes(range(256)), b"a\0b"])
def test_what_is_not_text_is_refused_with_the_formats_that_are_read(data: bytes) -> None:
    with pytest.raises(Unreadable, match="supported format") as raised:
        read_document(data, "a.png")
    assert raised.value.hint


def test_utf8_with_a_broken_place_stays_utf8() -> None:
    found = read_text("Käse, Größe, Übung, Öl\n".encode() * 5 + b"\xff end")
    assert found.text.startswith("Käse, Größe")
    assert found.text.endswith("\ufffd end")
    assert found.note == BROKEN_UTF8


def test_the_declared_encoding_counts() -> None:
    text = '<?xml version="1.0" encoding="iso-8859-15"?>\n<käse preis="3 €"/>'
    document = read_document(text.encode("iso-8859-15"), "a.xml")
    assert (document.text, document.note) == (text, "")
    wrong = '<?xml version="1.0" encoding="x-nonsense"?><käse/>'
    assert read_document(wrong.encode(), "a.svg").text == wrong


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
