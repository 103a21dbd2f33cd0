"""Which addresses a thread knows, who gave them, and text for a person without any other address."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from forethought.nodes.support.provenance import (
    address_key,
    addresses_in,
    approved_addresses,
    for_person,
    inert,
    known_addresses,
)
from forethought.tools.ask_user import ASK_USER
from forethought.tools.base import make_tool
from forethought.tools.python import PYTHON
from forethought.tools.visit_webpage import VISIT_WEBPAGE


def keep(text: str) -> str:
    """Keep a text."""
    return text


def look(key: str) -> str:
    """Look something up."""
    return key


TOOLS = {
    tool.name: tool
    for tool in (ASK_USER, PYTHON, VISIT_WEBPAGE, make_tool(keep, effect="write"), make_tool(look))
}
URL = "https://x.org/a?q=secret"


def step(n: int, tool: str = "look", observation: str = URL, **fields: Any) -> Any:
    base = {"n": n, "tool": tool, "observation": observation, "ok": True, "cause": "", "action": "call"}
    words = {"thought": "", "expected": "", "evaluation": "", "sub_steps": []}
    return {**base, **words, "arguments": {}, "origin": f"tool:{tool}", **fields}


def given_by(*steps: Any, **state: Any) -> bool:
    return address_key(URL) in known_addresses({"trajectory": list(steps), **state}, TOOLS)


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


def test_who_gives() -> None:
    assert given_by(step(1))
    assert given_by(step(1, "ask_user", origin="user"))
    assert given_by(step(1, "python", "", sub_steps=[step(1)]))
    for state in (
        {"task": f"open {URL}"},
        {"guidance": [URL]},
        {"progress": {"earlier": [{"task": URL, "answer": ""}]}},
        {"progress": {"rejection": f"use {URL}"}},
    ):
        assert given_by(**state)
    from langchain_core.messages import AIMessage, HumanMessage

    assert given_by(messages=[HumanMessage(URL)])
    assert not given_by(messages=[AIMessage(URL)])
    assert not given_by(progress={"earlier": [{"task": "", "answer": URL}]})


def test_who_does_not() -> None:
    assert not given_by(step(1, "python"))
    assert not given_by(step(1, "python", origin="user")), "made of a person's answer, but by the model"
    assert not given_by(step(1, "python", "", sub_steps=[step(1, "python", origin="user")]))
    assert not given_by(step(1, ok=False, cause="tool"))
    assert not given_by(step(1, origin="file:a, model")), "a model answered about the file"
    assert not given_by(step(1, origin="file:a, model", sub_steps=[step(1)]))
    assert not given_by(step(1, action="finish", tool=None, origin="model"))
    assert not given_by(step(1, arguments={"key": ["x", {URL: 1}]})), "an echo"
    assert not given_by(step(1, expected=f'"{URL}"')), "a note on what was expected"
    assert not given_by(step(1, "keep", "kept", arguments={"text": URL}), step(2)), "stored and read again"


def test_what_the_model_only_wrote_before_does_not_spoil_a_source() -> None:
    assert given_by(step(1, arguments={"key": URL}, observation="nothing"), step(2))
    assert given_by(step(1, "keep", "no", arguments={"text": URL}, cause="rejected", ok=False), step(2))
    assert given_by(step(2, "keep", "kept", arguments={"text": URL}), step(1))


def test_what_a_person_approved_is_known() -> None:
    def known(word: str) -> bool:
        visit = step(1, "visit_webpage", "", arguments={"url": URL}, approval=word)
        return approved_addresses({"trajectory": [visit]}, TOOLS) == {address_key(URL)}

    assert [known(word) for word in ("approved", "edited", "rejected", "")] == [True, True, False, False]


@given(st.text())
def test_any_text_can_be_searched(text: str) -> None:
    assert all(isinstance(key, str) for key in addresses_in(text))
    address_key(text)


def test_long_texts_take_no_long_time() -> None:
    started = time.monotonic()
    for part in ("a.", "http://", "a-", "https://x.org/)", "x.org/](", "www.", "&#47;"):
        addresses_in(part * (20_000 // len(part)))
    assert time.monotonic() - started < 5


KNOWN = addresses_in("https://x.org/a")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the sum is 4", "the sum is 4"),
        ("a list[0] != b, 3 < 4 and <b>bold</b>", "a list[0] != b, 3 < 4 and <b>bold</b>"),
        ("see https://x.org/a.", "see https://x.org/a."),
        ("[text](https://x.org/a)", "[text](https://x.org/a)"),
        ("![p](https://x.org/a)", "![p](https://x.org/a)"),
        ("see https://y.org/a.", "see `https://y.org/a`."),
        ("![p](https://y.org/a)", "[p](`https://y.org/a`)"),
        ("www.y.org, or //y.org/b", "`www.y.org`, or `//y.org/b`"),
        ('<img src="https://x.org/a">', '&lt;img src="https://x.org/a">'),
        ("R&amp;D &#65;", "R&amp;D A"),
    ],
)
def test_only_what_loads_or_links_is_changed(text: str, shown: str) -> None:
    assert inert(text, KNOWN) == shown


PIECES = [
    *("![", "](", ")", "<img src=", "http:", "//", "/", "\\", "y.org", " ", "<", ">", "`"),
    *("&#47;", "&colon;", "\n", '"', "[a]: ", "x"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_no_mix_of_pieces_makes_a_picture_of_another_host(pieces: list[str]) -> None:
    page = MarkdownIt("commonmark", {"html": True}).render(inert("".join(pieces), ()))
    assert "<img" not in page.replace("&lt;img", "")
    assert 'href="http://y.org' not in page
    assert 'href="//y.org' not in page


def test_a_thread_without_files_or_without_outside_text_is_left_alone() -> None:
    text = "![p](https://y.org/a)"
    page: Any = {"n": 1, "origin": "web:z.org", "sub_steps": [], "cause": "", "thought": "", "expected": "",
                 "evaluation": "", "arguments": {}, "observation": "", "ok": True, "tool": "t",
                 "action": "call"}  # fmt: skip
    assert for_person(text, {"trajectory": [page]}, {}) == text
    assert for_person(text, {"trajectory": [page], "files": [{"name": "a"}]}, {}) != text


def test_long_texts_are_made_harmless_in_no_long_time() -> None:
    started = time.monotonic()
    for part in ("![", "![a](", "<img ", "//", "www.", "&#47;"):
        inert(part * (100_000 // len(part)), ())
    assert time.monotonic() - started < 5


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
