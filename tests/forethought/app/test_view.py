"""What a person sees of a plan before approving it."""

from __future__ import annotations

import io
import re
from typing import Any

from rich.console import Console

from forethought.app import view
from forethought.app.display import make_console
from forethought.app.questions import show_question
from forethought.state.plan_words import for_one_call

WHOLE = {"id": "a", "description": "Look at it", "depends_on": [], "expected": ""}


def shown(subtask: dict[str, Any]) -> str:
    """What the question whether a plan with this subtask is approved looks like, on one line."""
    plan = {"version": 1, "subtasks": [{**WHOLE, **subtask}]}
    return " ".join(printed(show_question({"kind": "plan", "plan": plan})).split())


def test_the_call_that_a_subtask_begins_with_is_shown_until_it_is_made() -> None:
    call = {"tool": "visit_webpage", "arguments": {"url": "http://x/\x1b[31my", "part": None}}
    text = shown({"status": "pending", "call": call})
    assert "Look at it" in text
    assert 'visit_webpage(url="http://x/' in text
    assert "\x1b" not in text
    assert "visit_webpage(" not in shown({"status": "finished", "call": call})
    assert "(" not in shown({"status": "pending", "call": None}).removeprefix("Approve this plan? ")


def test_of_one_of_several_calls_the_call_is_shown_and_not_what_the_worker_reads() -> None:
    call = {"tool": "read_file", "arguments": {"path": "a.txt"}}
    record = {"description": for_one_call("Look at both", "read_file({...})"), "call": call}
    for status in ("pending", "finished"):
        text = shown({**record, "status": status})
        assert 'read_file(path="a.txt")' in text
        assert "Of this only" not in text


def test_a_plan_is_approved_as_a_whole_and_shown_in_short() -> None:
    call = {"tool": "python", "arguments": {"code": "begin" + "x" * 2_000 + "END"}}
    record = {"status": "pending", "call": call, "description": "Look " * 200 + "closely"}
    text = shown(record)
    assert "closely" in text
    assert 'xEND"' in text.replace(" ", "")
    short = printed(view.plan({"subtasks": [{**WHOLE, **record}]}))
    assert "…" in short
    assert short.count("x") < 600


def test_an_argument_cannot_look_like_the_question() -> None:
    """Neither by lines of its own, nor by blanks up to the next line, nor by signs that nobody sees."""
    forged = "Approve this call? read_file (read)"
    for filler in ("\n" * 60, " " * 300, "\u2028" * 60, "\x1b[2J\x1b[H", "\r\n"):
        body = f"hello{filler}{forged}"
        asked = {"kind": "tool", "tool": "send_mail", "effect": "egress", "arguments": {"body": body}}
        lines = [line.rstrip() for line in printed(show_question(asked)).splitlines() if line.strip()]
        assert [line for line in lines if line.startswith("Approve")] == [
            "Approve this call? send_mail (egress)"
        ]
        assert lines[-1] == "The call is send_mail (egress)"
        assert len(lines) < 10


def test_what_nobody_sees_in_an_argument_is_shown_escaped() -> None:
    to = "eve\u202e@\u200bx.org\u2060\U000e0041\x07\\n"
    text = printed(view.approval({"tool": "send", "effect": "egress", "arguments": {"to\u200d\n": to}}))
    assert r"to\u200d\n:" in text
    assert r'"eve\u202e@\u200bx.org\u2060\udb40\udc41\u0007\\n"' in text


def test_the_middle_of_a_very_long_argument_is_counted() -> None:
    arguments = {"to": "b" * 9_000 + "!", "body": "BEGIN" + "x" * 20_000 + "END"}
    text = printed(view.approval({"tool": "send", "effect": "egress", "arguments": arguments}))
    assert text.count("b") - text.count("body") == 9_000
    assert "[10,010 characters left out; --json prints them]" in text
    assert "BEGIN" in text
    assert 'END"' in text


def printed(renderable: Any) -> str:
    """What it looks like on a terminal."""
    console = make_console(io.StringIO())
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


def test_what_an_answer_was_checked_against_and_what_was_left_out_is_shown() -> None:
    checks = [
        {"about": "S1", "done": "left March out", "ok": "yes"},
        {"about": "S2", "done": "not", "ok": "no"},
    ]
    skipped = [{"mechanism": "plan_intra", "why": "it is short", "n": 2}]
    text = "".join(map(printed, view.parts({"checks": checks, "skipped": skipped})))
    assert "checked S1: left March out\nnot followed S2: not\n" in text
    assert "plan_intra skipped after step 2: it is short" in text


def test_a_steps_own_time_stands_apart_from_its_models() -> None:
    record = {"n": 1, "subtask": "a", "tool": "look", "ok": True, "seconds": 3.5}
    assert "ok 3.5s\n" in printed(view.step(record))
    assert "ok 0.5s (model 3.0s)" in printed(view.step({**record, "usage": {"seconds": 3.0}}))


def test_a_failed_step_says_so_and_whose_failure_it_is() -> None:
    record = {"n": 1, "subtask": "a", "tool": "look", "ok": False, "cause": "tool", "seconds": 3.5}
    assert "failed (tool) 3.5s\n" in printed(view.step(record))


def at_terminal(*shown: Any) -> str:
    """As a terminal of 10 lines gets it."""
    console = Console(file=io.StringIO(), force_terminal=True, width=40, height=10, markup=False)
    for each in shown:
        console.print(each)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def test_an_answer_in_markdown_is_rendered_on_a_terminal_and_left_as_it_is_elsewhere() -> None:
    text = "**42** rooms\n\n- [one](http://a.example/x)"
    assert text in printed(view.Prose(text))
    rendered = at_terminal(view.Prose(text))
    assert "\x1b[1m42\x1b[0m rooms" in rendered
    assert "one (http://a.example/x)" in re.sub(r"\x1b\[[\d;]*m", "", rendered), "an address is in sight"


def test_no_entity_of_markdown_brings_back_what_cleaning_takes_out() -> None:
    rendered = at_terminal(view.Prose("a&#x202e;b&#27;[5mc&#x9b;d\x1b[5me `&#x200b;` [f](http://x/&#x202e;)"))
    assert not re.search("[\u202e\u200b\x9b]", rendered)
    assert "\x1b[5m" not in rendered


def test_of_an_answer_that_is_written_the_end_is_seen() -> None:
    lines = [f"line {number}" for number in range(30)]
    rendered = at_terminal(view.Tail(view.Prose("\n\n".join(lines))))
    assert ("line 29" in rendered, "line 20" in rendered, rendered.count("line")) == (True, False, 2)


def test_a_call_with_code_shows_the_first_line() -> None:
    arguments = {"code": "import math\n\nx = 2\nprint(x)", "inputs": None, "part": 2}
    assert view.call("python", arguments, brief=True) == 'python(code="import math" (+2 lines), part=2)'
    assert view.call("python", {"code": "1 + 1"}, brief=True) == 'python(code="1 + 1")'
    assert r"\nx = 2\n" in view.call("python", arguments)
