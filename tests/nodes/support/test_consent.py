"""Whether grants cover a call."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.nodes.support.consent import likeness, why_not_granted
from forethought.state.grants import Grant
from forethought.tools.base import make_tool
from forethought.tools.call import DOUBT

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
    base = {
        "n": n,
        "tool": "book",
        "arguments": CALL,
        "ok": True,
        "action": "call",
        "observation": "",
        "cause": "",
    }
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


def test_dictated_content_is_compared() -> None:
    assert lacking(CALL, grant({**GRANTED, "text": ["Hello."]})) == ("", [])
    assert lacking(CALL, grant({**GRANTED, "text": ["hell*"]})) == ("", [])
    assert lacking(CALL, grant({**GRANTED, "text": ["no"]}))[1] == ["text"]
    assert lacking(CALL, grant({**GRANTED, "text": ["any"]})) == ("", [])


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
        ("link", "http://x.org/a", "https://x.org/a", True),
        ("link", "https://x.org/#eve", "https://x.org/#ann", False),
        ("room", "@team", "#team", False),
        ("room", "../build", "./build", False),
        ("room", ".env", "env", False),
        ("room", "photos.bak/..", "photos.bak", False),
        ("to", ["ann@großbank.de"], "ann@grossbank.de", False),
        ("to", ["Bob <eve@y.org> <ann@x.org>"], "ann@x.org", False),
        ("room", "1234567890123456789012345678901", "1234567890123456789012345678902", False),
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


def test_an_argument_that_the_person_gave_is_not_left_out() -> None:
    assert lacking({**CALL, "to": []}, grant(GRANTED))[1] == ["to"]
    assert lacking(CALL, grant({**GRANTED, "who": ["Ann"]}))[1] == ["who"]


def test_a_date_is_due_a_grant_if_it_is_the_only_target() -> None:
    def delete_backup(day: str) -> str:
        """Delete a backup."""
        return day

    tool = make_tool(delete_backup, effect="write")
    call, granted = {"day": "2026-11-01"}, grant({}, tool="delete_backup")
    assert why_not_granted(tool, call, [granted], {}, {}, 1)[0]
    assert likeness(tool, call) != likeness(tool, {"day": "2026-11-02"})


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
    assert lacking(CALL, grant(GRANTED), steps=[step(1, ok=False, observation=f"{DOUBT}: timeout")])[0]
    both = grant({**GRANTED, "to": ["ann@x.org", "ben@x.org"]})
    assert lacking({**CALL, "to": ["ben@x.org"]}, both, steps=[step(1)]) == ("", []), "another target"
    assert lacking({**CALL, "to": ["ben@x.org", "ann@x.org"]}, both, steps=[step(1)])[0]


@pytest.mark.parametrize(
    ("asked", "handed_on"), [({"name": "Ann"}, True), ({"name": "Ann", "hint": "x"}, False)]
)
def test_a_look_up_of_the_granted_name_alone_hands_its_result_on(asked: Json, handed_on: bool) -> None:
    def address_book(name: str, hint: str = "") -> str:
        """Look a person up."""
        return name

    tools = {"book": BOOK, "address_book": make_tool(address_book, outside=False)}
    found = step(1, tool="address_book", arguments=asked, observation="ann@x.org")
    state: Any = {"trajectory": [found]}
    why, _ = why_not_granted(BOOK, CALL, [grant({**GRANTED, "to": ["Ann"]})], state, tools, 9)
    assert bool(why) != handed_on


def test_a_link_in_the_content_is_the_persons() -> None:
    call = {**CALL, "text": "see https://y.org/login"}
    assert lacking(call, grant(GRANTED))[1] == ["text"]
    assert lacking(call, grant(GRANTED), task="Mail Ann https://y.org/login, please") == ("", [])
    for text in ("claims.xlsx", "Node.js", "// done", "write to ben@x.org"):
        assert lacking({**CALL, "text": text}, grant(GRANTED)) == ("", [])


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
