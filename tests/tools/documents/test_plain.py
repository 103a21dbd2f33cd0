from __future__ import annotations

import pytest

from forethought.tools.documents.content import read_content
from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.formats import read_document
from forethought.tools.documents.plain import BROKEN_UTF8, NOT_UTF8, decode, read_text


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
    assert document.note == NOT_UTF8.format("cp1252")


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


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Miasto;Kwota\nŁódź;450\nKraków;300\n", "cp1250"),
        ("Město;Částka\nPlzeň;450\nČeské Budějovice;12\n", "cp1250"),
        ("Город;Сумма\nМосква;450\nКазань;300\n", "cp1251"),
        ("Город;Сумма\nМосква;450\n", "koi8-r"),
        ("Πόλη;Ποσό\nΑθήνα;450\n", "cp1253"),
        ("Şehir;Tutar\nİstanbul;450\nMuğla;1\n", "cp1254"),
        ("Miestas;Suma\nŠiauliai;450\nPanevėžys;3\n", "cp1257"),
        ("都市,金額\n東京,450\n大阪,300\n", "cp932"),
        ("城市,金额\n北京,450\n上海,300\n", "gb18030"),
        ("도시,금액\n서울,450\n부산,300\n", "cp949"),
        ("Größe;Preis\nMüller;4,50\n", "cp850"),
        ("Größe;Preis\nMüller;4,50\n", "mac_roman"),
        ("Größe;Preis\nMüller;4,50 €\n", "cp1252"),
        ("Ciudad;Precio\nLogroño;12\n", "cp1252"),
        ("20 °C, 5 µm", "cp1252"),
        ("Price £5", "cp1252"),
        ("City;Sum\nBonn;450\n", "utf-16-le"),
        ("都市,金額\n", "iso2022_jp"),
    ],
)
def test_an_encoding_is_told_by_its_letters(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding))[0] == text


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("sep=;\nCity;Cost;Code\nBonn;1.234,56;01234\nUlm;12;5\nKiel;n/a;9", [1234.56, 12, "n/a"]),
        ('City,Cost\nBonn,"1,234.50"\nUlm,3.5', [1234.5, 3.5]),
        ("City;Cost\nBonn;1.234\nUlm;2.345", ["1.234", "2.345"]),
        ("City;Cost\nBonn;12.03.2026\nUlm;1.5", ["12.03.2026", "1.5"]),
        ("City,Cost\nBonn,1.5\nUlm,2", ["1.5", "2"]),
    ],
)
def test_numbers_of_other_countries_become_numbers_where_the_table_tells(
    text: str, rows: list[object]
) -> None:
    content = read_content(text.encode(), "a.csv")
    assert isinstance(content.tables, list)
    assert [row[1] for row in content.tables[1:]] == rows
    assert content.text == text
    assert bool(read_document(text.encode(), "a.csv").note) == ("1.234,56" in text)
