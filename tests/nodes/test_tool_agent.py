"""The tool agent: scores, revisions, the floor, what it sees (MIRROR 3.4, 3.5)."""

from __future__ import annotations

import pytest

from tests.support.agent import Drive, Script, World, broken
from tests.support.replies import INVALID, answer, ask_replan, call, defect, finish, plan, sub


async def test_a_low_proposal_is_revised_before_it_is_made_and_sees_its_evaluation(drive: Drive) -> None:
    moves = [call("wrong", score=6, evaluation="the year is missing"), call("right")]
    out = await drive(Script(moves={"a": moves}))
    first, second = out.asked("ToolChoice")
    assert "the year is missing" not in first.text
    assert "the year is missing" in second.last
    assert [role for role, _ in second.messages] == ["system", "user", "assistant", "user"]
    assert out.world.calls == ["right"]


@pytest.mark.parametrize("best", [5, 6, 8])
async def test_after_the_revisions_the_best_is_tried_at_the_floor_or_above(drive: Drive, best: int) -> None:
    moves = [call("x", score=3), call("y", score=best), call("z", score=4)]
    out = await drive(Script(moves={"a": moves}), max_revisions=2, tool_floor=5)
    assert len(out.asked("ToolChoice")) == 3
    assert out.world.calls == ["y"]
    assert out.steps[0]["score"] == best


async def test_below_the_floor_the_turn_is_a_failed_attempt_that_is_named(drive: Drive) -> None:
    low = call("x", score=4, evaluation="nothing here fits")
    script = Script(plans=[plan(sub("a")), plan()], moves={"a": [low]}, answers=[answer()])
    out = await drive(script, max_revisions=1, tool_floor=5)
    assert out.world.calls == []
    assert [step["cause"] for step in out.steps] == ["proposal"] * 3
    assert "nothing here fits" in out.state["replans"][0]["reason"]
    assert "no proposal was good enough" in out.asked("Plan")[1].text
    assert "failed (proposal)" in out.asked("AnswerDraft")[0].text
    assert len(out.asked("ToolChoice")) == 6


async def test_rejected_proposals_are_shown_next_time(drive: Drive) -> None:
    script = Script(
        moves={
            "a": [call("bad", score=2, evaluation="hopeless"), call("good", finishes=False), finish("done")]
        }
    )
    out = await drive(script)
    assert "hopeless" in out.asked("ToolChoice")[2].text
    assert "Short-term memory" in out.asked("ToolChoice")[2].text
    assert "rejected:1" in out.steps[1]["shown"]


async def test_invalid_replies_are_a_failed_attempt(drive: Drive) -> None:
    out = await drive(Script(moves={"a": [INVALID, INVALID, INVALID, call("a")]}))
    assert [(step["ok"], step["cause"]) for step in out.steps] == [(False, "proposal"), (True, "")]
    assert out.steps[0]["usage"]["calls"] == 3
    assert out.status == "answered"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (call(tool="hammer"), "'hammer'"),
        (call(wrong=1), "wrong is not an argument"),
        ({**call(), "arguments": {"key": None, "note": None}}, "key"),
        (finish(""), "result is empty"),
        (ask_replan(""), "reason is empty"),
        ({**call(), "defects": [{**defect(), "effect": "bad"}]}, "effect"),
        ({**call(), "defects": [{**defect(), "evidence": " "}]}, "evidence"),
        ({key: value for key, value in call().items() if key != "defects"}, "defects is missing"),
    ],
)
async def test_a_move_that_does_not_fit_is_sent_back(
    drive: Drive, bad: dict[str, object], reason: str
) -> None:
    out = await drive(Script(moves={"a": [bad, call("a")]}))
    assert reason in out.asked("ToolChoice")[1].last
    assert out.world.calls == ["a"]


async def test_it_sees_its_dependencies_results_and_steps_but_not_those_of_others(drive: Drive) -> None:
    script = Script(
        plans=[plan(sub("a"), sub("b"), sub("c", ["a"]))],
        moves={"c": [call("first", finishes=False), finish("done")]},
    )
    out = await drive(script)
    first, second = out.asked("ToolChoice", "c")
    assert "value of a" in first.text
    assert "value of b" not in first.text
    assert "value of first" not in first.text
    assert "value of first" in second.text
    assert "result:a" in out.steps[-1]["shown"]
    assert out.state["results"]["c"]["text"] == "done"
    assert second.messages[0] == first.messages[0]


async def test_short_term_memory_shows_failures_and_is_cleared_when_the_subtask_is_done(drive: Drive) -> None:
    world = World({"x": [broken("the door is locked")]})
    out = await drive(Script(moves={"a": [call("x"), call("y")]}), world)
    second = out.asked("ToolChoice")[1].text
    assert "Short-term memory" in second
    assert 'Step 1 failed (tool): lookup({"key": "x"' in second
    assert "the door is locked" in second
    assert "failure:1" in out.steps[1]["shown"]
    assert out.state["short_term"] == {}


async def test_short_term_memory_is_the_subtasks_own(drive: Drive) -> None:
    world = World({"x": [broken("the door is locked")]})
    script = Script(
        plans=[plan(sub("a"), sub("b"))],
        moves={"a": [call("x"), call("y")], "b": [call("z", finishes=False), finish("ok")]},
    )
    out = await drive(script, world)
    assert not any("the door is locked" in seen.text for seen in out.asked("ToolChoice", "b"))
