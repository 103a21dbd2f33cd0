"""Web pages, e-books and messages."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.formats import read_document
from forethought.tools.documents.pages import html_markdown, read_html
from tests.tools.documents import bombs

PAGE = """<!DOCTYPE html><html><head><title>Rates of 2026</title><style>p {color: red}</style></head><body>
<script>alert("bad")</script><h1>Rates</h1>
<p>See <a href="https://example.org/a">the bank</a>, <a href="/x">home</a>,
<a href="javascript:x()">this</a> and <b>that</b>: a_b * c.</p>
<ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul>
<table><caption>May</caption><tr><th>City</th><th colspan="2">Limits</th></tr>
<tr><td rowspan="2">Prague</td><td>lodging<br>a night</td><td>1 | 10</td></tr>
<tr><td>meals</td><td>30</td></tr></table>
<dl><dt>CZK</dt><dd>crown</dd></dl><img alt="A map" src="data:image/png;base64,AAAA">
<table><tr><td><p>Layout</p></td></tr></table></body></html>"""


def test_a_page_keeps_its_structure_and_loses_its_scripts() -> None:
    text = read_document(PAGE.encode(), "rates.html").text
    assert text.startswith("Rates of 2026\n\n# Rates\n\nSee [the bank](https://example.org/a), home,\n")
    assert "this and **that**: a_b * c." in text
    assert "- one\n  - inner\n- two" in text
    assert "May\n\n| City | Limits | Limits |\n| --- | --- | --- |" in text
    assert "| Prague | lodging a night | 1 \\| 10 |\n| Prague | meals | 30 |" in text
    assert "CZK" in text
    assert "crown" in text
    assert "A map" in text
    assert text.endswith("Layout")
    assert not [word for word in ("alert", "color", "javascript", "base64") if word in text]


def test_the_encoding_that_a_page_declares_is_used() -> None:
    page = '<html><meta charset="windows-1250"><p>Kč, žluťoučký</p></html>'
    assert read_document(page.encode("windows-1250"), "a.htm").text == "Kč, žluťoučký"


def test_a_page_nested_too_deep_still_gives_its_text() -> None:
    deep = "<div>" * 5000 + "found" + "</div>" * 5000
    assert "found" in read_document(f"<html><p>start</p>{deep}</html>".encode(), "a.html").text


def test_a_page_of_scripts_only_has_no_text() -> None:
    with pytest.raises(Unreadable, match="no text"):
        read_document(b"<html><script>x()</script></html>", "a.html")


CONTAINER = '<container><rootfile full-path="OEBPS/b.opf"/></container>'
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
<metadata><dc:title>Tea</dc:title><dc:creator>Ana</dc:creator><dc:creator>Ben</dc:creator></metadata>
<manifest><item id="two" href="text/two%20.xhtml"/><item id="one" href="../one.xhtml"/>
<item id="no" href="x.css"/><item id="gone" href="gone.xhtml"/>
<item id="out" href="../../../../etc/passwd"/></manifest>
<spine><itemref idref="one"/><itemref idref="two"/><itemref idref="gone"/>
<itemref idref="out"/><itemref idref="one"/></spine></package>"""


def test_chapters_come_once_in_the_order_of_the_spine() -> None:
    book = bombs.zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OEBPS/b.opf": PACKAGE,
            "one.xhtml": "<?xml version='1.0'?><!DOCTYPE html><html><h1>One</h1><p>Zürich</p></html>",
            "OEBPS/text/two .xhtml": "<html><body><table><tr><td>a</td><td>b</td></tr></table></body></html>",
        }
    )
    document = read_document(book, "tea.epub")
    assert document.note == "E-book: Tea by Ana, Ben."
    assert document.text == (
        "## Chapter 1 of 2\n\n# One\n\nZürich\n\n## Chapter 2 of 2\n\n| a | b |\n| --- | --- |"
    )
    assert document.where(["1", "2"]) == "chapters 1-2 of 2"


@pytest.mark.parametrize(
    "members",
    [{}, {"OEBPS/b.opf": "x"}, {"OEBPS/b.opf": "<package/>"}, {"META-INF/container.xml": "<container/>"}],
)
def test_an_unusable_e_book_is_named(members: dict[str, bytes | str]) -> None:
    book = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER, **members}
    with pytest.raises(Unreadable, match=r"damaged|no chapter"):
        read_document(bombs.zipped(book), "a.epub")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>EUR <del>450</del> <ins>540</ins></p>", "EUR [deleted: 450] [inserted: 540]"),
        ("<style>.old{text-decoration:line-through}</style><p class=old>450</p>", "[struck: 450]"),
        ("<p>EUR <s>450</s> 540</p>", "EUR [struck: 450] 540"),
        ('<p style="display: none">450</p>', "[hidden: 450]"),
        (
            "<style>@media print {.x{display:none}} #y{display:none}</style><p class=x>1<p id=y>2",
            "1\n\n[hidden: 2]",
        ),
        ("<input name=rate value=450> <input type=checkbox checked> yes", "[field rate: 450] [x]  yes"),
        ("<select><option>A<option selected>B</select>", "[chosen: B; other choices: A]"),
        ("<p><abbr title='net of tax'>450</abbr></p>", "450 (net of tax)"),
        ("<svg><text>Q1 450</text></svg>", "[drawing: Q1 450]"),
        ("<iframe srcdoc='&lt;p&gt;450&lt;/p&gt;'></iframe>", "450"),
        (
            '<p>Tea</p><script type="application/ld+json">{"price": "4,50"}</script>',
            'Tea\n\nData for search engines: {"price": "4,50"}',
        ),
    ],
)
def test_what_a_page_shows_by_its_looks_or_its_attributes_is_put_into_words(body: str, text: str) -> None:
    assert read_html(body.encode()).text == text


def test_a_page_on_the_web_does_not_show_what_it_hides() -> None:
    assert "450" not in html_markdown("<head><meta name=description content=450></head>Hi", "http://x.org")


def test_a_saved_page_is_read_from_its_one_file() -> None:
    saved = EmailMessage()
    saved["Snapshot-Content-Location"] = "https://example.org/rates"
    saved.set_content("<p>Rate: 450 \u20ac</p>", subtype="html", charset="utf-8")
    saved.make_related()
    saved.add_related(b"x", "image", "png")
    text = read_document(saved.as_bytes(), "rates.mhtml").text
    assert text == "Saved from https://example.org/rates\n\nRate: 450 €"
