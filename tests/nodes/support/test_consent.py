"""Whether grants cover a call."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.nodes.support.consent import likeness, why_not_granted
from forethought.state.grants import Grant
from forethought.tools.base import make_tool

Json = dict[str, Any]


def book(
    room: str,
    to: list[str],
    day: str,
    text: str,
    seats: int = 2,
    loud: bool = False,
    link: str = "",
    who: dict[str, str] | None = None,
) -> str:
    """Book a room."""
    return room


BOOK = make_tool(book, effect="write")
CALL: Json = {"room": "Blue", "to": ["ann@x.org"], "day": "2026-12-01 10:00", "text": "hello"}
GRANTED = {"room": ["Blue"], "to": ["ann@x.org"]}


def grant(arguments: dict[str, list[str]], **fields: Any) -> Grant:
    base: Any = {"tool": "book", "arguments": arguments, "times": 1, "condition": ""}
    return {**base, **fields}  # type: ignore[typeddict-item]


def step(n: int, **fields: Any) -> Json:
    base = {"n": n, "tool": "book", "arguments": CALL, "ok": True, "action": "call", "observation": ""}
    return {**base, "sub_steps": [], "origin": "tool:book", "approval": "", **fields}


def lacking(call: Json, *grants: Grant, steps: Any = (), n: int = 9, task: str = "") -> tuple[str, list[str]]:
    """The reason of the question about a call, and the arguments that no grant covers."""
    state: Any = {"trajectory": list(steps), "task": task}
    why, changes = why_not_granted(BOOK, call, grants, state, {"book": BOOK}, n)
    return why, [change["argument"] for change in changes]


def test_a_call_needs_a_grant_of_its_tool_and_of_each_target() -> None:
    assert lacking(CALL, grant(GRANTED)) == ("", [])
    assert lacking(CALL)[1] == ["room", "to"]
    assert lacking(CALL, grant(GRANTED, tool="other"))[1] == ["room", "to"]
    assert lacking(CALL, grant({"room": ["Blue"]}))[1] == ["to"]
    assert lacking({**CALL, "to": ["ann@x.org", "eve@y.org"]}, grant(GRANTED))[1] == ["to"]
    assert lacking({**CALL, "who": {"eve": "eve@y.org"}}, grant(GRANTED))[1] == ["who", "who"]
    assert lacking({**CALL, "who": {"eve": ""}}, grant(GRANTED))[1] == ["who"], "a name is a value"
    assert lacking({**CALL, "seats": 3}, grant(GRANTED))[1] == ["seats"]
    assert lacking({**CALL, "loud": True}, grant(GRANTED))[1] == ["loud"]


def test_the_values_of_two_grants_are_not_mixed() -> None:
    ann, ben = grant(GRANTED), grant({"room": ["Red"], "to": ["ben@x.org"]})
    assert lacking({**CALL, "room": "Red"}, ann, ben)[1] != []
    assert lacking({**CALL, "room": "Red", "to": ["ben@x.org"]}, ann, ben) == ("", [])


def test_any_covers_content_alone() -> None:
    assert lacking(CALL, grant({"room": ["any"], "to": ["any"], "text": ["any"]}))[1] == ["room", "to"]


@pytest.mark.parametrize(
    ("argument", "value", "allowed", "is_same"),
    [
        ("room", "blue ", "BLUE", True),
        ("room", "Blue  Room", "blue room", True),
        ("room", "#blue", "blue", True),
        ("room", "Blue 2", "Blue", False),
        ("to", ["Ann <ann@x.org>"], "ANN@x.org", True),
        ("to", ["mailto:ann@x.org"], "ann@x.org", True),
        ("to", ["ann@x.org.evil.com"], "ann@x.org", False),
        ("to", ["ann@x.org <eve@y.org>"], "ann@x.org", False),
        ("to", ["eve@y.org, <ann@x.org>"], "ann@x.org", False),
        ("seats", 1000, "1,000", True),
        ("seats", 3, "3.0", True),
        ("seats", 30, "3", False),
        ("day", "2026-12-01 10:00", "2026-12-01T10:00", True),
        ("day", "2026-12-01T10:00:00", "2026-12-01T10:00", True),
        ("day", "December 1, 2026", "2026-12-01", True),
        ("day", "1.12.2026", "2026-12-01", True),
        ("day", "2026-12-02", "2026-12-01", False),
        ("day", "2026-12-01 10:00", "2026-12-01", True),
        ("day", "2026-12-01 10:00", "2026-12-01T11:00", False),
        ("day", "2026-12-01", "2026-12-01T11:00", False),
        ("link", "https://x.org/a", "x.org/a", True),
        ("link", "http://x.org/a#top", "https://x.org/a", True),
        ("link", "https://x.org.evil.com/a", "x.org/a", False),
        ("room", "007", "7", False),
        ("room", "External_0", "External*", True),
        ("room", "Dinner at Chez Nous", "Dinner at *", True),
        ("room", "External", "Ext*", False),
        ("room", "anything", "*", False),
        ("to", ["anna@evil.example"], "anna*", False),
    ],
)
def test_values_are_compared_in_their_normal_form(
    argument: str, value: Any, allowed: str, is_same: bool
) -> None:
    others = {name: values for name, values in GRANTED.items() if name != argument}
    found = lacking({**CALL, argument: value}, grant({**others, argument: [allowed]}))[1]
    assert found == ([] if is_same else [argument])


def test_a_date_needs_a_grant_only_if_the_person_said_one() -> None:
    assert lacking(CALL, grant({**GRANTED, "day": ["2026-12-02T10:00"]}))[1] == ["day"]
    assert lacking(CALL, grant({**GRANTED, "day": []})) == ("", [])
    assert lacking({**CALL, "day": "soon"}, grant(GRANTED))[1] == ["day"]


def test_a_default_needs_a_grant_only_if_the_person_said_otherwise() -> None:
    assert lacking({**CALL, "seats": 2}, grant(GRANTED)) == ("", [])
    assert lacking(CALL, grant({**GRANTED, "seats": ["5"]}))[1] == ["seats"]


def test_a_condition_holds_the_call_back() -> None:
    why, changes = lacking(CALL, grant(GRANTED, condition="if it rains"))
    assert "if it rains" in why
    assert changes == []
    assert lacking(CALL, grant(GRANTED, condition="if it rains"), grant(GRANTED)) == ("", [])


def test_a_call_is_made_as_often_as_it_was_asked_for() -> None:
    assert lacking(CALL, grant(GRANTED), steps=[step(1)])[0]
    assert lacking(CALL, grant(GRANTED), grant(GRANTED), steps=[step(1)]) == ("", [])
    assert lacking(CALL, grant(GRANTED, times=2), steps=[step(1)]) == ("", [])
    assert lacking(CALL, grant(GRANTED), steps=[step(1, ok=False)]) == ("", []), "it failed"
    assert lacking(CALL, grant(GRANTED, times=0))[0]
    both = grant({**GRANTED, "to": ["ann@x.org", "ben@x.org"]})
    assert lacking({**CALL, "to": ["ben@x.org"]}, both, steps=[step(1)]) == ("", []), "another target"
    assert lacking({**CALL, "to": ["ben@x.org", "ann@x.org"]}, both, steps=[step(1)])[0]


def test_a_link_in_the_content_is_the_persons() -> None:
    call = {**CALL, "text": "see https://y.org/login"}
    assert lacking(call, grant(GRANTED))[1] == ["text"]
    assert lacking(call, grant(GRANTED), task="Mail Ann https://y.org/login, please") == ("", [])
    mail = {**CALL, "text": "write to ben@x.org"}
    assert lacking(mail, grant(GRANTED))[1] == ["text"]
    assert lacking(mail, grant(GRANTED), task="Tell Ann to write to ben@x.org.") == ("", [])


def test_calls_are_alike_with_the_same_targets() -> None:
    assert likeness(BOOK, CALL) == likeness(BOOK, {**CALL, "text": "other", "day": "2027-01-01", "seats": 2})
    assert likeness(BOOK, CALL) != likeness(BOOK, {**CALL, "to": ["eve@y.org"]})


@given(st.text(min_size=1), st.text(min_size=1))
def test_another_word_is_no_granted_value(one: str, other: str) -> None:
    call = {**CALL, "room": one}
    same = lacking(call, grant({**GRANTED, "room": [one]}))
    assert same == ("", [])
    letters = "".join(filter(str.isalnum, one.casefold()))
    if letters != "".join(filter(str.isalnum, other.casefold())) and letters:
        assert lacking(call, grant({**GRANTED, "room": [other]}))[1] == ["room"]


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9))
def test_numbers_are_equal_to_themselves_alone(one: int, other: int) -> None:
    call = {**CALL, "seats": one}
    assert not lacking(call, grant({**GRANTED, "seats": [f"{one:,}"]}))[1]
    assert bool(lacking(call, grant({**GRANTED, "seats": [str(other)]}))[1]) == (one != other)
