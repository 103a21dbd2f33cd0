"""Several tasks in a thread, the ways of asking, and what is reset."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from forethought.graph.resume import restart_failed_task
from forethought.knowledge.planning_errors import PACKAGED
from tests.support.agent import Drive, Script, World, broken, dump
from tests.support.model_server import Fault
from tests.support.replies import answer, call, plan, sub


def said(text: str) -> dict[str, Any]:
    """A chat input."""
    return {"messages": [{"role": "user", "content": text}]}


async def test_the_next_task_starts_afresh_and_knows_the_earlier_ones(drive: Drive) -> None:
    world = World({"x": [broken("locked"), "open"]})
    script = Script(
        plans=[plan(sub("a")), plan(sub("a", description="other"))],
        moves={"a": [call("x"), call("y"), call("x")]},
        answers=[answer("forty-two", used=[2]), answer("next", used=[3])],
    )
    out = await drive(script, world, task="how many?")
    await out.go("and why?")
    assert [(step["task"], step["n"]) for step in out.steps] == [(1, 1), (1, 2), (2, 3)]
    assert world.calls == ["x", "y", "x"], "what failed in another task may be tried"
    second = out.asked("Plan")[1].text
    assert "how many?" in second
    assert "forty-two" in second
    assert "and why?" in second
    assert "locked" not in second
    assert "value of y" not in second
    assert out.state["progress"]["earlier"] == [
        {"task": "how many?", "answer": "forty-two", "status": "answered"}
    ]
    assert out.state["usage"]["planner"]["calls"] == 1
    assert list(out.state["results"]) == ["a"]
    assert out.state["results"]["a"]["n"] == 3
    assert [source["n"] for source in out.state["sources"]] == [3]
    assert out.talk == [
        ("human", "how many?"),
        ("ai", "forty-two"),
        ("human", "and why?"),
        ("ai", "next"),
    ]


@pytest.mark.parametrize("second", [said("and why?"), {"task": "and why?"}])
@pytest.mark.parametrize("first", [said("how many?"), {"task": "how many?"}])
async def test_tasks_come_as_messages_or_as_task(drive: Drive, first: Any, second: Any) -> None:
    out = await drive(Script(answers=[answer("forty-two"), answer("next")]), task=first)
    await out.go(second)
    assert out.state["task"] == "and why?"
    assert out.state["progress"]["earlier"] == [
        {"task": "how many?", "answer": "forty-two", "status": "answered"}
    ]
    assert [text for _, text in out.talk] == ["how many?", "forty-two", "and why?", "next"]


async def test_a_task_wins_over_messages_and_ends_with_the_answer(drive: Drive) -> None:
    out = await drive(Script(), task={"task": "the task itself", **said("chatter")})
    assert out.state["task"] == "the task itself"
    assert out.state["messages"][-1].type == "ai"
    assert len(out.asked("Plan")) == 1


async def test_the_same_task_asked_again_is_a_new_task(drive: Drive) -> None:
    out = await drive(Script())
    await out.go("the task")
    assert out.state["progress"]["task"] == 2
    assert len(out.steps) == 2


@pytest.mark.parametrize("empty", [{}, {"task": "  "}, said(" "), {"messages": []}])
async def test_an_empty_task_is_refused_in_one_line_before_any_call(drive: Drive, empty: Any) -> None:
    out = await drive(Script(), task=None)
    await out.go(empty or {"guidance": []})
    assert out.status == "failed"
    assert "the task is empty" in out.state["messages"][-1].text
    assert "\n" not in out.state["messages"][-1].text
    assert out.requests == []
    await out.go({"task": "one"})
    assert out.status == "answered"


async def test_a_new_message_on_a_thread_left_running_is_the_next_task(drive: Drive) -> None:
    broken_off: list[Any] = [plan(sub("a")), Fault("500"), plan(sub("b"))]
    out = await drive(Script(plans=broken_off, answers=[answer(score=2), answer("done")]), task=None)
    with pytest.raises(Exception, match="no reply"):
        await out.go(said("first"))
    assert out.status == "running"
    await out.go(said("second"))
    assert out.state["task"] == "second"
    assert out.status == "answered"
    assert out.subtasks == {"b": "finished"}
    assert {step["task"] for step in out.steps} == {1, 2}
    assert "value of a" not in out.asked("Plan")[-1].text


async def test_files_and_guidance_reach_the_prompts_and_files_stay(drive: Drive) -> None:
    data = base64.b64encode(b"year,sum\n2024,12\n").decode()
    given = {"task": "sum?", "files": [{"name": "sums.csv", "data": data}], "guidance": ["use 2024 only"]}
    out = await drive(Script(), task=given)
    assert all("use 2024 only" in seen.text for seen in out.requests)
    assert all("sums.csv" in seen.text for seen in out.requests)
    (file,) = out.state["files"]
    assert "data" not in file
    assert file["name"] == "sums.csv"
    count = len(out.requests)
    await out.go("and now?")
    later = out.requests[count:]
    assert all("sums.csv" in seen.text for seen in later)
    assert not any("use 2024 only" in seen.text for seen in later), "guidance is for one task"


HALF = "caf\udce9\0"
"""As a command line that is no UTF-8, or a client's JSON, may bring it."""


@pytest.mark.parametrize(
    "given",
    [
        {"task": HALF},
        {"messages": [HumanMessage(HALF)]},
        {"messages": [HumanMessage([{"type": "text", "text": HALF}])]},
        {"task": "caf?", "guidance": [HALF]},
    ],
    ids=["task", "message", "block", "guidance"],
)
async def test_half_a_surrogate_pair_comes_no_further(drive: Drive, given: Any) -> None:
    out = await drive(task=given)
    assert out.status == "answered"
    assert (out.state["task"], len(out.talk)) == ("caf?", 2)
    assert out.state["messages"][0].text == "caf?"
    assert "caf?" in out.asked("Plan")[0].text
    assert "caf\udce9" not in str([out.state, out.requests])


async def test_state_is_plain_json_at_every_checkpoint(drive: Drive) -> None:
    world = World({"x": [broken()]})
    script = Script(
        plans=[plan(sub("a"), sub("b", ["a"])), plan(sub("c"))],
        moves={"a": [call("x", score=5), call("y")]},
        answers=[answer(score=3), answer(used=[2])],
    )
    out = await drive(script, world, round_reflection=True, max_revisions=1)
    count = 0
    async for snapshot in out.graph.aget_state_history(out.config):
        dump(snapshot.values)
        count += 1
    assert count > 8
    assert out.status == "answered"


async def test_memory_and_attempts_of_a_task_do_not_reach_the_next(drive: Drive) -> None:
    world = World({"x": [broken("jammed"), "open"], "y": [broken("jammed")], "z": [broken("jammed")]})
    script = Script(moves={"a": [call("x"), call("y"), call("z"), call("x")]})
    out = await drive(script, world, replanning=False, max_rounds=1)
    assert (out.status, out.subtasks) == ("best_effort", {"a": "failed"})
    assert len(out.state["short_term"]["a"]["failures"]) == 3
    count = len(out.requests)
    await out.go("another task")
    assert (out.status, out.subtasks) == ("answered", {"a": "finished"})
    assert not any("jammed" in seen.text or "Short-term memory" in seen.text for seen in out.requests[count:])


async def test_a_task_that_failed_is_asked_again_and_not_an_older_message(drive: Drive) -> None:
    plans: list[Any] = [plan(sub("a")), *[Fault("badjson")] * 3, plan(sub("b"))]
    out = await drive(Script(plans=plans), task=said("first"))
    await out.go({"task": "second"})
    assert out.status == "failed"
    assert out.talk[2] == ("human", "second")
    await out.go({"task": "second"})
    assert (out.status, out.state["task"]) == ("answered", "second")


async def test_a_broken_off_task_that_is_sent_again_goes_on_and_the_planner_is_told_so(drive: Drive) -> None:
    plans = [plan(sub("a"), sub("b", ["a"])), plan(sub("b", ["a"]))]
    moves: dict[str, list[Any]] = {"b": [Fault("500"), call("b")]}
    out = await drive(Script(plans=plans, moves=moves), task=None)
    with pytest.raises(Exception, match="no reply"):
        await out.go()
    await out.go("the task")
    told = out.asked("Plan")[1].text
    assert "broken off" in told
    assert "not good enough" not in told
    assert out.world.calls == ["a", "b"]
    assert out.state["progress"]["task"] == 1


async def test_a_file_given_in_the_middle_of_a_task_is_stored(drive: Drive) -> None:
    out = await drive(Script(), task=None)
    await out.graph.ainvoke({"task": "x"}, out.config, context=out.context, interrupt_before=["tool_agent"])
    with pytest.raises(ValueError, match=r"a\.txt: data is not valid base64"):
        await out.go({"files": [{"name": "a.txt", "data": "?"}]})
    await out.go({"files": [{"name": "a.txt", "data": "b25l"}]})
    assert (out.status, out.state["progress"]["task"]) == ("answered", 1)
    assert [(file["name"], file["size"]) for file in out.state["files"]] == [("a.txt", 3)]
    assert "a.txt (1 kB)" in out.asked("Plan")[-1].text


async def test_a_file_keeps_the_folders_in_its_name(drive: Drive) -> None:
    out = await drive(Script(), task={"task": "x", "files": [{"name": "docs/a.txt", "data": "b25l"}]})
    assert (out.status, [file["name"] for file in out.state["files"]]) == ("answered", ["docs/a.txt"])


async def test_a_refused_file_is_let_go_of_and_the_others_stay(drive: Drive) -> None:
    out = await drive(Script(), task=None)
    await out.go({"task": "one", "files": [{"name": "a.txt", "data": "b25l"}]})
    await out.go({"task": "two", "files": ["no such file.csv"]})
    assert out.status == "failed"
    assert "named files need a folder" in out.state["messages"][-1].text
    await out.go({"task": "three"})
    assert out.status == "answered"
    assert [file["name"] for file in out.state["files"]] == ["a.txt"]
    assert [item["task"] for item in out.state["progress"]["earlier"]] == ["one"]
    await out.go({"task": "four", "files": ["*"]})
    assert out.state["files"] == []


@pytest.mark.parametrize("asked", [said("what?"), {"task": "what?"}], ids=["message", "task"])
@pytest.mark.parametrize("earlier", [None, said("one"), {"task": "one"}], ids=["first", "message", "task"])
async def test_a_refused_task_is_taken_on_when_what_it_lacked_is_there(
    drive: Drive, tmp_path: Path, asked: Any, earlier: Any
) -> None:
    # With an operator's budget, which no client may lift: putting a task back to work is no client's doing.
    known = tmp_path / "errors.yaml"
    out = await drive(Script(), task=None, setting={"planning_errors_file": known, "max_tokens": 100_000})
    known.write_bytes(PACKAGED.read_bytes())
    if earlier:
        await out.go(earlier)
    known.unlink()
    data = base64.b64encode(b"gamma").decode()
    await out.go({**asked, "files": [{"name": "c.txt", "data": data}], "guidance": ["Be brief."]})
    assert out.status == "failed"
    assert "errors.yaml" in out.state["messages"][-1].text
    assert data not in dump(out.state), "content is in the storage alone"
    await again(out)
    assert out.status == "failed", "it is still not there"
    known.write_bytes(PACKAGED.read_bytes())
    asked_before = len(out.asked("Plan"))
    await again(out)
    assert (out.status, out.state["task"]) == ("answered", "what?")
    prompt = out.asked("Plan")[asked_before].text
    for part in ("what?", "c.txt (", "Be brief."):
        assert part in prompt


async def again(out: Any) -> None:
    """Put the failed task back to work, as `forethought resume` does."""
    snapshot = await out.graph.aget_state(out.config)
    await restart_failed_task(out.graph, out.config, snapshot.values)
    await out.go(None)


async def test_a_task_whose_file_was_not_there_is_given_again_with_it_and_leaves_nothing_to_another(
    drive: Drive, tmp_path: Path
) -> None:
    out = await drive(Script(), task=None, setting={"files_dir": tmp_path})
    await out.go({"task": "one", "files": ["b.txt"], "guidance": ["Be brief."]})
    assert "b.txt: no such file" in out.state["messages"][-1].text
    (tmp_path / "b.txt").write_text("beta")
    with pytest.raises(ValueError, match="send it again with its files"):
        await again(out)
    await out.go("two")
    assert (out.status, out.state["files"]) == ("answered", [])
    assert not any("Be brief." in seen.text for seen in out.requests)
    await out.go({"task": "one", "files": ["b.txt"]})
    assert "b.txt (" in out.asked("Plan")[-1].text


async def test_a_refused_task_does_not_stand_in_the_way_of_the_next_message(drive: Drive) -> None:
    out = await drive(Script(), task=None)
    await out.go({"task": "one", "files": ["no such file.csv"]})
    await out.go(said("two"))
    assert (out.status, out.state["task"]) == ("answered", "two")


async def test_guidance_stays_when_a_failed_task_is_asked_again_and_not_for_another(drive: Drive) -> None:
    invalid = plan(sub("a", "a"))
    script = Script(plans=[invalid, invalid, invalid, plan(sub("a")), plan(sub("a"))])
    out = await drive(script, task=None)
    await out.go({"task": "one", "guidance": ["net prices only"]})
    assert out.status == "failed"
    await out.go({"task": "one"})
    assert "net prices only" in out.requests[-1].text
    await out.go({"task": "two"})
    assert "net prices only" not in out.requests[-1].text


@pytest.mark.parametrize("wrong", ["go left", ["go left", 7]])
async def test_guidance_of_another_type_is_refused_in_one_line(drive: Drive, wrong: Any) -> None:
    out = await drive(Script(), task=None)
    await out.go({"task": "one", "guidance": wrong})
    assert "guidance must be a list of texts" in out.state["messages"][-1].text
    assert out.requests == []
    await out.go({"task": "two"})
    assert out.status == "answered"
