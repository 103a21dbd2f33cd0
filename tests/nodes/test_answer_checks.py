"""An answer's checks, and the one subtask for what they find undone (auto and low)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.agent import Drive, Driven, Script, World, broken
from tests.support.replies import INVALID, answer, ask_replan, call, check, checked, diagnosis, plan, sub

UNMET = check("S1", "no", "nobody looked whether the order was cancelled")
SIGNED = "Add the invoices, unless the order was cancelled."


async def run(drive: Drive, *answers: Any, task: str = "the task", **more: Any) -> Driven:
    script = Script(plans=[plan(sub("a"))], moves=more.pop("moves", {}), answers=list(answers))
    out: Driven = await drive(script, more.pop("world", None), task=task, effort="auto", **more)
    return out


async def test_an_answer_whose_checks_are_all_met_is_answered_in_one_call(drive: Drive) -> None:
    out = await run(drive, checked("42", check("S1"), check("the unit")), task=SIGNED)
    assert out.kinds.count("AnswerDraft") == 1
    assert (out.status, out.state["answer"]) == ("answered", "42")
    assert [item["about"] for item in out.state["draft"]["checks"]] == ["S1", "the unit"]
    assert out.state["draft"]["evaluation"] == ""
    assert set(out.asked("AnswerDraft")[0].schema["properties"]) == {"checks", "answer", "work", "used_steps"}


async def test_what_a_check_finds_undone_becomes_one_subtask_and_the_answer_is_written_again(
    drive: Drive,
) -> None:
    out = await run(
        drive,
        checked("42", UNMET, work="Look up whether order 7 was cancelled."),
        answer("40"),
        moves={"mend": [call("order 7")]},
    )
    assert out.kinds == ["Plan", "PlanDiagnosis", "ToolChoice", "AnswerDraft", "ToolChoice", "AnswerDraft"]
    assert (out.status, out.state["answer"]) == ("answered", "40")
    assert out.subtasks == {"a": "finished", "mend": "finished"}
    worker = out.asked("ToolChoice", "mend")[0].text
    assert "Look up whether order 7 was cancelled." in worker
    assert "value of a" in worker, "what was found before"
    assert "value of order 7" in out.asked("AnswerDraft")[1].text
    (record,) = out.state["replans"]
    assert (record["kind"], record["n"], record["task"]) == ("checks", 1, 1)
    assert "S1" in record["reason"]
    assert out.state["plan"]["version"] == out.steps[-1]["plan_version"] == out.steps[0]["plan_version"] + 1
    assert out.state["progress"]["replans"] == 1
    assert out.state["progress"]["round"] == 1


async def test_a_task_is_mended_once_and_then_its_answer_is_scored(drive: Drive) -> None:
    unmet = checked("42", UNMET, work="Look again.")
    out = await run(drive, unmet, answer("42", score=4, mend="never"), checked("43"))
    assert out.kinds.count("AnswerDraft") == 2
    assert out.kinds.count("Plan") == 1
    assert (out.status, list(out.subtasks)) == ("best_effort", ["a", "mend"])
    asked = [set(seen.schema["properties"]) for seen in out.asked("AnswerDraft")]
    assert asked[1] == {"findings", "answer", "used_steps", "defects"}
    assert out.state["draft"]["score"] == 4
    await out.go("and then?")
    assert "work" in out.asked("AnswerDraft")[2].schema["properties"], "each task may be mended"


async def test_an_answer_that_fails_again_begins_a_round_with_every_mechanism(drive: Drive) -> None:
    again = Script(
        plans=[plan(sub("a")), plan(sub("b"), score=4), plan(sub("b"))],
        diagnoses=[
            diagnosis(),
            *(diagnosis("ineffective_tool_selection", subtasks=[sub(key)]) for key in "cd"),
        ],
        answers=[checked("42", UNMET, work="Look again."), answer("41", score=4), answer("40")],
    )
    out = await drive(again, effort="auto", max_reflections=1)
    assert (out.status, out.state["answer"], out.state["progress"]["round"]) == ("answered", "40", 2)
    first, second, third = out.asked("Plan")
    assert ("defects" in first.schema["properties"], "# Long-term memory" in first.text) == (False, False)
    assert ("defects" in second.schema["properties"], "# Long-term memory" in second.text) == (True, True)
    assert "Your own evaluation gave this" in third.last
    assert [item["plan_version"] for item in out.state["plan_reviews"]] == [1, 3, 4]
    assert list(out.subtasks)[-1] == "d"
    assert out.state["plan"]["unresolved"], "one reflection was allowed"


async def test_an_answer_that_fails_again_ends_the_task_if_it_has_one_round(drive: Drive) -> None:
    out = await run(drive, checked("42", UNMET, work="Look again."), answer("41", score=4), max_rounds=1)
    assert (out.status, out.state["progress"]["round"], out.kinds.count("Plan")) == ("best_effort", 1, 1)
    low = await run(
        drive, checked("42", UNMET, work="Look again."), answer("41", score=8), thread="u", answer_threshold=8
    )
    assert (low.status, low.kinds.count("AnswerDraft")) == ("answered", 2)


async def test_an_unmet_check_that_nothing_can_settle_is_named(drive: Drive) -> None:
    out = await run(drive, checked("42, though nobody knows", UNMET, check("the unit")))
    assert out.kinds.count("AnswerDraft") == 1
    assert (out.status, out.state["answer"]) == ("best_effort", "42, though nobody knows")
    assert out.state["draft"]["evaluation"] == ("not met: S1: nobody looked whether the order was cancelled")


async def test_work_without_an_unmet_check_is_none(drive: Drive) -> None:
    out = await run(drive, checked("42", check(), work="Look again."))
    assert (out.status, list(out.subtasks)) == ("answered", ["a"])


async def test_a_spent_budget_leaves_nothing_to_mend_with(drive: Drive) -> None:
    out = await run(drive, checked("42", UNMET, work="Look again."), max_steps=1)
    assert out.kinds.count("AnswerDraft") == 1
    assert (out.status, list(out.subtasks)) == ("budget_exhausted", ["a"])


async def test_what_may_not_be_planned_again_is_not_mended(drive: Drive) -> None:
    for number, switches in enumerate(({"replanning": False}, {"max_replans": 0})):
        out = await run(drive, checked("42", UNMET, work="Look again."), thread=f"t{number}", **switches)
        assert "work" not in out.asked("AnswerDraft")[0].schema["properties"]
        assert (out.status, list(out.subtasks)) == ("best_effort", ["a"])


async def test_an_answer_without_a_plan_is_mended_too(drive: Drive) -> None:
    script = Script(
        plans=[plan()],
        moves={"mend": [call("order 7")]},
        answers=[checked("42", UNMET, work="Look up order 7."), answer("40")],
    )
    out = await drive(script, task=SIGNED, effort="auto")
    assert out.kinds == ["Plan", "AnswerDraft", "ToolChoice", "AnswerDraft"]
    assert (out.status, out.subtasks) == ("answered", {"mend": "finished"})


async def test_work_that_fails_leaves_a_best_effort(drive: Drive) -> None:
    world = World({"order 7": [broken("gone")]})
    moves = {"mend": [call("order 7"), ask_replan()]}
    again = answer("42", score=4, mend="never")
    out = await run(
        drive,
        checked("42", UNMET, work="Look up order 7."),
        again,
        world=world,
        moves=moves,
        max_attempts=1,
        max_replans=1,
    )
    assert (out.status, out.subtasks["mend"]) == ("best_effort", "failed")


async def test_a_second_answer_that_is_none_leaves_the_first(drive: Drive) -> None:
    out = await run(drive, checked("42", UNMET, work="Look again."), INVALID)
    assert (out.status, out.state["answer"]) == ("best_effort", "42")


async def test_the_subtask_takes_an_id_of_its_own(drive: Drive) -> None:
    script = Script(
        plans=[plan(sub("mend"))],
        answers=[checked("42", UNMET, work="Look again."), answer("42")],
    )
    out = await drive(script, effort="auto")
    assert list(out.subtasks) == ["mend", "mend_2"]


@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_whoever_approves_plans_approves_what_is_added(drive: Drive, decision: str) -> None:
    out = await run(
        drive,
        checked("42", UNMET, work="Look up order 7."),
        answer("40"),
        approve_plan=True,
    )
    await out.reply({"decision": "approve"})
    (asked,) = await out.waiting()
    assert [item["id"] for item in asked["plan"]["subtasks"]] == ["a", "mend"]
    assert out.kinds.count("AnswerDraft") == 1
    if decision == "approve":
        await out.reply({"decision": "approve"})
        assert (out.status, out.state["answer"]) == ("answered", "40")
        return
    await out.reply({"decision": "reject", "reason": "leave it"})
    assert out.kinds.count("Plan") == 2
    assert "leave it" in out.asked("Plan")[1].text


async def test_signs_that_no_check_is_about_are_asked_for_once(drive: Drive) -> None:
    out = await run(drive, checked("42", check("the sum")), task=SIGNED)
    second = out.asked("AnswerDraft")[1]
    assert "no check is about S1" in second.last
    assert out.status == "answered"
    out = await run(drive, checked("42", check("S1: cancelled orders")), task=SIGNED, thread="u")
    assert out.kinds.count("AnswerDraft") == 1


@pytest.mark.parametrize(
    ("effort", "switch", "checks"),
    [
        ("auto", None, True),
        ("low", None, True),
        ("auto", False, True),
        ("auto", True, False),
        ("auto", "unchecked", False),
        ("paper", None, False),
        ("paper", False, False),
    ],
)
async def test_checks_take_the_place_of_findings_and_defects(
    drive: Drive, effort: str, switch: bool | str | None, checks: bool
) -> None:
    switches: Any = {"answer_checks": False} if switch == "unchecked" else {"answer_intra": switch}
    out = await drive(Script(answers=[answer(score=9)]), effort=effort, **switches)
    fields = set(out.asked("AnswerDraft")[0].schema["properties"])
    scored = {"defects"} if not checks and switch is not False else set()
    assert fields == {"answer", "used_steps", *({"checks", "work"} if checks else {"findings", *scored})}
    assert out.state["draft"]["score"] == (9 if scored else 0)


async def test_a_scored_answer_in_auto_begins_a_round_for_facts(drive: Drive) -> None:
    script = Script(plans=[plan(sub("a")), plan(sub("b"))], answers=[answer("one", score=4), answer("two")])
    out = await drive(script, effort="auto", answer_intra=True)
    assert out.kinds.count("Plan") == 2
    assert (out.state["answer"], out.state["progress"]["round"]) == ("two", 2)


async def test_the_writers_own_part_is_short(drive: Drive) -> None:
    text = (await run(drive, checked())).asked("AnswerDraft")[0].text
    assert text.index("# The steps") - text.index("# Your role") < 1_200


async def test_a_diagnosed_plan_is_not_diagnosed_again_for_what_is_added(drive: Drive) -> None:
    script = Script(
        diagnoses=[diagnosis()],
        answers=[checked("42", UNMET, work="Look again."), answer("42")],
    )
    out = await drive(script, effort="auto", forced_replans=(1,))
    assert out.kinds.count("PlanDiagnosis") == 1
    assert out.kinds.count("Plan") == 1
