from __future__ import annotations

from dataclasses import replace

import pytest

from forethought.settings import Settings
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


async def text_of(page: Page) -> str:
    return await page_text(page, Settings())


async def test_main_text_tables_and_full_links_of_a_page() -> None:
    text = await text_of(of("text/html", ARTICLE))
    assert text.startswith("Tea report & more\n\n")
    assert "# Tea prices" in text
    assert "[May](http://example.org/may)" in text
    assert "| 2020 | 3.1 |" in text
    assert "hidden" not in text
    links = await text_of(of("text/html", "<html><body><a href='/a'>Only links</a></body></html>"))
    assert links == "[Only links](http://example.org/a)", "a page without main text is shown whole"


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("<p>Käse für 3 €</p>".encode(), None),
        ("<p>Käse für 3 €</p>".encode("cp1252"), "windows-1252"),
        ("<p>Käse für 3 €</p>".encode("utf-16"), None),
        ('<html><head><meta charset="iso-8859-15"></head><p>Käse für 3 €</p>'.encode("iso-8859-15"), None),
    ],
)
async def test_the_charset_is_the_servers_the_pages_or_a_good_guess(body: bytes, charset: str | None) -> None:
    assert "Käse für 3 €" in await text_of(of("text/html", body, charset))


async def test_a_wrong_charset_is_ignored() -> None:
    assert "Käse" in await text_of(of("text/plain", "Käse", "x-nonsense"))
    assert await text_of(of("text/plain", b"K\xe4se", "utf-8")) == "Käse"


@pytest.mark.parametrize("kind", ["text/plain", "application/ld+json", "text/csv", "image/svg+xml", ""])
async def test_text_is_unchanged(kind: str) -> None:
    assert await text_of(of(kind, '{"a":  [1]}\n')) == '{"a":  [1]}\n'


async def test_without_a_type_the_content_tells() -> None:
    assert "# Tea prices" in await text_of(of("", "\n <!DOCTYPE html>" + ARTICLE))
    assert await text_of(of("application/octet-stream", "plain words")) == "plain words"


@pytest.mark.parametrize(
    ("kind", "body"), [("image/png", b"\x89PNG\r\n"), ("video/mp4", b"x"), ("", b"\x00\x01")]
)
async def test_other_types_are_refused_by_name(kind: str, body: bytes) -> None:
    with pytest.raises(ToolError, match=kind or "unknown") as caught:
        await text_of(of(kind, body))
    assert caught.value.cause == "unavailable"
    assert "PDF" in caught.value.hint


async def test_a_short_page_keeps_its_lines_and_tables() -> None:
    rows = "<tr><th>Room</th><th>Price</th></tr><tr><td>12</td><td>80</td></tr>"
    article = f"<article><h1>Rooms</h1><p>Taxes of 5<sup>1</sup></p><table>{rows}</table></article>"
    text = await text_of(of("text/html", article))
    assert text == "# Rooms\n\nTaxes of 5^1^\n\n| Room | Price |\n| --- | --- |\n| 12 | 80 |"


async def test_unclosed_tags_are_parsed_in_linear_time() -> None:
    body = "<html><body><p>" + "some words of text here. " * 50 + "</p>" + "<title>" * 20_000
    await text_of(of("text/html", body))  # else its reader would not have the time
