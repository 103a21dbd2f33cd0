"""The replan trigger: attempts, forced cadence, waves, blocked work (PreFlect 3.3, A.1)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.agent import Drive, Script, World, broken
from tests.support.replies import answer, ask_replan, call, finish, plan, sub


def chain(length: int, start: int = 1) -> list[dict[str, Any]]:
    """Subtasks s1 <- s2 <- ..., each one call."""
    return [sub(f"s{n}", [f"s{n - 1}"] if n > 1 else []) for n in range(start, length + 1)]


def replans(out: Any) -> list[tuple[int, bool]]:
    """Step and whether forced, of each re-plan."""
    return [(item["n"], item["forced"]) for item in out.state.get("replans", [])]


async def test_three_failures_of_a_subtask_lead_to_a_new_plan_that_knows_the_errors(drive: Drive) -> None:
    world = World({"1": [broken("lock one")], "2": [broken("lock two")], "3": [broken("lock three")]})
    script = Script(plans=[plan(sub("a")), plan(sub("b"))], moves={"a": [call("1"), call("2"), call("3")]})
    out = await drive(script, world)
    assert world.calls == ["1", "2", "3", "b"]
    prompt = out.asked("Plan")[1].text
    assert all(error in prompt for error in ("lock one", "lock two", "lock three"))
    assert "a failed 3 times" in out.state["replans"][0]["reason"]
    assert out.status == "answered"


async def test_without_replanning_the_subtask_fails_what_needs_it_is_blocked_and_the_rest_goes_on(
    drive: Drive,
) -> None:
    world = World({key: [broken("locked")] for key in ("1", "2", "3")})
    script = Script(
        plans=[plan(sub("a"), sub("b", ["a"]), sub("c", ["b"]), sub("d"))],
        moves={"a": [call("1"), call("2"), call("3")], "d": [call("d", finishes=False), call("d")]},
    )
    out = await drive(script, world, replanning=False, max_rounds=1)
    assert out.subtasks == {"a": "failed", "b": "blocked", "c": "blocked", "d": "finished"}
    assert out.status == "best_effort", "the score passed, but work is missing"
    assert out.kinds.count("Plan") == 1
    for seen in out.asked("ToolChoice"):
        assert "replan" not in seen.schema["properties"]["action"]["enum"]
        assert "reason" not in seen.schema["properties"]
        assert "replan" not in seen.text
    last = out.asked("AnswerDraft")[0].text
    assert "a [failed]" in last
    assert "c [blocked]" in last


async def test_without_replanning_a_replan_in_a_reply_is_sent_back(drive: Drive) -> None:
    out = await drive(Script(moves={"a": [ask_replan(), call("a")]}), replanning=False)
    assert "action must be call or finish" in out.asked("ToolChoice")[1].last


@pytest.mark.parametrize("allowed", [0, 2])
async def test_replans_are_bounded_and_a_subtask_that_keeps_asking_fails(drive: Drive, allowed: int) -> None:
    script = Script(plans=lambda seen: plan(sub("a")), moves={"a": [ask_replan()]})
    out = await drive(script, max_replans=allowed, max_rounds=1)
    assert len(replans(out)) == allowed
    assert out.subtasks == {"a": "failed"}
    assert len(out.steps) <= 3
    assert out.status == "best_effort"


async def test_forced_replans_come_at_6_and_12(drive: Drive) -> None:
    plans = [plan(*chain(15)), plan(*chain(15, 7)), plan(*chain(15, 13))]
    out = await drive(Script(plans=plans))
    assert replans(out) == [(6, True), (12, True)]
    assert out.world.calls == [f"s{n}" for n in range(1, 16)]
    assert "a new plan was due by call 6" in out.asked("Plan")[1].text


async def test_a_plan_made_between_makes_a_forced_one_needless(drive: Drive) -> None:
    out = await drive(
        Script(
            plans=[plan(*chain(15)), plan(*chain(15, 3)), plan(*chain(15, 8))],
            moves={"s3": [ask_replan(), call("s3")], "s8": [ask_replan(), call("s8")]},
        )
    )
    assert [forced for _, forced in replans(out)] == [False, False]
    assert [n for n, _ in replans(out)] == [3, 9]


async def test_no_forced_replan_when_nothing_is_unfinished(drive: Drive) -> None:
    out = await drive(Script(plans=[plan(*chain(6))]))
    assert replans(out) == []
    assert out.kinds.count("Plan") == 1


@pytest.mark.parametrize(("due", "expected"), [((), []), ((2,), [2]), ((4, 2), [2, 4]), ((3, 3), [3])])
async def test_forced_replans_follow_the_setting(
    drive: Drive, due: tuple[int, ...], expected: list[int]
) -> None:
    out = await drive(Script(plans=lambda seen: plan(*chain(5))), forced_replans=due)
    assert [n for n, _ in replans(out)] == expected
    assert out.world.calls == [f"s{n}" for n in range(1, 6)], "finished work restated stays finished"


async def test_a_wave_that_jumps_over_6_forces_at_its_end(drive: Drive) -> None:
    wide = [sub(f"w{n}") for n in range(8)] + [sub("last", [f"w{n}" for n in range(8)])]
    out = await drive(Script(plans=lambda seen: plan(*wide)), max_parallel=4)
    assert replans(out) == [(8, True)]


async def test_each_window_gets_a_plan_of_its_own_also_when_a_wave_ends_both(drive: Drive) -> None:
    wide = [sub(f"w{n}") for n in range(14)] + [sub("x", ["w0"]), sub("y", ["x"])]
    out = await drive(Script(plans=lambda seen: plan(*wide)), max_parallel=10)
    assert replans(out) == [(10, True), (15, True)]
    assert [step["wave"] for step in out.steps].count(1) == 10, "waves stay as wide as they may be"
    assert len(out.world.calls) == 16


async def test_one_wave_forces_at_most_one_plan(drive: Drive) -> None:
    wide = [sub(f"w{n}") for n in range(14)] + [sub("x", ["w0"]), sub("y", ["x"])]
    out = await drive(Script(plans=lambda seen: plan(*wide)), max_parallel=14)
    assert replans(out) == [(14, True), (15, True)]
    assert "by call 12" in out.state["replans"][1]["reason"]


async def test_a_rejected_plan_and_the_one_in_its_place_serve_one_window(drive: Drive) -> None:
    wide = [sub(f"w{n}") for n in range(14)] + [sub("x", ["w0"]), sub("y", ["x"])]
    out = await drive(Script(plans=lambda seen: plan(*wide)), max_parallel=14, approve_plan=True)
    for decision in ("approve", "reject", "approve", "approve"):
        await out.reply({"decision": decision, "reason": "not yet"})
    assert replans(out) == [(14, True), (15, True)]


async def test_moves_without_a_call_do_not_bring_a_forced_plan_nearer(drive: Drive) -> None:
    """Five calls, each followed by the result that is handed over: call 6 is step 11."""
    moves = {f"s{n}": [call(f"s{n}", finishes=False), finish(f"result {n}")] for n in range(1, 8)}
    out = await drive(Script(plans=lambda seen: plan(*chain(7)), moves=moves), forced_replans=(6,))
    assert replans(out) == [(11, True)]


async def test_replanning_off_forces_none(drive: Drive) -> None:
    out = await drive(Script(plans=[plan(*chain(13))]), replanning=False)
    assert replans(out) == []
    assert out.kinds.count("Plan") == 1


async def test_a_diamond_runs_in_waves_and_side_by_side(drive: Drive) -> None:
    world = World(seconds=0.1)
    subtasks = [sub("join", ["left", "right"]), sub("left", ["top"]), sub("right", ["top"]), sub("top")]
    out = await drive(Script(plans=[plan(*subtasks)]), world)
    assert [(step["wave"], step["subtask"]) for step in out.steps] == [
        (1, "top"),
        (2, "left"),
        (2, "right"),
        (3, "join"),
    ]
    assert world.widest == 2
    last = out.asked("ToolChoice", "join")[0].text
    assert "value of left" in last
    assert "value of right" in last
    assert "value of top" not in last


async def test_all_ready_subtasks_run_at_once_but_not_more_than_max_parallel(drive: Drive) -> None:
    world = World(seconds=0.1)
    out = await drive(Script(plans=[plan(*(sub(f"w{n}") for n in range(5)))]), world, max_parallel=3)
    assert world.widest == 3
    assert [step["wave"] for step in out.steps] == [1, 1, 1, 2, 2]
    assert [step["n"] for step in out.steps] == [1, 2, 3, 4, 5]


async def test_siblings_of_different_length_stay_aligned(drive: Drive) -> None:
    script = Script(
        plans=[plan(sub("a"), sub("b"))],
        moves={
            "a": [call("a1", finishes=False), call("a2", finishes=False), finish("a")],
            "b": [ask_replan("odd"), call("b")],
        },
    )
    out = await drive(script, replanning=True, max_replans=0)
    assert [(step["wave"], step["subtask"]) for step in out.steps] == [
        (1, "a"),
        (1, "b"),
        (2, "a"),
        (2, "b"),
        (3, "a"),
    ]


async def test_the_decision_and_its_reason_are_recorded(drive: Drive) -> None:
    out = await drive(Script(answers=[answer(used=[1])]))
    assert out.state["decision"] == {"to": "answer", "reason": "no subtask is left", "n": 1}
    assert out.state["dispatch"] == []
    assert out.state["proposals"] == {}


async def test_statuses_are_a_channel_and_the_answer_holds_them_in_the_plan(drive: Drive) -> None:
    out = await drive(Script(plans=[plan(sub("a"), sub("b", ["a"]))]), approve_plan=True)
    (asked,) = await out.waiting()
    assert [item["status"] for item in asked["plan"]["subtasks"]] == ["pending", "pending"]
    assert not any("status" in item for item in out.state["plan"]["subtasks"]), (
        "each wave would write it whole"
    )
    await out.reply({"decision": "approve"})
    assert out.state["statuses"] == {"a": "finished", "b": "finished"}
    assert [item["status"] for item in out.state["plan"]["subtasks"]] == ["finished", "finished"]
