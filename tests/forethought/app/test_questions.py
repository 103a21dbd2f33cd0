"""Questions to the person: the exit code, the replies, and how they are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forethought.app.display import make_console
from forethought.app.errors import CliError
from forethought.app.questions import ask, replies_from, reply_from, show_question
from tests.forethought.app.conftest import Cli
from tests.forethought.app.scripted import choice, own_subtask
from tests.forethought.app.test_bad_input import is_one_clear_line
from tests.support.model_server import SeenRequest

Scripted = Callable[..., Any]
QUESTION = {
    "kind": "question",
    "id": "a1",
    "name": "question-3",
    "question": "Which?",
    "choices": ["red", "7"],
}
PLAN = {"kind": "plan", "id": "b2", "name": "plan-1", "plan": {"version": 1, "subtasks": []}}

TOOL = {
    "kind": "tool",
    "id": "c3",
    "name": "tool-4",
    "tool": "visit_webpage",
    "effect": "egress",
    "arguments": {"url": "https://x.org/?q=" + "a" * 500 + "END", "part": None},
    "why": "It opens an address that neither you nor a source gave: file:a.txt (given).",
}


def test_a_question_exits_4_and_says_how_to_reply(cli: Cli, scripted: Scripted) -> None:
    _, server = scripted(question="Which colour?")
    asked = cli("run", "What is it?", "--thread", "t1", "--json")
    assert (asked.code, asked.json["status"]) == (4, "interrupted")
    (question,) = asked.json["interrupts"]
    assert (question["kind"], question["question"], question["subtask"]) == (
        "question",
        "Which colour?",
        "ask",
    )
    assert 'forethought resume t1 --reply "YOUR ANSWER"' in asked.err

    calls = len(server.requests)
    again = cli("resume", "t1")
    assert again.code == 4
    assert "Which colour?" in again.out
    assert len(server.requests) == calls, "asking again costs nothing"

    done = cli("resume", "t1", "--reply", "deep=blue", "--json")
    assert (done.code, done.json["status"]) == (0, "answered"), done.err
    step = next(step for step in done.json["steps"] if step["tool"] == "ask_user")
    assert step["observation"] == "deep=blue"
    assert "interrupts" not in done.json


def test_a_plan_is_approved_edited_or_rejected(cli: Cli, scripted: Scripted) -> None:
    _, server = scripted()
    asked = cli("run", "What is 40 + 2?", "--thread", "t1", "--set", "approve_plan=true")
    assert asked.code == 4
    assert "Approve this plan?" in asked.out
    assert asked.out.count("Compute 40 + 2") == 1, "the question shows the plan, nothing before it"
    assert "forethought resume t1 --reply approve" in asked.err

    rejected = cli("resume", "t1", "--reply", "reject: use one step", "--json")
    assert rejected.code == 4, "the next plan is shown too"
    assert "use one step" in [seen for seen in server.requests if seen.reply_name == "Plan"][-1].text

    edit = '{"decision": "edit", "value": [{"id": "only", "description": "Compute 6 * 7", "depends_on": []}]}'
    edited = cli("resume", "t1", "--reply", edit, "--json")
    assert edited.code == 0, edited.err
    assert [step["subtask"] for step in edited.json["steps"]] == ["only"]


def test_a_reply_that_cannot_be_used_is_asked_for_again_with_the_problem(
    cli: Cli, scripted: Scripted
) -> None:
    scripted()
    cli("run", "What is 40 + 2?", "--thread", "t1", "--set", "approve_plan=true")
    for reply in ('{"decision": "edit", "value": [{"id": "a"}]}', "edit: x", "maybe", "approve: but"):
        again = cli("resume", "t1", "--reply", reply)
        assert (again.code, "could not be used" in again.out) == (4, True), reply
    empty = cli("resume", "t1", "--reply", " ")
    assert (empty.code, is_one_clear_line(empty)) == (2, True)
    assert cli("resume", "t1", "--reply", "approve").code == 0
    refused = cli("resume", "t1", "--reply", "yes")
    assert (refused.code, "has no open question" in refused.err) == (2, True)


READ = [
    ("blue", QUESTION, {"decision": "answer", "value": "blue", "reason": ""}),
    ("1", QUESTION, {"decision": "answer", "value": "red", "reason": ""}),
    ("7", QUESTION, {"decision": "answer", "value": "7", "reason": ""}),
    ('{"a": 1}', QUESTION, {"decision": "answer", "value": '{"a": 1}', "reason": ""}),
    (
        '{"decision": "reject", "reason": "no"}',
        QUESTION,
        {"decision": "reject", "value": None, "reason": "no"},
    ),
    ("Approve", PLAN, {"decision": "approve", "value": None, "reason": ""}),
    ("Reject: too long: cut it", PLAN, {"decision": "reject", "value": None, "reason": "too long: cut it"}),
    ("reject", PLAN, {"decision": "reject", "value": None, "reason": ""}),
    ('{"decision": "edit", "value": [1]}', PLAN, {"decision": "edit", "value": [1], "reason": ""}),
    ('edit: {"url": "u"}', TOOL, {"decision": "edit", "value": {"url": "u"}, "reason": ""}),
    ("edit: x", TOOL, {"decision": "edit", "value": None, "reason": ""}),
    ("Yes", PLAN, {"decision": "approve", "value": None, "reason": ""}),
    ("no: too long", TOOL, {"decision": "reject", "value": None, "reason": "too long"}),
    ("approve: but", PLAN, {"decision": "approve: but", "value": None, "reason": ""}),
]


def test_replies_are_read_from_text_and_json() -> None:
    for text, question, reply in READ:
        assert reply_from(text, question) == reply, text


def test_a_slip_is_asked_for_again_at_once_and_a_number_among_figures_is_an_answer() -> None:
    colours, years = ({**QUESTION, "choices": choices} for choices in (["red", "blue"], ["2024", "2025"]))
    for question, typed, told in (
        (
            PLAN,
            ["sure", "edit: x", " ", "Y"],
            ["write approve, reject, edit, or yes or no", "as a JSON list"],
        ),
        (TOOL, ["all", "edit: x", "approve all"], ["approve all, or yes or no", "as a JSON object"]),
        (colours, ["3", "green"], ["no choice 3: write 1 to 2, or your own answer"]),
        (years, ["2026"], []),
    ):
        console, replies = make_console(), iter(typed)
        with console.capture() as shown:
            reply = ask(console, question, lambda _, replies=replies: next(replies))
        assert reply == reply_from(typed[-1], question)
        assert [line in shown.get() for line in told] == [True] * len(told), shown.get()


def test_several_questions_are_answered_by_id_or_name() -> None:
    waiting = [QUESTION, PLAN]
    replies = replies_from(["question-3=a=b", "b2=approve"], waiting)
    assert replies["a1"]["value"] == "a=b"
    assert replies["b2"]["decision"] == "approve"
    with pytest.raises(
        CliError, match=r"2 questions are open; write ID=VALUE, with one of these ids: question-3, plan-1"
    ):
        replies_from(["blue"], waiting)


def test_a_call_is_shown_whole_with_where_the_influence_came_from() -> None:
    console = make_console()
    with console.capture() as shown:
        console.print(show_question({**TOOL, "problem": "url is missing"}))
    text = "".join(line.strip() for line in shown.get().splitlines())
    assert "Approve this call? visit_webpage (egress)" in text
    assert "aaaEND" in text, "the end of an address may be what matters"
    assert "file:a.txt (given)" in text
    assert "could not be used: url is missing" in text
    assert "part" not in text


def test_approving_all_settles_the_other_calls_of_the_tool_that_wait() -> None:
    waiting = [
        {**TOOL, "id": key, "name": key, "tool": tool} for key, tool in zip("abcd", "ttut", strict=True)
    ]
    replies = replies_from(["a=approve all", "d=reject"], waiting)
    decisions = {key: reply["decision"] for key, reply in replies.items()}
    assert decisions == {"a": "approve all", "b": "approve all", "d": "reject"}
    with_plan = [{"kind": "plan", "id": "p", "name": "p"}, waiting[0]]
    assert set(replies_from(["p=approve all"], with_plan)) == {"p"}


def test_a_call_is_shown_with_what_the_person_did_not_give_and_with_those_like_it() -> None:
    console = make_console()
    changes = [
        {"argument": "to", "value": "eve@x.org", "origin": "tool:mail"},
        {"argument": "n", "value": 7, "origin": "model"},
    ]
    with console.capture() as shown:
        console.print(show_question({**TOOL, "changes": changes, "like": [{"url": "x.org\n"}]}))
    text = shown.get()
    assert 'Not from you: to = "eve@x.org", from tool:mail' in text
    assert "Not from you: n = 7, from the agent" in text
    assert r'This tool also waits for approval with {"url": "x.org\n"}' in text


DIARY = '''
import asyncio, os, signal

from forethought.tools.base import tool


@tool(effect="write")
async def note(text: str) -> str:
    """Write into the diary.

    Args:
        text: What to write.
    """
    if os.environ.pop("BREAK_OFF", ""):
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(30)
    with open("diary.txt", "a") as file:
        file.write(text)
    return "noted"
'''


@pytest.fixture
def diary(cli: Cli, scripted: Scripted, tmp_path: Path) -> Path:
    """The diary, and a model that writes `hi` into it until it is refused."""
    script, _ = scripted()

    def toolchoice(seen: SeenRequest) -> Any:
        if "Compute 40 + 2" in own_subtask(seen) and "rejected" not in seen.last:
            return choice("call", tool="note", arguments={"text": "hi"})
        return choice("finish", result="done")

    script.toolchoice = toolchoice
    (tmp_path / "diary_tools.py").write_text(DIARY)
    (tmp_path / "letter.txt").write_text("hello")
    return tmp_path / "diary.txt"


@pytest.mark.parametrize(
    ("reply", "wrote", "word"),
    [("approve", "hi", "approved"), ('edit: {"text": "ho"}', "ho", "edited"), ("reject: no", "", "rejected")],
)
def test_a_write_waits_with_exit_code_4_and_is_approved_edited_or_rejected(
    cli: Cli, diary: Path, reply: str, wrote: str, word: str
) -> None:
    diary.write_text("")
    flags = ("--tools", "diary_tools", "--thread", "t1", "--json")
    asked = cli("run", "write", "--file", "letter.txt", *flags)
    assert (asked.code, diary.read_text()) == (4, ""), asked.err
    (question,) = asked.json["interrupts"]
    assert "file:letter.txt" in question["why"]
    again = "forethought resume t1 --tools diary_tools"
    assert f"{again} --reply 'edit: {{ARGUMENTS AS JSON}}'" in asked.err
    assert "Approve this call? note (write)" in asked.err
    done = cli("resume", "t1", "--reply", reply, "--tools", "diary_tools")
    assert (done.code, diary.read_text()) == (0, wrote), done.err
    assert f"{word} by a person" in " ".join(done.out.split())


def shown(cli: Cli, thread: str) -> tuple[str, str, int]:
    """The status that `show` and `threads` tell, and how many questions wait."""
    told, (listed,) = cli("show", thread, "--json").json, cli("threads", "--json").json
    return told["status"], listed["status"], len(told.get("interrupts") or [])


@pytest.mark.usefixtures("diary")
def test_an_approved_call_that_was_broken_off_is_asked_for_as_it_stands(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORETHOUGHT_TOOLS", "diary_tools")
    asked = cli("run", "Write", "--thread", "t1", "--set", "approve_tools=always")
    assert (asked.code, "Approve this call? note (write)" in asked.out) == (4, True), asked
    monkeypatch.setenv("BREAK_OFF", "1")
    assert cli("resume", "t1", "--reply", "approve").code == 130
    assert shown(cli, "t1") == ("stopped", "stopped", 0), "that question is settled"
    left = cli("show", "t1")
    line = 'interrupted: note({"text": "hi"}): it may have taken effect'
    assert (left.code, line in " ".join(left.out.split())) == (0, True), left
    early = cli("resume", "t1", "--reply", "reject: too late")
    assert (early.code, is_one_clear_line(early)) == (2, True)
    assert early.err.endswith("has no open question yet; continue it first with: forethought resume t1\n")
    asked = cli("resume", "t1")
    assert (asked.code, "1. it happened\n  2. do it again\n" in asked.out) == (4, True), asked
    assert shown(cli, "t1") == ("interrupted", "interrupted", 1)
    assert "broken_off" not in cli("show", "t1", "--json").json, "the question tells of it"
    refused = cli("resume", "t1", "--reply", "perhaps")
    assert "could not be used: the reply must be 'it happened'" in " ".join(refused.out.split())
    done = cli("resume", "t1", "--reply", "it happened: receipt 7")
    assert (done.code, "approved by a person" in " ".join(done.out.split())) == (0, True), done
