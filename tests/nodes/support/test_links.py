"""The addresses that a thread knows, by who gave them."""

from __future__ import annotations

from typing import Any

from forethought.nodes.support.addresses import address_key
from forethought.nodes.support.links import links_of
from forethought.nodes.support.person_view import for_person
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
    words = {"thought": "", "expected": "", "evaluation": "", "sub_steps": [], "approval": ""}
    return {**base, **words, "arguments": {}, "origin": f"tool:{tool}", **fields}


def given_by(*steps: Any, **state: Any) -> bool:
    thread: Any = {"trajectory": list(steps), **state}
    links = links_of(thread, TOOLS)
    return address_key(URL) in {*links.others, *links.own}


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
        return links_of({"trajectory": [visit]}, TOOLS).approved == {address_key(URL)}

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
