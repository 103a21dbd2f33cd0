"""The planner: scores, revisions, what is sent back (MIRROR 3.4)."""

from __future__ import annotations

import pytest

from tests.support.agent import Drive, Script, World, broken
from tests.support.replies import INVALID, Json, answer, ask_replan, call, plan, sub


async def test_a_low_plan_is_revised_and_sees_its_own_evaluation(drive: Drive) -> None:
    low = plan(sub("a"), score=8, evaluation="the year is not checked")
    out = await drive(Script(plans=[low, plan(sub("a"), sub("b"))]))
    first, second = out.asked("Plan")
    assert "the year is not checked" not in first.text
    assert "the year is not checked" in second.last
    assert "8 of 10" in second.last
    assert out.state["plan"]["revisions"] == 1
    assert list(out.subtasks) == ["a", "b"]


async def test_revisions_are_bounded_and_the_best_attempt_is_kept(drive: Drive) -> None:
    plans = [plan(sub("one"), score=4), plan(sub("two"), score=7), plan(sub("three"), score=5)]
    out = await drive(Script(plans=plans), max_revisions=2)
    assert len(out.asked("Plan")) == 3
    assert list(out.subtasks) == ["two"]
    assert out.state["plan"]["score"] == 7


@pytest.mark.parametrize(("score", "asked"), [(8, 2), (9, 1), (10, 1)])
async def test_a_score_equal_to_the_threshold_passes(drive: Drive, score: int, asked: int) -> None:
    out = await drive(Script(plans=[plan(sub("a"), score=score), plan(sub("a"))]), plan_threshold=9)
    assert len(out.asked("Plan")) == asked


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (plan(sub("a", ["b"]), sub("b", ["a"])), "cycle"),
        (plan(sub("a", ["a"])), "cycle"),
        (plan(sub("a", ["ghost"])), "'ghost'"),
        (plan(sub("a"), sub("a")), "two subtasks have the id 'a'"),
        (plan(), "at least one"),
        (plan(sub("*")), "'*' cannot be the id"),
        (plan(sub("a"), discard=["z"]), "'z'"),
    ],
)
async def test_an_invalid_plan_is_sent_back_with_the_reason(drive: Drive, bad: Json, reason: str) -> None:
    out = await drive(Script(plans=[bad, plan(sub("a"))]))
    _first, second = out.asked("Plan")
    assert reason in second.last
    assert out.status == "answered"
    assert out.state["usage"]["planner"]["calls"] == 2


async def test_no_valid_first_plan_fails_the_task_after_two_repairs(drive: Drive) -> None:
    out = await drive(Script(plans=[INVALID]))
    assert out.kinds == ["Plan"] * 3
    assert out.status == "failed"
    assert out.state["answer"] == ""
    assert out.state["messages"][-1].type == "ai"
    assert "no valid plan" in out.state["messages"][-1].text
    assert out.state["usage"]["planner"]["calls"] == 3


async def test_an_invalid_replan_keeps_the_old_plan(drive: Drive) -> None:
    script = Script(
        plans=[plan(sub("a"), sub("b")), INVALID], moves={"a": [ask_replan("it is odd"), call("a")]}
    )
    out = await drive(script)
    assert len(out.asked("Plan")) == 4
    assert out.status == "answered"
    assert out.subtasks == {"a": "finished", "b": "finished"}
    assert out.state["plan"]["version"] == 1


async def test_a_revision_that_becomes_invalid_keeps_the_best_before_it(drive: Drive) -> None:
    out = await drive(Script(plans=[plan(sub("a"), score=6), INVALID]))
    assert len(out.asked("Plan")) == 4
    assert out.status == "answered"
    assert out.state["plan"]["score"] == 6


async def test_a_replan_sees_why_and_what_was_done_and_keeps_results(drive: Drive) -> None:
    script = Script(
        plans=[plan(sub("a"), sub("b", ["a"])), plan(sub("c", ["a"]))],
        moves={"b": [ask_replan("sheet two is mislabelled")]},
    )
    out = await drive(script)
    prompt = out.asked("Plan")[1].text
    for wanted in (
        "sheet two is mislabelled",
        "value of a",
        "Finished results",
        "a [finished]",
        "b [pending",
    ):
        assert wanted in prompt
    assert out.subtasks == {"a": "finished", "c": "finished"}
    assert out.world.calls == ["a", "c"]
    assert out.state["replans"][0]["kind"] == "agent"


async def test_an_empty_replan_means_answer_with_what_there_is(drive: Drive) -> None:
    script = Script(plans=[plan(sub("a"), sub("b", ["a"])), plan()], moves={"b": [ask_replan()]})
    out = await drive(script)
    assert out.kinds[-1] == "AnswerDraft"
    assert len(out.steps) == 2
    assert out.status == "answered"


async def test_discarded_results_are_gone_and_their_subtask_can_be_done_again(drive: Drive) -> None:
    script = Script(
        plans=[plan(sub("a"), sub("b", ["a"])), plan(sub("a"), sub("b", ["a"]), discard=["a"])],
        moves={"a": [call("old"), call("new")], "b": [ask_replan("a is wrong"), call("b")]},
    )
    out = await drive(script)
    assert out.world.calls == ["old", "new", "b"]
    assert out.state["results"]["a"]["text"] == "value of new"
    assert "value of old" not in out.asked("ToolChoice", "b")[-1].text


async def test_a_subtask_that_failed_cannot_come_again_in_the_same_words(drive: Drive) -> None:
    world = World({key: [broken()] for key in ("1", "2", "3")})
    script = Script(
        plans=[plan(sub("a")), plan(sub("a")), plan(sub("a", description="another way"))],
        moves={"a": [call("1"), call("2"), call("3")], "a_2": [call("4")]},
        answers=[answer()],
    )
    out = await drive(script, world)
    assert "has failed and stands here in the same words" in out.asked("Plan")[2].last
    assert out.subtasks == {"a_2": "finished"}
    assert out.status == "answered"


async def test_what_failed_is_not_planned_in_the_same_words_under_another_id(drive: Drive) -> None:
    world = World({key: [broken()] for key in "xyz"})
    plans = [plan(sub("a", description="Open it")), plan(sub("b", description="open  it")), plan(sub("c"))]
    out = await drive(Script(plans=plans, moves={"a": [call("x"), call("y"), call("z")]}), world)
    assert "same words" in out.asked("Plan")[2].last
    assert out.subtasks == {"c": "finished"}


SIGNED = "Pay it, unless the order was cancelled."
LEFT = {"sign": "S1", "bears": "cancelled ones are left out", "handled_by": ""}


async def test_a_plan_that_looks_after_no_sign_that_bears_is_sent_back(drive: Drive) -> None:
    plans = [plan(sub("a"), signs=[LEFT]), plan(sub("a"), signs=[{**LEFT, "handled_by": "a"}])]
    out = await drive(Script(plans=plans), task=SIGNED, effort="auto")
    first, second = out.asked("Plan")
    assert list(first.schema["properties"]) == ["signs", "subtasks", "answer"]
    assert "no subtask looks after S1" in second.last
    assert [verdict["handled_by"] for verdict in out.state["plan"]["signs"]] == ["a"]


@pytest.mark.parametrize(
    "signs",
    [[], [{**LEFT, "bears": "no"}], [{**LEFT, "handled_by": "a"}], [{**LEFT, "sign": "S7"}]],
    ids=["without a verdict", "it does not bear", "looked after", "no such sign"],
)
async def test_a_plan_whose_author_passes_by_no_sign_knowingly_goes_on(
    drive: Drive, signs: list[Json]
) -> None:
    out = await drive(Script(plans=[plan(sub("a"), signs=signs)]), task=SIGNED, effort="auto")
    assert len(out.asked("Plan")) == 1


async def test_a_sign_that_is_left_twice_is_the_reflectors(drive: Drive) -> None:
    out = await drive(Script(plans=[plan(sub("a"), signs=[LEFT])]), task=SIGNED, effort="auto")
    assert out.kinds[:4] == ["Plan", "Plan", "PlanDiagnosis", "ToolChoice"]
    assert out.status == "answered"


async def test_a_sign_may_be_looked_after_by_finished_work(drive: Drive) -> None:
    plans = [
        plan(sub("a"), sub("b", ["a"]), signs=[{**LEFT, "handled_by": "b"}]),
        plan(sub("c", ["a"]), signs=[{**LEFT, "handled_by": "a"}]),
    ]
    out = await drive(Script(plans=plans, moves={"b": [ask_replan()]}), task=SIGNED, effort="auto")
    assert len(out.asked("Plan")) == 2
    assert out.subtasks == {"a": "finished", "c": "finished"}
