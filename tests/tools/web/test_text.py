from __future__ import annotations

import time
from dataclasses import replace

import pytest

from forethought.tools.base import ToolError
from forethought.tools.visit_webpage import page_text
from forethought.tools.web.fetch import Page

PAGE = Page("http://example.org/a/b", "text/html", None, b"")
ARTICLE = """<html><head><title>Tea report &amp; more</title></head>
<body><nav><a href=/x>Home</a></nav><article>
<h1>Tea prices</h1><p>The price of tea rose in <a href="/may">May</a> by four per cent, which is more than in
the year before and less than anybody had expected at the time.</p><table><tr><th>Year</th><th>Price</th></tr>
<tr><td>2020</td><td>3.1</td></tr></table></article><script>var hidden = 1</script></body></html>"""


def of(kind: str, body: bytes | str, charset: str | None = None) -> Page:
    return replace(
        PAGE, media_type=kind, body=body.encode() if isinstance(body, str) else body, charset=charset
    )


async def test_main_text_tables_and_full_links_of_a_page() -> None:
    text = await page_text(of("text/html", ARTICLE))
    assert text.startswith("Tea report & more\n\n")
    assert "# Tea prices" in text
    assert "[May](http://example.org/may)" in text
    assert "| 2020 | 3.1 |" in text
    assert "hidden" not in text


async def test_a_page_without_main_text_is_shown_whole() -> None:
    text = await page_text(of("text/html", "<html><body><a href='/a'>Only links</a></body></html>"))
    assert text == "[Only links](http://example.org/a)"


async def test_a_page_without_any_text_is_empty() -> None:
    assert (await page_text(of("text/html", "<html><body><script>x()</script></body></html>"))).strip() == ""


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("<p>Käse für 3 €</p>".encode(), None),
        ("<p>Käse für 3 €</p>".encode("cp1252"), "windows-1252"),
        ("<p>Käse für 3 €</p>".encode("utf-16"), None),
        ('<html><head><meta charset="iso-8859-15"></head><p>Käse für 3 €</p>'.encode("iso-8859-15"), None),
        (b"\xef\xbb\xbf" + "<p>Käse für 3 €</p>".encode(), None),
    ],
)
async def test_the_charset_is_the_servers_the_pages_or_a_good_guess(body: bytes, charset: str | None) -> None:
    assert "Käse für 3 €" in await page_text(of("text/html", body, charset))


async def test_a_charset_that_does_not_exist_or_fit_does_no_harm() -> None:
    assert "Käse" in await page_text(of("text/plain", "Käse", "x-nonsense"))
    assert await page_text(of("text/plain", b"K\xe4se", "utf-8")) == "Käse"
    assert (
        await page_text(of("text/plain", "Käse, größer".encode() * 9 + b"\xe4", "utf-8"))
        == "Käse, größer" * 9 + "\ufffd"
    )


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/json",
        "application/ld+json",
        "text/csv",
        "application/xml",
        "image/svg+xml",
        "",
    ],
)
async def test_text_is_left_as_it_is(kind: str) -> None:
    assert await page_text(of(kind, '{"a":  [1]}\n')) == '{"a":  [1]}\n'


async def test_without_a_type_the_content_tells() -> None:
    assert "# Tea prices" in await page_text(of("", "\n <!DOCTYPE html>" + ARTICLE))
    assert await page_text(of("application/octet-stream", "plain words")) == "plain words"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("image/png", b"\x89PNG\r\n"),
        ("video/mp4", b"x"),
        ("", b"\x00\x01"),
        ("application/octet-stream", b"\xff\xfe\xfd"),
    ],
)
async def test_other_types_are_refused_by_name(kind: str, body: bytes) -> None:
    with pytest.raises(ToolError, match=kind or "unknown") as caught:
        await page_text(of(kind, body))
    assert caught.value.cause == "unavailable"
    assert "PDF" in caught.value.hint


async def test_a_short_page_keeps_its_lines_and_tables() -> None:
    rows = "<tr><th>Room</th><th>Price</th></tr><tr><td>12</td><td>80</td></tr>"
    text = await page_text(
        of(
            "text/html",
            f"<article><h1>Rooms</h1><p>Taxes of 5<sup>1</sup></p><table>{rows}</table></article>",
        )
    )
    assert text == "# Rooms\n\nTaxes of 5^1^\n\n| Room | Price |\n| --- | --- |\n| 12 | 80 |"


async def test_a_pdf_is_read() -> None:
    from fpdf import FPDF

    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("Helvetica", size=12)
    pdf.cell(text="Tea rose by four per cent")
    assert "Tea rose by four per cent" in await page_text(of("application/pdf", bytes(pdf.output())))


async def test_a_broken_document_is_an_error() -> None:
    with pytest.raises(ToolError, match=r"http://example\.org/a/b is damaged"):
        await page_text(of("application/pdf", b"%PDF-1.7 nothing more"))


async def test_a_page_of_opening_titles_takes_no_longer_than_its_length() -> None:
    body = "<html><body><p>" + "some words of text here. " * 50 + "</p>" + "<title>" * 20_000
    began = time.monotonic()
    await page_text(of("text/html", body))
    assert time.monotonic() - began < 5


async def test_a_page_that_is_read_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forethought.tools.visit_webpage.READING_S", 1.0)
    slow = of("text/plain", b"b" * 3_000_000 + b"-" + b"a" * 3_000_000, "punycode")
    began = time.monotonic()
    with pytest.raises(ToolError, match="takes longer than 1 seconds") as caught:
        await page_text(slow)
    assert (caught.value.cause, caught.value.hint) == ("timeout", "use another source")
    assert time.monotonic() - began < 8
    monkeypatch.undo()
    assert await page_text(of("text/plain", "the next one")) == "the next one"
