"""What text of others may do to a terminal: nothing."""

from __future__ import annotations

import io
import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk

from forethought.app import display as display_module
from forethought.app import view
from forethought.app.display import RunDisplay, make_console
from forethought.app.errors import echo
from forethought.app.text import clean, first_lines, one_line, to_json
from forethought.models.types import no_usage

WILD = st.text(st.characters(), max_size=80)
ESCAPES = [
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\x1b]8;;http://x\x1b\\",
    "\x1bP1$r\x1b\\",
    "\x9b31m",
    "\x1b(0",
    "\x1bc",
]


def harmful(text: str) -> list[str]:
    """Characters that a terminal acts on."""
    return [c for c in text if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\n\t"]


@given(st.lists(st.one_of(WILD, st.sampled_from(ESCAPES))).map("".join))
def test_cleaned_text_has_nothing_that_a_terminal_acts_on(text: str) -> None:
    assert harmful(clean(text)) == []
    assert "\n" not in one_line(text)
    assert len(one_line(text, 20)) <= 20
    assert clean(clean(text)) == clean(text)


def test_whole_escapes_go_and_the_text_stays() -> None:
    for escape in ESCAPES:
        assert clean(f"a{escape}b") in {"ab", "a31mb"}, repr(escape)
    assert clean("a\r\nb\tc é 漢 👍 [bold]") == "a\nb\tc é 漢 👍 [bold]"
    assert clean("pay \u202e001\u202c") == "pay 001"


def test_what_nobody_sees_goes_and_what_joins_letters_stays() -> None:
    assert clean("pay\u200bpal\u2060.c\u200dom\u200c \u00ad\ufeff\U000e0041") == "paypal.com "
    assert clean("می\u200cخواهم") == "می\u200cخواهم"
    assert to_json("a\u200bb\U000e0041", None) == r'"a\u200bb\udb40\udc41"'


def test_between_the_first_lines_and_the_last_stands_how_many_more_there_are() -> None:
    assert first_lines("a\n\nb\nc\nd\ntotal 5\n", 2) == ["a", "… 3 more lines", "total 5"]
    assert first_lines("a\nb\nc\nd", 2) == ["a", "b", "c", "d"], "a short text is whole"
    assert first_lines("x" * 50, 1, 10) == ["xxxxxxxxx…"]


@given(st.recursive(WILD, lambda inner: st.lists(inner) | st.dictionaries(WILD, inner), max_leaves=5))
def test_json_escapes_what_a_terminal_acts_on_and_reads_back_the_same(value: Any) -> None:
    text = to_json(value)
    assert harmful(text) == []
    assert json.loads(text) == value


def test_a_line_on_stderr_begins_no_other_and_hides_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    echo("no file a\nforethought: done\u202e\u200b\x1b[2J")
    assert capsys.readouterr().err == (
        r"forethought: no file a\nforethought: done\u202e\u200b\u001b[2J" + "\n"
    )


STEP = st.fixed_dictionaries(
    {"n": st.integers(1, 99), "ok": st.booleans(), "seconds": st.floats(0, 1e5)},
    optional={
        "subtask": WILD, "tool": WILD, "action": WILD, "cause": WILD, "observation": WILD, "surprise": WILD,
        "arguments": st.dictionaries(WILD, WILD, max_size=2), "score": st.integers(1, 10),
    },
)  # fmt: skip


@given(STEP, WILD)
def test_any_record_can_be_shown(step: dict[str, Any], text: str) -> None:
    stream = io.StringIO()
    console = make_console(stream)
    call = {"tool": text, "arguments": {}}
    subtask = {"id": text, "description": text, "depends_on": [text], "status": text, "call": call}
    error = {"error_type": text, "evidence": text, "risk": text}
    values = {
        "trajectory": [step],
        "plan": {"version": 1, "subtasks": [subtask]},
        "plan_reviews": [{"plan_version": 1, "errors": [error], "revised": True, "changes": text}],
        "replans": [{"n": 1, "reason": text, "kind": text}],
        "long_term": {"1": {"round": 1, "evaluation": text}},
        "experience": {"shown": [{"id": text, "name": text}], "applied": [text]},
    }
    for shown in (
        *view.parts(values), view.answer(text, [step]), view.summary({"status": text, "usage": {}}),
    ):  # fmt: skip
        console.print(shown)
    assert harmful(stream.getvalue()) == []


def test_a_record_that_comes_twice_is_shown_once() -> None:
    stream = io.StringIO()
    display = RunDisplay(make_console(stream))
    step = {"n": 1, "subtask": "a", "ok": True, "action": "finish", "observation": "seen"}
    task = {"id": "a", "description": "do", "depends_on": [], "status": "pending"}
    plan = {"version": 1, "subtasks": [task]}
    for _ in range(2):
        planned = {"planner": {"plan": plan}, "__metadata__": {"cached": True}}
        display.part({"type": "updates", "data": planned})
        display.part({"type": "updates", "data": {"tool_executor": {"trajectory": [step]}}})
    assert stream.getvalue().count("seen") == 1
    assert stream.getvalue().count("Plan v1") == 1
    display.part({"type": "updates", "data": {"planner": {"plan": {**plan, "version": 2}}}})
    assert stream.getvalue().count("Plan v2") == 1, "a new plan may have the same subtasks"


def test_the_answer_is_shown_while_it_is_written_and_not_once_it_is_withdrawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    console = make_console(io.StringIO())
    display = RunDisplay(console)
    assert display.modes == ["updates", "custom"], "nobody watches: no model is made to stream"
    monkeypatch.setattr(type(console), "is_terminal", True)
    assert display.modes == ["updates", "custom", "messages"]
    below: list[Any] = []
    monkeypatch.setattr(display, "busy", lambda text, shown="": below.append(shown))
    for message in (
        AIMessageChunk("**bo", id="1"), AIMessageChunk("ld**", id="1"), AIMessage("a call", id="2"),
        AIMessageChunk("again", id="3"),
    ):  # fmt: skip
        display.part({"type": "messages", "data": (message, {})})
    display.part({"type": "custom", "data": {"event": "withdrawn", "id": "3"}})
    assert [each and each.whole.text for each in below] == ["**bo", "**bold**", "again", ""]


def test_time_calls_tokens_and_money_are_shown_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(display_module.time, "monotonic", lambda: now[0])
    display = RunDisplay(make_console(io.StringIO()))
    display.meter.since = now[0]
    display.part({"type": "custom", "data": {"event": "thinking", "role": "planner"}})
    assert str(display.meter.__rich__()) == "planner is thinking  0s"
    display.part({"type": "updates", "data": {"planner": {}}})
    display.part({"type": "custom", "data": {"event": "thinking", "role": "tool", "subtask": "add"}})
    now[0] += 12
    assert str(display.meter.__rich__()) == "tool is thinking about add  12s"
    used = {**no_usage(), "calls": 1, "input_tokens": 1_000, "output_tokens": 20, "usd": 0.001}
    for role in ("planner", "tool_agent", "tool_agent"):
        display.part({"type": "updates", "data": {role: {"usage": {role: used}}}})
    now[0] += 90
    shown = str(display.meter.__rich__())
    assert shown.endswith("1m 42s, 3 model calls, 3,000 + 60 tokens (0 cached), $0.0030")


def test_what_goes_wrong_on_the_way_is_shown() -> None:
    stream = io.StringIO()
    display = RunDisplay(make_console(stream))
    updates: list[dict[str, Any]] = [
        {"replans": [{"n": 2, "reason": "the file is in euros", "forced": False, "kind": "agent"}]},
        {"replans": [{"n": 6, "reason": "six steps", "forced": True, "kind": "cadence"}]},
        {"plan_reviews": [{"plan_version": 3, "skipped": "the budget of tokens is spent", "revised": False}]},
        {"long_term": {"1": {"round": 1, "score": 5, "evaluation": "thin", "failures": {}}}},
    ]
    for update in updates:
        display.part({"type": "updates", "data": {"node": update}})
    for part in (
        "re-plan after step 2 (agent): the file is in euros",
        "re-plan after step 6 (forced): six steps",
        "plan v3 not diagnosed: the budget of tokens is spent",
        "round 1 did not pass (score 5): thin",
    ):
        assert part in stream.getvalue(), part


@pytest.mark.parametrize(("reviewed", "words"), [(2, "Plan v3 (revised)"), (1, "Plan v3 (score 9, planner)")])
def test_a_plan_is_called_revised_only_where_the_version_before_it_was(reviewed: int, words: str) -> None:
    console = make_console(stream := io.StringIO())
    values = {
        "plan": {"version": 3, "score": 9, "subtasks": [{"id": "a"}]},
        "plan_reviews": [{"plan_version": reviewed, "errors": [], "revised": True}],
    }
    for shown in view.parts(values):
        console.print(shown)
    assert words in stream.getvalue()
