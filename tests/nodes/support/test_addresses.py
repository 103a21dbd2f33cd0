"""Addresses in texts, and text for a person in which only the known ones link."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from forethought.nodes.support.addresses import address_key, addresses_in, links_in, made_up
from forethought.nodes.support.inert_text import inert

URL = "https://x.org/a?q=secret"


@pytest.mark.parametrize(
    "same",
    [
        "https://x.org/a?q=secret",
        "http://x.org/a?q=secret",
        "HTTPS://X.ORG:443/a?q=secret#part",
        " x.org/a?q=secret ",
        "view-source:https://x.org/a?q=secret",
        "https://x.org./a?q=secret",
    ],
)
def test_spellings_of_one_address(same: str) -> None:
    assert address_key(same) == address_key(URL)


@pytest.mark.parametrize(
    "other",
    [
        "https://x.org/a?q=secreT",
        "https://x.org/a?q=secret2",
        "https://x.org/a?q=",
        "https://x.org/A?q=secret",
        "https://secret@x.org/a?q=secret",
        "https://x.org:8443/a?q=secret",
        "https://s.x.org/a?q=secret",
        "https:///a",
        "javascript:alert(1)",
        "",
        "http://[::1",
    ],
)
def test_other_addresses(other: str) -> None:
    assert address_key(other) != address_key(URL)


@pytest.mark.parametrize(
    "text",
    [
        f"see {URL}.",
        f"[a]({URL})",
        f"![a]({URL}) b",
        f"<{URL}>",
        f'"{URL}", and',
        f"({URL}), {URL}!",
        f"**{URL}**",
        f"| {URL}|",
        "x.org/a?q=secret is it",
        "https://x.org/a?q=secret&amp;b=1 https://x.org/a?q=secret",
    ],
)
def test_addresses_are_found_where_people_and_pages_put_them(text: str) -> None:
    assert address_key(URL) in addresses_in(text)


def test_html_entities_are_read() -> None:
    assert address_key("https://x.org/?a=1&b=2") in addresses_in("https://x.org/?a=1&amp;b=2")


@pytest.mark.parametrize(
    ("url", "words", "may_be"),
    [
        ("https://x.org/a/4711", "x.org 4711", True),
        ("https://4711.x.org/", "x.org 4711", True),
        ("https://x.org/?q=a%20code", "see x.org: a code", True),
        ("https://x.org/", "x.org", True),
        ("https://x.org/a/4711", "x.org", False),
        ("https://x.org/a/4711", "4711", False),
        ("https://docs.python.org/library/asyncio", "python asyncio", False),
    ],
)
def test_what_may_be_made_of_words(url: str, words: str, may_be: bool) -> None:
    assert made_up(address_key(url) or "", words) == may_be


@pytest.mark.parametrize(
    "link", ["http://y.org/a", "y.org", "www.y.org", "//y.org/a", "eve@y.org", "http&#58;//y.org"]
)
def test_whatever_a_reader_may_take_for_an_address(link: str) -> None:
    assert list(links_in(f"Look at {link}."))


@given(st.text())
def test_any_text_can_be_searched(text: str) -> None:
    assert all(isinstance(key, str) for key in addresses_in(text))
    address_key(text)


def test_long_texts_take_no_long_time() -> None:
    started = time.process_time()
    for part in ("a.", "http://", "a-", "https://x.org/)", "x.org/](", "www.", "&#47;"):
        addresses_in(part * (20_000 // len(part)))
    assert time.process_time() - started < 5


KNOWN = addresses_in("https://x.org/a")
CODE = '```html\n<table><img src="https://y.org">\n\nlet a = vec![1]; &amp; R&#65;\n```'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the sum is 4", "the sum is 4"),
        ("a list[0] != b, 3 < 4 and <b>bold</b>", "a list[0] != b, 3 < 4 and <b>bold</b>"),
        ("see https://x.org/a.", "see https://x.org/a."),
        ("[text](https://x.org/a)", "[text](https://x.org/a)"),
        ("![p](https://x.org/a)", "[p](https://x.org/a)"),
        ("see https://y.org/a.", "see `https://y.org/a`."),
        ("![p](https://y.org/a)", "[p](`https://y.org/a`)"),
        ("!![p](https://x.org/a)", "[p](https://x.org/a)"),
        ("www.y.org, or //y.org/b", "`www.y.org`, or `//y.org/b`"),
        ('<img src="https://x.org/a">', '&lt;img src="https://x.org/a">'),
        ("R&amp;D &#65;", "R&D A"),
        (f"a\n{CODE}\n![p](https://x.org/a)", f"a\n{CODE}\n[p](https://x.org/a)"),
        (f"- ```\r\n\r\n{CODE}", f"- ```\n\n{CODE}"),
        ("   ```\na\n\n```\n![p](//y.org)\n```", "   ```\na\n\n```\n[p](`//y.org`)\n```"),
        ("<table>\n```\n\n```\n<img>\n```\n", "&lt;table>\n```\n\n```\n&lt;img>\n```\n"),
    ],
)
def test_only_what_loads_or_links_is_changed(text: str, shown: str) -> None:
    assert inert(text, KNOWN) == shown


PIECES = [
    *("![", "](", ")", "<img src=", "http:", "//", "/", "\\", "y.org", " ", "<", ">", "`"),
    *("&#47;", "&colon;", "\n", '"', "[a]: ", "x"),
    *("\n```\n", "\n\n", "\r", "~~~", "    ", "- ", "> ", "<table>", "<pre>", "<!--", "&#10;"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_no_mix_of_pieces_makes_a_picture_of_another_host(pieces: list[str]) -> None:
    page = MarkdownIt("commonmark", {"html": True}).render(inert("".join(pieces), ()))
    assert "<img" not in page.replace("&lt;img", "")
    assert 'href="http://y.org' not in page
    assert 'href="//y.org' not in page


def test_long_texts_are_made_harmless_in_no_long_time() -> None:
    started = time.process_time()
    for part in ("![", "![a](", "<img ", "//", "www.", "&#47;", "> ", "```\n"):
        inert(part * (100_000 // len(part)) + "\n```\n", ())
    assert time.process_time() - started < 5


LINKS = (
    "![x](http://localhost:1/?q=4711)",
    "![x](<http://localhost:1/?q=4711>)",
    "![x][r]\n\n[r]: http://localhost:1/?q=4711",
    '<img src="http://localhost:1/?q=4711">',
    "<img src=http://localhost:1/?q=4711>",
    "![x](//localhost:1/?q=4711)",
    "![x](http&#58;//localhost:1/?q=4711)",
    "![x](http:\\\\localhost:1/?q=4711)",
    "[click](http://localhost:1/?q=4711)",
    "<http://localhost:1/?q=4711>",
    "http://localhost:1/?q=4711",
    '<a href="http://localhost:1/?q=4711">x</a>',
    '<div style="background:url(http://localhost:1/?q=4711)">',
    '<svg><image href="http://localhost:1/?q=4711"/></svg>',
    "![x](&#104;ttp&colon;&#47;&#x2F;localhost:1/?q=4711)",
    "[x](&#104;ttp&colon;&#47;&#47;localhost:1/?q=4711)",
    '<img src="/\t/localhost:1/?q=4711">',
    "![x](http:\\/\\/localhost:1/?q=4711)",
)


@pytest.mark.parametrize("link", LINKS)
def test_what_is_shown_to_a_person_loads_and_links_nothing(link: str) -> None:
    text = inert(link, ())
    assert "4711" in text, "it stays readable"
    page = MarkdownIt("commonmark", {"html": True}).render(text)
    assert not re.search(r"<(?:img|image|svg|iframe|object)\b", page), page
    loaded = re.findall(r"<(?:img|image|a|div|svg)\b[^>]*(?:src|href|style)\s*=\s*[\"']?([^\s\"'>]*)", page)
    assert not [at for at in loaded if re.match(r"(?:[a-z]+:)?[/\\]{2}|.*url\(http", at)], page
