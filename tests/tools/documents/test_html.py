from __future__ import annotations

import pytest

from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.formats import read_document

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
