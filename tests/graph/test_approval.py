"""Approval of calls that change something: when it is asked for, and what each reply does."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from langgraph.types import Command

from forethought.nodes.support.budget import spent
from forethought.tools.base import Tool, make_tool
from tests.support.agent import Drive, Script
from tests.support.replies import answer, call, finish, plan, sub

FILE = {"name": "notes.txt", "data": base64.b64encode(b"some notes").decode()}


class Diary:
    """A tool that writes, and what it wrote."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def tool(self) -> Tool:
        """The tool."""

        def note(text: str, times: int = 1) -> str:
            """Write into the diary.

            Args:
                text: What to write.
                times: How often.
            """
            self.written += [text] * times
            return "noted"

        return make_tool(note, effect="write")


def write(text: str = "dear diary", **more: Any) -> dict[str, Any]:
    """A move that writes."""
    return {**call(tool="note"), "arguments": {"text": text, **more}}


def script(*first: dict[str, Any], after: tuple[str, ...] = ()) -> Script:
    """The subtask `w` writes; `first` are its moves before."""
    return Script(plans=[plan(*(sub(key) for key in after), sub("w", after))], moves={"w": [*first, write()]})


@pytest.fixture
def diary() -> Diary:
    return Diary()


async def test_a_write_after_a_tool_s_result_is_asked_for_and_says_why(drive: Drive, diary: Diary) -> None:
    out = await drive(script(after=("a", "b")), tools=[diary.tool()])
    (asked,) = await out.waiting()
    assert diary.written == []
    assert {key: asked[key] for key in ("kind", "id", "n", "subtask", "tool", "effect", "problem")} == {
        "kind": "tool",
        "id": "tool-3",
        "n": 3,
        "subtask": "w",
        "tool": "note",
        "effect": "write",
        "problem": "",
    }
    assert asked["arguments"] == {"text": "dear diary"}
    assert "tool:lookup" in asked["why"]
    assert asked["choices"] == ["approve", "approve all", "edit", "reject"]
    await out.reply({"decision": "approve"})
    assert (diary.written, out.status) == (["dear diary"], "answered")
    assert (out.steps[2]["approval"], out.steps[2]["ok"]) == ("approved", True)


async def test_a_file_that_was_only_given_makes_a_write_wait(drive: Drive, diary: Diary) -> None:
    out = await drive(script(), task={"task": "write", "files": [FILE]}, tools=[diary.tool()])
    (asked,) = await out.waiting()
    assert "file:notes.txt" in asked["why"]


async def test_what_came_in_an_earlier_task_of_the_thread_counts(drive: Drive, diary: Diary) -> None:
    both = Script(plans=[plan(sub("a")), plan(sub("w"))], moves={"w": [write()]})
    out = await drive(both, tools=[diary.tool()])
    assert out.status == "answered"
    await out.go("now write")
    (asked,) = await out.waiting()
    assert "tool:lookup" in asked["why"]
    assert diary.written == []


@pytest.mark.parametrize(
    ("approve", "least", "outside", "waits"),
    [
        ("never", "never", True, False),
        ("tainted", "never", False, False),
        ("tainted", "never", True, True),
        ("always", "never", False, True),
        ("never", "tainted", True, True),
        ("never", "tainted", False, False),
        ("never", "always", False, True),
        ("always", "tainted", False, True),
    ],
)
async def test_when_it_is_asked(
    drive: Drive, diary: Diary, approve: str, least: str, outside: bool, waits: bool
) -> None:
    out = await drive(
        script(after=("a",) if outside else ()),
        tools=[diary.tool()],
        setting={"least_approval": least},
        approve_tools=approve,
    )
    assert bool(await out.waiting()) == waits
    assert diary.written == ([] if waits else ["dear diary"])


async def test_an_edited_call_is_made_and_recorded_as_it_was_edited(drive: Drive, diary: Diary) -> None:
    out = await drive(script(), tools=[diary.tool()], approve_tools="always")
    await out.reply({"decision": "edit", "value": {"text": "shorter", "times": 2}})
    assert diary.written == ["shorter", "shorter"]
    (step,) = out.steps
    assert (step["arguments"], step["approval"]) == ({"text": "shorter", "times": 2}, "edited")


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ({"decision": "edit", "value": {"txt": "x"}}, "text is missing"),
        ({"decision": "edit", "value": {"text": "x", "times": "many"}}, "times"),
        ({"decision": "edit", "value": "x"}, "must be an object"),
        ({"decision": "edit"}, "must be an object"),
        ("perhaps", "'perhaps'"),
        ({"reason": "hm"}, "decision must be"),
    ],
)
async def test_a_reply_that_cannot_be_used_is_asked_again(
    drive: Drive, diary: Diary, reply: Any, problem: str
) -> None:
    out = await drive(script(), tools=[diary.tool()], approve_tools="always")
    await out.reply(reply)
    (asked,) = await out.waiting()
    assert problem in asked["problem"]
    assert asked["refused"] == reply
    assert diary.written == []
    await out.reply("approve")
    assert (diary.written, out.status) == (["dear diary"], "answered")


@pytest.mark.parametrize(("reply", "written"), [("reject", []), ("approve", ["dear diary"])])
async def test_a_reply_counts_whatever_the_context_is_by_then(
    drive: Drive, diary: Diary, reply: str, written: list[str]
) -> None:
    out = await drive(script(), tools=[diary.tool()], approve_tools="always")
    assert await out.waiting()
    await out.go(Command(resume=reply), approve_tools="never")
    assert (diary.written, out.steps[0]["approval"][:6]) == (written, reply[:6])


async def test_a_rejected_call_is_a_failed_step_and_is_not_made_again(drive: Drive, diary: Diary) -> None:
    moves = {"w": [write(), write(), finish("left it")]}
    out = await drive(
        Script(plans=[plan(sub("w"))], moves=moves, answers=[answer()]),
        tools=[diary.tool()],
        approve_tools="always",
        replanning=False,
    )
    await out.reply({"decision": "reject", "reason": "it is private"})
    assert await out.waiting() == [], "the same call is not asked for again"
    assert diary.written == []
    rejected, repeated, last = out.steps
    assert spent(out.state).calls == 0, "neither a No nor a refused repeat is a call"
    assert (rejected["cause"], rejected["ok"], rejected["approval"]) == ("rejected", False, "rejected")
    assert "it is private" in rejected["observation"]
    assert repeated["cause"] == "repeat"
    assert last["finished"]
    assert "it is private" in out.asked("ToolChoice", "w")[1].text, "short-term memory tells the agent why"


async def test_two_calls_of_a_wave_are_decided_one_by_one(drive: Drive, diary: Diary) -> None:
    moves = {"p": [write("first")], "q": [write("second"), finish("no second")]}
    out = await drive(
        Script(plans=[plan(sub("p"), sub("q"))], moves=moves), tools=[diary.tool()], approve_tools="always"
    )
    waiting = (await out.graph.aget_state(out.config)).interrupts
    decisions = {"first": {"decision": "approve"}, "second": {"decision": "reject", "reason": "one will do"}}
    await out.go(Command(resume={item.id: decisions[item.value["arguments"]["text"]] for item in waiting}))
    assert (diary.written, out.status) == (["first"], "answered")


async def test_plans_and_memories_know_what_they_were_made_under(drive: Drive, diary: Diary) -> None:
    again = Script(plans=[plan(sub("a")), plan(sub("b"))], answers=[answer(score=3), answer()])
    out = await drive(again, tools=[diary.tool()])
    assert out.state["plan"]["origin"] == "tool:lookup", "the second round's plan"
    assert out.state["long_term"]["1"]["origin"] == "tool:lookup"
    first = [
        item.values["plan"]["origin"]
        async for item in out.graph.aget_state_history(out.config)
        if item.values.get("plan", {}).get("version") == 1
    ]
    assert set(first) == {"user"}


async def test_a_rule_allows_a_call_without_reading_grants(drive: Drive, diary: Diary) -> None:
    rules = [{"tools": "note", "decision": "allow", "arguments": {"text": "dear *"}}]
    out = await drive(script(after=("a",)), tools=[diary.tool()], approvals=rules)
    assert (out.status, diary.written, out.asked("Grants")) == ("answered", ["dear diary"], [])


async def test_a_rule_denies_a_call_without_a_question(drive: Drive, diary: Diary) -> None:
    rules = [{"tools": "n*", "decision": "deny"}, {"tools": "*", "decision": "allow"}]
    given = script()
    given.moves = {"w": [write(), finish("not written")]}
    out = await drive(given, tools=[diary.tool()], approvals=rules)
    assert (out.status, diary.written) == ("answered", [])
    assert (out.steps[0]["cause"], out.steps[0]["approval"]) == ("rejected", "denied")


async def test_a_rule_asks_without_outside_text_and_limits_the_replies(drive: Drive, diary: Diary) -> None:
    rules = [{"tools": "note", "decision": "ask", "allowed_decisions": ["approve", "reject"]}]
    out = await drive(script(), tools=[diary.tool()], approvals=rules)
    (asked,) = await out.waiting()
    assert (diary.written, asked["choices"]) == ([], ["approve", "reject"])
    assert asked["review_configs"][0]["allowed_decisions"] == ["approve", "reject"]
    await out.reply("edit")
    assert "decision" in (await out.waiting())[0]["problem"]
    await out.reply("approve")
    assert diary.written == ["dear diary"]


async def test_the_operators_rules_come_first(drive: Drive, diary: Diary) -> None:
    rules = [{"tools": "note", "decision": "allow"}]
    setting = {"approvals": [{"tools": "note", "decision": "deny"}]}
    given = script()
    given.moves = {"w": [write(), finish("not written")]}
    await drive(given, tools=[diary.tool()], approvals=rules, setting=setting)
    assert diary.written == []


async def test_no_edit_goes_around_a_rule(drive: Drive, diary: Diary) -> None:
    setting = {"approvals": [{"tools": "note", "decision": "deny", "arguments": {"text": "*secret*"}}]}
    out = await drive(script(after=("a",)), tools=[diary.tool()], setting=setting)
    await out.reply({"decision": "edit", "value": {"text": "the SECRET"}})
    assert "rule" in (await out.waiting())[0]["problem"]
    assert diary.written == []


@pytest.mark.parametrize("arguments", [{}, {"times": 1}, {"times": "1"}])
async def test_a_denied_default_has_no_other_spelling(
    drive: Drive, diary: Diary, arguments: dict[str, Any]
) -> None:
    rules = [{"tools": "note", "decision": "deny", "arguments": {"times": "1"}}]
    given = script()
    given.moves = {"w": [write(**arguments), finish("not written")]}
    await drive(given, tools=[diary.tool()], approvals=rules)
    assert diary.written == []


async def test_a_question_that_is_asked_again_says_the_same(drive: Drive, diary: Diary) -> None:
    out = await drive(script(after=("a",)), tools=[diary.tool()])
    (first,) = await out.waiting()
    await out.reply("maybe")
    (again,) = await out.waiting()
    assert again["problem"]
    assert {key: again[key] for key in ("why", "changes")} == {key: first[key] for key in ("why", "changes")}
