"""What a chat client sends while the agent waits: a message, or a decision in LangChain's form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from langchain.agents.middleware.human_in_the_loop import HITLRequest
from langgraph.types import Command
from pydantic import TypeAdapter

from tests.support.agent import Drive, Driven, Script, World
from tests.support.replies import Json, call, finish, plan, sub

ASK = call(tool="ask_user", question="Which one?", choices=["red", "blue"])


def said(text: str) -> Json:
    return {"messages": [{"role": "user", "content": text}]}


def decided(**decision: Any) -> Command[Any]:
    return Command(resume={"decisions": [decision]})


async def asked(drive: Drive, *, plans: list[Json] | None = None, **switches: Any) -> tuple[Driven, Json]:
    """An agent that waits, and what it waits for."""
    script = Script(plans=plans or [plan(sub("a"))], moves={"a": [ASK, finish("done")]})
    out = await drive(script, task=said("Paint it."), **switches)
    (payload,) = await out.waiting()
    TypeAdapter(HITLRequest).validate_python(
        {name: payload[name] for name in ("action_requests", "review_configs")}, strict=True
    )
    return out, payload


async def test_a_message_answers_the_question_that_waits(drive: Drive) -> None:
    """The task goes on: the message is no task of its own, then or at a later plan."""
    plans = [plan(sub("a")), plan(sub("a"))]
    out, _ = await asked(drive, plans=plans)
    await out.go(said("Neither: green."))
    assert out.status == "answered"
    assert out.steps[0]["observation"] == "Neither: green."
    assert (out.state["task"], out.state["progress"]["task"]) == ("Paint it.", 1)
    assert [text for kind, text in out.talk if kind == "human"] == ["Paint it.", "Neither: green."]
    await out.go(said("And the door?"))
    assert (out.state["task"], out.state["progress"]["task"]) == ("And the door?", 2)


async def test_a_message_on_a_plan_rejects_it_with_these_words(drive: Drive) -> None:
    """Or decides, where it is a decision; it approves nothing else."""
    plans = [plan(sub("a")), plan(sub("b"))]
    out, _ = await asked(drive, plans=plans, approve_plan=True)
    await out.go(said("Yes, but use blue."))
    assert "Yes, but use blue." in out.asked("Plan")[1].text
    assert out.status == "interrupted"
    await out.go(said("Approve."))
    assert (out.status, out.subtasks) == ("answered", {"b": "finished"})
    assert out.state["progress"]["task"] == 1


async def test_a_new_task_is_no_reply(drive: Drive) -> None:
    out, _ = await asked(drive)
    await out.go({"task": "Something else."})
    assert out.state["progress"]["task"] == 2


@pytest.mark.parametrize(
    ("reply", "observation"),
    [
        (
            {"type": "edit", "edited_action": {"name": "question", "args": {"answer": "blue"}}},
            "blue",
        ),
        ({"type": "respond", "message": "red"}, "red"),
        ({"type": "reject", "message": "neither"}, "neither"),
    ],
)
async def test_a_question_is_answered_in_langchains_form(drive: Drive, reply: Json, observation: str) -> None:
    out, payload = await asked(drive)
    (action,), (config,) = payload["action_requests"], payload["review_configs"]
    assert action["args"] == {"question": "Which one?", "choices": ["red", "blue"], "answer": ""}
    assert config == {"action_name": action["name"], "allowed_decisions": ["edit", "reject", "respond"]}
    await out.go(decided(**reply))
    assert out.steps[0]["observation"] == observation


async def test_a_plan_is_edited_in_langchains_form(drive: Drive) -> None:
    """A form gives lists as JSON text."""
    out, payload = await asked(drive, approve_plan=True)
    (action,) = payload["action_requests"]
    assert (action["name"], action["args"]["subtasks"][0]["id"]) == ("plan", "a")
    edited = '[{"id": "z", "description": "look at the door", "depends_on": [], "expected": ""}]'
    await out.go(decided(type="edit", edited_action={"name": "plan", "args": {"subtasks": edited}}))
    assert out.subtasks == {"z": "finished"}


async def test_what_waits_for_a_decision_loads_nothing(drive: Drive) -> None:
    """A part that the person leaves as it is shown stays as it was."""
    picture = "See ![it](http://evil.test/1)"
    out, payload = await asked(drive, plans=[plan(sub("a", description=picture))], approve_plan=True)
    (shown,) = payload["action_requests"][0]["args"]["subtasks"]
    assert payload["plan"]["subtasks"][0]["description"] == picture
    assert "![" not in shown["description"]
    more = {"id": "more", "description": "and more", "depends_on": [], "expected": ""}
    await out.go(decided(type="edit", edited_action={"name": "plan", "args": {"subtasks": [shown, more]}}))
    assert [item["description"] for item in out.state["plan"]["subtasks"]] == [picture, "and more"]


async def test_a_call_is_approved_in_langchains_form(drive: Drive) -> None:
    """Edited with its arguments, one of which is left as it is shown."""
    note = "with ![a picture](http://evil.test/1)"
    write = replace(World().tool(), name="write", effect="write")
    script = Script(moves={"a": [{**call("x", note=note), "tool": "write"}]})
    out = await drive(script, tools=[write], approve_tools="always")
    (payload,) = await out.waiting()
    (action,), (config,) = payload["action_requests"], payload["review_configs"]
    assert (action["name"], config["allowed_decisions"]) == ("write", ["approve", "edit", "reject"])
    assert action["description"] == payload["why"]
    await out.go(
        decided(type="edit", edited_action={"name": "write", "args": {**action["args"], "key": "y"}})
    )
    assert out.steps[0]["arguments"] == {"key": "y", "note": note}
    assert out.steps[0]["approval"] == "edited"
