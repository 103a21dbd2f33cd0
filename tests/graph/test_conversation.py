"""What `messages` holds: a conversation as chat clients show it, small, in an order that providers take."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, RemoveMessage, convert_to_openai_messages

from tests.support.agent import Drive, Script, World, broken
from tests.support.replies import Json, call, finish, plan, sub

WAVE = plan(sub("a"), sub("b"), sub("c", ["a", "b"]))


def shape(messages: list[Any]) -> list[tuple[str, str]]:
    """Each message's type, and its text or the name of the tool that it calls."""
    return [(m.type, str(m.text) or m.tool_calls[0]["name"]) for m in messages]


async def test_each_call_stands_before_its_result(drive: Drive) -> None:
    """Also of subtasks that run side by side; a step that is no call is no message."""
    out = await drive(Script(plans=[WAVE], moves={"c": [finish("both")]}))
    calls = [m for m in out.state["messages"] if getattr(m, "tool_calls", None)]
    assert shape(out.state["messages"]) == [
        ("human", "the task"),
        *[("ai", "lookup"), ("tool", "value of a"), ("ai", "lookup"), ("tool", "value of b")],
        ("ai", "the answer"),
    ]
    assert [m.tool_calls[0]["args"] for m in calls] == [{"key": "a"}, {"key": "b"}]
    assert [m.id for m in calls] == ["step-1", "step-2"]
    assert convert_to_openai_messages(out.state["messages"])


async def test_a_failed_call_is_marked_as_one(drive: Drive) -> None:
    world = World({"a": [broken("it is jammed")]})
    out = await drive(Script(moves={"a": [call("a"), call("b")]}), world)
    results = [(m.status, m.text) for m in out.state["messages"] if m.type == "tool"]
    assert [status for status, _ in results] == ["error", "success"]
    assert "jammed" in results[0][1]


async def test_long_results_and_arguments_are_cut_and_say_where_they_are(drive: Drive) -> None:
    long = "line of text\n" * 1500
    world = World({"a": [long]})
    out = await drive(Script(moves={"a": [call("a", note=long)]}), world)
    made, result = out.state["messages"][1:3]
    assert len(str(result.content)) < 2300
    assert "characters left out" in result.text
    assert result.text.endswith("[All of it: `trajectory`, step 1]")
    assert len(json.dumps(made.tool_calls)) < 2300
    assert len(out.steps[0]["observation"]) > 15_000


async def test_what_a_tool_brought_loads_nothing_in_a_chat(drive: Drive) -> None:
    world = World({"a": ["See ![this](http://evil.test/?q=1) and <img src=http://evil.test/2>"]})
    out = await drive(Script(), world)
    text = out.state["messages"][2].text
    assert "![" not in text
    assert "<img" not in text
    assert "evil.test/?q=1" in text


async def test_a_fork_says_again_only_what_it_does_again(drive: Drive) -> None:
    out = await drive(Script(plans=[plan(sub("a"), sub("b", ["a"]))]))
    before = list(out.state["messages"])
    history = [state async for state in out.graph.aget_state_history(out.config)]
    at = next(state for state in history if state.next == ("tool_executor",))
    assert shape(at.values["messages"])[-2:] == [("ai", "lookup"), ("tool", "value of a")]
    proposal = {**at.values["proposals"]["b"], "arguments": {"key": "other", "note": None}}
    made = await out.graph.aupdate_state(at.config, {"proposals": {"b": proposal}}, as_node="tool_agent")
    out.config = made
    await out.graph.ainvoke(None, made, context=out.context)
    out.config = {"configurable": {"thread_id": "t"}}
    await out.look()
    after = out.state["messages"]
    assert [m.id for m in after[:-1]] == [m.id for m in before[:-1]]
    assert shape(after)[3:] == [("ai", "lookup"), ("tool", "value of other"), ("ai", "the answer")]


@pytest.mark.parametrize(
    "given", ["how many?", ["how many?"], [("user", "how many?")], {"role": "user", "content": "how many?"}]
)
async def test_a_message_in_any_form_keeps_its_id(drive: Drive, given: Any) -> None:
    """The channel is read by taking its writes in again."""
    out = await drive(task={"messages": given})
    (first, *_), status = out.state["messages"], out.status
    await out.look()
    assert out.state["messages"][0].id == first.id == out.state["progress"]["message_id"]
    assert (status, first) == ("answered", HumanMessage("how many?", id=first.id))


async def test_messages_are_removed_and_nothing_else_is(drive: Drive) -> None:
    """A removal of what is not there would make the thread unreadable, had it been kept as an error."""
    out = await drive(task={"messages": ["how many?"]})
    update: Json = {
        "messages": [RemoveMessage("step-1-result"), RemoveMessage("step-1"), RemoveMessage("no")]
    }
    await out.graph.aupdate_state(out.config, update, as_node="answer_agent")
    await out.look()
    assert [m.type for m in out.state["messages"]] == ["human", "ai"]
    await out.go({"messages": [RemoveMessage("nor this"), HumanMessage("and now?")]})
    assert (out.status, [text for _, text in out.talk][2]) == ("answered", "and now?")
    update = {"messages": [RemoveMessage("__remove_all__")]}
    await out.graph.aupdate_state(out.config, update, as_node="answer_agent")
    await out.look()
    assert out.state["messages"] == []


async def test_a_checkpoint_holds_the_new_messages_alone(drive: Drive) -> None:
    """Else a long conversation would be stored again with every step."""
    chain = [sub("s1"), *(sub(f"s{n}", [f"s{n - 1}"]) for n in range(2, 9))]
    out = await drive(Script(plans=[plan(*chain)]), World({f"s{n}": ["x" * 900] for n in range(9)}))
    saver = out.graph.checkpointer
    kept = [len(value[1]) for (*_, channel, _), value in saver.blobs.items() if channel == "messages"]
    written: list[Json] = [w for writes in saver.writes.values() for w in writes.values()]
    sizes = [len(w[2][1]) for w in written if w[1] == "messages"]
    assert sum(kept) == 0
    assert len(sizes) >= 9
    assert max(sizes) < 4000


async def test_the_call_is_in_the_stream_before_its_result(drive: Drive) -> None:
    out = await drive(task=None)
    stream = out.graph.astream(
        {"task": "x"}, out.config, context=out.context, stream_mode=["messages", "custom", "updates"]
    )
    seen = []
    async for mode, part in stream:
        if mode == "messages" and part[0].id.startswith("step-"):
            seen.append((part[0].type, part[0].id))
        elif mode == "updates" and "tool_executor" in part:
            seen.append(("updates", ""))
    assert seen == [("ai", "step-1"), ("tool", "step-1-result"), ("updates", "")]


async def test_while_a_person_is_waited_for_the_status_says_so(drive: Drive) -> None:
    """Wherever a client reads it; what it is afterwards, the run decides."""
    out = await drive(Script(), task=None)
    context = out.context.model_copy(update={"approve_plan": True})
    result = await out.graph.ainvoke({"task": "x"}, out.config, context=context)
    assert result["status"] == "interrupted"
    assert (await out.graph.aget_state(out.config)).values["status"] == "interrupted"
    assert out.graph.get_state(out.config).values["status"] == "interrupted"
    newest = await anext(out.graph.aget_state_history(out.config))
    assert newest.values["status"] == "interrupted"
    await out.reply({"decision": "approve"})
    assert out.status == "answered"
