"""The tool executor: what became of a proposal, repeats, memory, foresight."""

from __future__ import annotations

import asyncio

import pytest

from forethought.models.types import Usage
from forethought.state.agent import Step
from forethought.tools.base import Observation, ToolEnv, make_tool
from tests.support.agent import Drive, Script, World, broken
from tests.support.replies import Json, ask_replan, call, finish, plan, sub


async def test_the_same_failed_call_is_never_made_again_and_asks_for_a_new_plan(drive: Drive) -> None:
    world = World({"x": [broken("locked")]})
    script = Script(plans=[plan(sub("a")), plan(sub("b"))], moves={"a": [call("x"), call("x")]})
    out = await drive(script, world)
    assert world.calls == ["x", "b"]
    assert [step["cause"] for step in out.steps] == ["tool", "repeat", ""]
    assert "failed at step 1" in out.steps[1]["observation"]
    assert out.state["replans"][0]["kind"] == "repeat"
    assert "locked" in out.asked("Plan")[1].text


async def test_another_subtask_in_other_words_is_the_same_call_with_short_term_memory_off(
    drive: Drive,
) -> None:
    world = World({"x": [broken("locked")]})
    bare = {**call("x"), "arguments": {"key": "x"}}
    script = Script(
        plans=[plan(sub("a"), sub("b", ["a"]))],
        moves={"a": [call("x"), call("y")], "b": [bare, call("z")]},
    )
    out = await drive(script, world, short_term_memory=False, replanning=False)
    assert world.calls == ["x", "y", "z"]
    assert [step["cause"] for step in out.steps] == ["tool", "", "repeat", ""]
    assert out.status == "answered"


async def test_the_same_call_in_a_later_round_is_a_repeat(drive: Drive) -> None:
    from tests.support.replies import answer

    world = World({"x": [broken("locked")]})
    script = Script(
        plans=[plan(sub("a")), plan(sub("b"))],
        moves={"a": [call("x"), call("y")], "b": [call("x"), call("z")]},
        answers=[answer(score=3), answer()],
    )
    await drive(script, world, replanning=False)
    assert world.calls == ["x", "y", "z"]


async def test_a_call_that_succeeded_may_be_made_again(drive: Drive) -> None:
    out = await drive(Script(moves={"a": [call("x", finishes=False), call("x")]}))
    assert out.world.calls == ["x", "x"]
    assert out.status == "answered"


@pytest.mark.parametrize(("cause", "failures"), [("transport", 2), ("timeout", 1)])
async def test_transport_failures_of_a_retryable_tool_may_be_tried_again(
    drive: Drive, cause: str, failures: int
) -> None:
    """By the agent, after the one time that the call itself is made again at once."""
    failed = [broken("no line", cause=cause, retryable=True)] * failures
    world = World({"x": [*failed, "there"]}, retryable=True)
    out = await drive(Script(moves={"a": [call("x")]}), world)
    assert world.calls == ["x"] * (failures + 1)
    assert [step["ok"] for step in out.steps] == [False, True]
    assert out.state["results"]["a"]["text"] == "there"


@pytest.mark.parametrize("retryable", [False, True])
@pytest.mark.parametrize("cause", ["transport", "timeout"])
async def test_a_change_that_broke_off_is_not_made_again_and_the_agent_is_told(
    drive: Drive, cause: str, retryable: bool
) -> None:
    made: list[str] = []

    async def pay(key: str) -> str:
        """Pay.

        Args:
            key: To whom.
        """
        made.append(key)
        raise broken("no answer came", cause=cause, retryable=True)

    payment = {**call(tool="pay"), "arguments": {"key": "x"}}
    script = Script(moves={"a": [payment, payment, finish("not known")]})
    tool = make_tool(pay, effect="write", retryable=retryable)
    out = await drive(script, tools=[tool], replanning=False, max_attempts=9, approve_tools="never")
    assert made == ["x"]
    assert [step["cause"] for step in out.steps] == [cause, "repeat", ""]
    told = out.asked("ToolChoice", "a")[1].text
    assert "It may have taken effect: no answer came" in told
    assert "check whether it took effect" in told


@pytest.mark.parametrize(("cause", "retryable"), [("transport", False), ("not_found", True)])
async def test_other_failures_are_not_tried_again(drive: Drive, cause: str, retryable: bool) -> None:
    world = World({"x": [broken("no", cause=cause), "there"]}, retryable=retryable)
    script = Script(moves={"a": [call("x"), call("x"), call("y")]}, plans=[plan(sub("a"))])
    await drive(script, world)
    assert world.calls == ["x", "y"]


async def test_whatever_a_tool_does_wrong_is_a_failed_step_with_its_cause(drive: Drive) -> None:
    async def slow(key: str) -> str:
        """Take long.

        Args:
            key: Anything.
        """
        await asyncio.sleep(5)
        return key

    world = World(
        {"1": [ZeroDivisionError("by zero")], "2": [broken("gone", cause="not_found", hint="ask")], "3": [""]}
    )
    moves = [
        call("1"),
        call("2"),
        call("3"),
        {**call(tool="slow"), "arguments": {"key": "k"}},
        finish("done"),
    ]
    out = await drive(
        Script(moves={"a": moves}), world, tools=[make_tool(slow, timeout_s=0.05)], max_attempts=9
    )
    assert [step["cause"] for step in out.steps] == ["tool", "not_found", "empty", "timeout", ""]
    assert "ZeroDivisionError" in out.steps[0]["observation"]
    assert "Hint: ask" in out.steps[1]["observation"]
    assert out.status == "answered"


async def test_every_step_has_every_field_and_the_cost_of_its_turn(drive: Drive) -> None:
    out = await drive(Script(moves={"a": [call("x", score=4), call("y")]}))
    (step,) = out.steps
    assert set(step) == set(Step.__annotations__) - {"foresight", "note"}  # only where there is one
    assert step["usage"]["calls"] == 2
    assert (step["n"], step["task"], step["round"], step["plan_version"], step["wave"]) == (1, 1, 1, 1, 1)
    assert step["origin"] == "tool:lookup"


async def test_a_missing_expected_term_cancels_finishes_and_is_noted(drive: Drive) -> None:
    world = World({"x": ["Costs of 2023"]})
    script = Script(moves={"a": [call("x", expected='the heading "Costs of 2024"'), finish("it is 2023")]})
    out = await drive(script, world)
    assert out.steps[0]["surprise"] == "minor"
    assert out.steps[0]["ok"]
    assert "'Costs of 2024'" in out.steps[0]["observation"]
    assert "'Costs of 2024'" in out.asked("ToolChoice")[1].text
    assert out.state["results"]["a"]["text"] == "it is 2023"


async def test_a_met_expectation_finishes_in_one_call(drive: Drive) -> None:
    world = World({"x": ["COSTS   of 2024: 12"]})
    out = await drive(Script(moves={"a": [call("x", expected='"costs of 2024"')]}), world)
    assert len(out.steps) == 1
    assert out.steps[0]["surprise"] == "none"


async def test_a_partial_observation_cancels_finishes(drive: Drive) -> None:
    world = World({"x": [Observation("the first page", partial=True)]})
    out = await drive(Script(moves={"a": [call("x"), finish("read on")]}), world)
    assert len(out.steps) == 2
    assert out.state["results"]["a"]["text"] == "read on"


async def test_a_serious_surprise_asks_for_a_new_plan(drive: Drive) -> None:
    moves: list[Json] = [call("x", finishes=False), finish("done", surprise="serious")]
    script = Script(plans=[plan(sub("a"), sub("b", ["a"])), plan(sub("c", ["a"]))], moves={"a": moves})
    out = await drive(script)
    assert out.state["replans"][0]["kind"] == "surprise"
    assert out.subtasks == {"a": "finished", "c": "finished"}


async def test_a_failure_goes_to_the_rounds_record_and_names_what_failed(drive: Drive) -> None:
    world = World({"x": [broken("locked")]})
    out = await drive(Script(moves={"a": [call("x"), call("y")]}), world)
    failure = out.state["long_term"]["1"]["failures"]["1"]
    assert failure == {"subtask": "a", "tool": "lookup", "cause": "tool", "error": "locked"}


async def test_the_result_of_a_finish_keeps_the_origins_it_was_made_of(drive: Drive) -> None:
    world = World({"x": [Observation("text", origin="web:example.org")]})
    script = Script(
        plans=[plan(sub("a"), sub("b", ["a"]))],
        moves={"a": [call("x", finishes=False), finish("made")], "b": [finish("more")]},
    )
    out = await drive(script, world)
    assert out.state["results"]["a"]["origin"] == "web:example.org"
    assert out.state["results"]["b"]["origin"] == "web:example.org"


async def test_an_agent_that_asks_for_a_new_plan_is_a_failed_step(drive: Drive) -> None:
    out = await drive(
        Script(plans=[plan(sub("a")), plan(sub("b"))], moves={"a": [ask_replan("no such sheet")]})
    )
    assert (out.steps[0]["cause"], out.steps[0]["observation"]) == ("replan", "no such sheet")


async def test_what_a_tool_pays_for_itself_is_counted(drive: Drive) -> None:
    async def listen(env: ToolEnv, sound: str) -> str:
        """Hear."""
        assert env.book is not None
        env.book(Usage(calls=1, usd=0.25, seconds=1.0))
        return "heard"

    moves = {"a": [call(tool="listen", sound="s")]}
    out = await drive(Script(moves=moves), tools=[make_tool(listen)])
    assert out.state["usage"]["inspector"]["usd"] == 0.25
    assert out.steps[0]["usage"]["usd"] >= 0.25
    assert out.steps[0]["origin"] == "tool:listen", "what the tool says is not a model's answer"
