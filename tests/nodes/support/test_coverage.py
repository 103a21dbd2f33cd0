"""What was given in a thread and by whom, and which values a text holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.nodes.support.addresses import address_key, addresses_in
from forethought.nodes.support.coverage import (
    for_person,
    stands,
    targets,
    what_is_given,
)
from forethought.text import plain
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
    thread: Any = {"trajectory": list(steps), **state}
    found = what_is_given(thread, TOOLS)
    return address_key(URL) in {*found.others, *addresses_in(found.words)}


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
    noted = step(1, observation=f"[Expected: {URL}]\nnothing", note=f"Expected: {URL}")
    assert not given_by(noted), "a note on what was expected"
    assert not given_by(step(1, "keep", "kept", arguments={"text": URL}), step(2)), "stored and read again"


def test_what_the_model_only_wrote_before_does_not_spoil_a_source() -> None:
    assert given_by(step(1, arguments={"key": URL}, observation="nothing"), step(2))
    assert given_by(step(2, "keep", "kept", arguments={"text": URL}), step(1))


def test_what_a_person_approved_is_known() -> None:
    def known(word: str) -> bool:
        visit = step(1, "visit_webpage", "", arguments={"url": URL}, approval=word)
        return what_is_given({"trajectory": [visit]}, TOOLS).approved == {address_key(URL)}

    assert [known(word) for word in ("approved", "approved all", "edited", "rejected", "")] == [True] * 3 + [
        False
    ] * 2


def test_a_thread_without_outside_text_is_left_alone() -> None:
    text = "![p](https://y.org/a)"
    page: Any = {"n": 1, "origin": "web:z.org", "sub_steps": [], "cause": "", "thought": "", "expected": "",
                 "evaluation": "", "arguments": {}, "observation": "", "ok": True, "tool": "t",
                 "action": "call"}  # fmt: skip
    assert for_person(text, {"trajectory": [{**page, "origin": "user"}]}, {}) == text
    assert for_person(text, {"trajectory": [page]}, {}) != text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Bob", "Write to Bob."),
        ("bob", "Bob's list"),
        ("bob", "@bob, please"),
        ("general", "in #general"),
        ("New  York", "to new\nyork!"),
        ("bob@x.org", "mail bob@x.org, now"),
        ("a/b.txt", "read 'a/b.txt'"),
        (50, "pay $50."),
        (1000, "1,000 pieces"),
        (2.5, "2,5 per cent"),
        (20, "order 20kg"),
        (3, "the 3rd one"),
        (-3, "set it to -3"),
        ("", ""),
        (None, ""),
        (True, ""),
    ],
)
def test_what_stands_in_a_text(value: Any, text: str) -> None:
    assert stands(value, text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Bob", "Bobby"),
        ("john@x.org", "mary.john@x.org"),
        ("x.org", "evil-x.org and me@x.org"),
        ("x.org", "x.org.evil.com, x.org/a"),
        ("13", "file-13, 2024-05-13, 13.5 and 13:30"),
        (5, "50, 2024-05-05, 5:30, A5 and 1.5.2"),
        (100, "1,000"),
        (20, "20a7, 20_3 and 201st"),
        ("Bob", ""),
        (0, ""),
    ],
)
def test_what_does_not(value: Any, text: str) -> None:
    assert not stands(value, text)


WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1)


@given(WORDS, st.lists(WORDS))
def test_a_word_stands_where_it_is_one_of_the_words(word: str, others: list[str]) -> None:
    assert stands(word, " ".join([*others, word.upper() if word.upper().lower() == word else word, *others]))


@given(WORDS, st.characters(categories=["L", "N"]))
def test_no_word_stands_in_a_longer_one(word: str, more: str) -> None:
    longer = word + more
    assert not stands(longer, word)


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9))
def test_numbers_stand_for_themselves_alone(one: int, other: int) -> None:
    assert stands(one, f"about {one:,} of them")
    assert stands(one, f"about {other} of them") == (one == other)


@given(st.text(), st.text())
def test_a_value_stands_in_itself_and_in_no_text_without_it(value: str, text: str) -> None:
    assert stands(value, value)
    assert plain(value) in plain(text) or not stands(value, text)


def test_which_values_decide_where_a_call_goes() -> None:
    def book(
        room: str, to: list[dict[str, str]], day: str, text: str, seats: int = 2, loud: bool = False
    ) -> str:
        """Book a room."""
        return room

    tool = make_tool(book, effect="write")
    arguments = {
        "room": "r",
        "to": [{"eve": "e@x.org"}],
        "day": "2024-05-05 10:00",
        "text": "any",
        "seats": 2,
    }
    assert targets(tool, arguments) == [("room", "r"), ("to", "eve"), ("to", "e@x.org")]
    assert ("seats", 3) in targets(tool, {**arguments, "seats": 3})
    assert ("room", "r") not in targets(make_tool(book, content=("room",)), arguments)


@pytest.mark.parametrize(
    ("words", "is_named"),
    [
        ("use send_email for it", True),
        ("Emails are to be sent", False),
        ("Sending emails", True),
        ("send an email", True),
        ("e-mail it", False),
        ("send it. I read email.", False),
    ],
)
def test_words_foresee_the_tools_that_they_name(words: str, is_named: bool) -> None:
    def send_email(to: str) -> str:
        """Send an email."""
        return to

    state: Any = {"task": words}
    tool = make_tool(send_email, effect="egress")
    assert what_is_given(state, {}).foresees(tool.name) == is_named
