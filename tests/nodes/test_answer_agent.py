"""The answer agent: threshold, rounds, long-term memory, sources, status (MIRROR 3.4, 3.5)."""

from __future__ import annotations

from typing import Any

import pytest

from forethought.nodes.answer_agent import _status
from tests.support.agent import Drive, Script, World, broken
from tests.support.replies import INVALID, Json, answer, call, defect, diagnosis, finish, plan, sub

LOW = answer("weak", score=4, evaluation="the unit is missing")


@pytest.mark.parametrize(("score", "rounds"), [(8, 2), (9, 1), (10, 1)])
async def test_a_score_equal_to_the_threshold_passes(drive: Drive, score: int, rounds: int) -> None:
    plans = [plan(sub("a")), plan(sub("b"))]
    script = Script(plans=plans, answers=[answer("one", score=score), answer("two")])
    out = await drive(script, answer_threshold=9)
    assert out.state["progress"]["round"] == rounds
    assert out.status == "answered"
    assert out.state["answer"] == ("one" if rounds == 1 else "two")


async def test_a_low_answer_goes_to_long_term_memory_and_the_next_planner_reads_all_of_it(
    drive: Drive,
) -> None:
    world = World({"x": [broken("the door is locked")]})
    script = Script(
        plans=[plan(sub("a", description="read the cellar book")), plan(sub("b"))],
        moves={"a": [call("x"), call("y")]},
        answers=[LOW, answer("strong")],
    )
    out = await drive(script, world)
    first, second = out.asked("Plan")
    assert "Long-term memory" not in first.text
    wanted = (
        "Long-term memory",
        "read the cellar book",
        "the door is locked",
        "weak",
        "the unit is missing",
        "4 of 10",
    )
    assert all(text in second.text for text in wanted)
    record = out.state["long_term"]["1"]
    assert record["steps"] == [1, 2]
    assert "the unit is missing" in record["reflection"]
    assert out.subtasks == {"a": "finished", "b": "finished"}, "results are kept"
    assert "value of y" in out.asked("AnswerDraft")[1].text
    assert [step["round"] for step in out.steps] == [1, 1, 2]


async def test_planning_errors_of_the_round_are_remembered(drive: Drive) -> None:
    kind = "shallow_content_verification"
    script = Script(diagnoses=[diagnosis(kind)], revisions=[INVALID], answers=[LOW, answer()])
    out = await drive(script)
    assert f"Planning error found: {kind}" in out.asked("Plan")[1].text


async def test_rounds_end_at_the_cap_with_the_best_draft(drive: Drive) -> None:
    scores = iter([4, 7, 3])
    script = Script(
        plans=[plan(sub("a")), plan(sub("b")), plan(sub("c"))],
        answers=lambda seen: answer(f"scored {(score := next(scores))}", score=score),
    )
    out = await drive(script, max_rounds=3)
    assert out.kinds.count("AnswerDraft") == 3
    assert out.status == "best_effort"
    assert out.state["answer"] == "scored 7" == out.state["messages"][-1].text
    assert out.state["draft"]["score"] == 7


async def test_no_answer_is_asked_for_after_a_round_without_a_step(drive: Drive) -> None:
    drafts = iter(["one", "two", "three", "four", "five"])
    script = Script(plans=[plan(sub("a")), plan()], answers=lambda seen: answer(next(drafts), score=4))
    out = await drive(script, max_rounds=5)
    assert out.kinds.count("AnswerDraft") == 1
    assert (out.status, out.state["answer"]) == ("best_effort", "one")


async def test_an_answer_is_asked_for_again_where_a_result_was_discarded(drive: Drive) -> None:
    plans = [plan(sub("a"), sub("b")), plan(discard=["a"]), INVALID]
    drafts = iter(["one", "two", "three"])
    out = await drive(Script(plans=plans, answers=lambda seen: answer(next(drafts), score=4)))
    first, second = out.asked("AnswerDraft")
    assert "was discarded by a later plan" in second.text
    assert first.text != second.text
    assert (out.status, out.state["answer"]) == ("best_effort", "two")


async def test_a_first_round_without_a_step_is_remembered_without_nonsense(drive: Drive) -> None:
    script = Script(plans=[plan(sub("a")), plan(sub("b"))], answers=[LOW, answer()])
    out = await drive(script, max_steps=1, max_rounds=3)
    assert not any("steps 1 to 0" in seen.text for seen in out.asked("Plan"))


async def test_an_answer_is_mended_in_place_where_the_steps_hold_what_it_takes(drive: Drive) -> None:
    script = Script(
        answers=[answer("12", score=4, evaluation="the unit is missing", mend="now"), answer("12 t")]
    )
    out = await drive(script)
    first, second = out.asked("AnswerDraft")
    assert second.messages[: len(first.messages)] == first.messages
    assert "12" in second.messages[-2][1], "its own draft"
    assert "the unit is missing" in second.last
    assert "4 of 10" in second.last
    assert (out.status, out.state["answer"]) == ("answered", "12 t")
    assert out.kinds.count("Plan") == 1


@pytest.mark.parametrize("mend", ["now", "facts", "never"])
async def test_no_two_answer_prompts_of_a_task_are_the_same(drive: Drive, mend: str) -> None:
    drafts = (answer(f"draft {n}", score=4, mend=mend) for n in range(99))
    script = Script(plans=[plan(sub("a")), plan()], answers=lambda seen: next(drafts))
    out = await drive(script)
    prompts = [str(seen.messages) for seen in out.asked("AnswerDraft")]
    assert len(set(prompts)) == len(prompts)
    assert out.status == "best_effort"
    assert out.kinds.count("AnswerDraft") == {"now": 3, "facts": 1, "never": 1}[mend]
    assert out.kinds.count("Plan") == {"now": 1, "facts": 2, "never": 1}[mend]


async def test_an_answer_mended_in_vain_is_returned_at_its_best(drive: Drive) -> None:
    drafts = [answer(text, score=score, mend="now") for text, score in (("one", 4), ("two", 7), ("three", 3))]
    out = await drive(Script(answers=drafts), max_revisions=2)
    assert out.kinds.count("AnswerDraft") == 3
    assert (out.status, out.state["answer"], out.state["progress"]["round"]) == ("best_effort", "two", 1)


@pytest.mark.parametrize("remembered", [True, False])
async def test_no_two_answer_prompts_of_long_tasks_are_the_same(drive: Drive, remembered: bool) -> None:
    plans = [plan(sub(key)) for key in "abc"]
    script = Script(plans=plans, answers=[answer("the same", score=4)])
    out = await drive(script, long_term_memory=remembered, max_rounds=8)
    prompts = [str(seen.messages) for seen in out.asked("AnswerDraft")]
    assert len(prompts) > 2
    assert len(set(prompts)) == len(prompts)


@pytest.mark.parametrize("remembered", [True, False])
async def test_the_next_rounds_answer_agent_sees_what_was_wrong(drive: Drive, remembered: bool) -> None:
    script = Script(plans=[plan(sub("a")), plan(sub("b"))], answers=[LOW, answer("strong")])
    out = await drive(script, long_term_memory=remembered)
    first, second = out.asked("AnswerDraft")
    assert "Your answer in the last round" not in first.text
    assert ("weak\n\nwrong (mend: facts): the unit is missing" in second.text) is remembered


async def test_what_takes_facts_is_planned_for_before_the_rest_is_mended(drive: Drive) -> None:
    found = [defect("it is unclear", "risky", mend="now"), defect("no year was read", "wrong", mend="facts")]
    plans = [plan(sub("a")), plan(sub("b"))]
    out = await drive(Script(plans=plans, answers=[{**answer(), "defects": found}, answer("done")]))
    assert out.kinds.count("AnswerDraft") == 2
    assert "no year was read" in out.asked("Plan")[1].text
    assert out.state["answer"] == "done"


async def test_facts_that_a_mended_answer_turns_out_to_lack_are_planned_for(drive: Drive) -> None:
    drafts = [answer("one", score=4, mend="now"), answer("two", score=5, mend="facts"), answer("three")]
    out = await drive(Script(plans=[plan(sub("a")), plan(sub("b"))], answers=drafts))
    assert out.kinds.count("Plan") == 2
    assert "two" in out.asked("Plan")[1].text
    assert (out.status, out.state["answer"]) == ("answered", "three")


async def test_round_reflection_is_exactly_one_call_a_failed_round_and_is_read(drive: Drive) -> None:
    script = Script(
        plans=[plan(sub("a")), plan(sub("b")), plan(sub("c"))],
        answers=[LOW, LOW, answer()],
        reflections=[{"reflection": "the first thought"}, {"reflection": "the second thought"}],
    )
    out = await drive(script, round_reflection=True)
    assert out.kinds.count("RoundReflection") == 2
    assert "the first thought" in out.asked("Plan")[1].text
    assert "the second thought" in out.asked("Plan")[2].text
    assert "value of b" not in out.asked("RoundReflection")[0].text
    assert out.state["usage"]["retrospective"]["calls"] == 2
    plain = await drive(Script(answers=[answer()]), round_reflection=True, task="another")
    assert "RoundReflection" not in plain.kinds


@pytest.mark.parametrize("wrong", [1, 3, -1])
async def test_a_step_that_failed_or_does_not_exist_is_no_source(drive: Drive, wrong: int) -> None:
    script = Script(moves={"a": [call("x"), call("y")]}, answers=[answer("42", used=[wrong, 2])])
    out = await drive(script, World({"x": [broken()]}))
    assert (out.kinds.count("AnswerDraft"), out.state["answer"]) == (1, "42")
    assert [source["n"] for source in out.state["sources"]] == out.state["draft"]["used_steps"] == [2]
    assert out.status == "answered"


async def test_sources_name_the_steps_the_answer_rests_on(drive: Drive) -> None:
    script = Script(
        moves={"a": [call("x", finishes=False), finish("made of it")]}, answers=[answer(used=[2, 1, 2])]
    )
    out = await drive(script)
    assert out.state["sources"] == [
        {"n": 1, "subtask": "a", "tool": "lookup", "origin": "tool:lookup"},
        {"n": 2, "subtask": "a", "tool": None, "origin": "tool:lookup"},
    ]


@pytest.mark.parametrize("bad", [answer(""), answer("   "), INVALID])
async def test_no_valid_answer_fails_openly(drive: Drive, bad: Json) -> None:
    out = await drive(Script(answers=[bad]))
    assert out.kinds.count("AnswerDraft") == 3
    assert out.status == "failed"
    assert out.state["answer"] == ""
    assert out.state["messages"][-1].type == "ai"
    assert out.state["results"], "the work so far is saved"


async def test_an_invalid_answer_in_a_later_round_falls_back_on_the_draft(drive: Drive) -> None:
    out = await drive(Script(answers=[LOW, INVALID], plans=[plan(sub("a")), plan(sub("b"))]))
    assert (out.status, out.state["answer"]) == ("best_effort", "weak")
    assert out.state["messages"][-1].text == "weak"


async def test_without_intra_reflection_the_first_answer_stands(drive: Drive) -> None:
    out = await drive(Script(answers=[answer(score=1)]), answer_intra=False)
    (seen,) = out.asked("AnswerDraft")
    assert "defects" not in seen.schema["properties"]
    assert out.status == "answered"
    assert out.state["progress"]["round"] == 1


async def test_answered_needs_all_of_the_final_plan(drive: Drive) -> None:
    world = World({"x": [broken()], "y": [broken()], "z": [broken()]})
    moves = {"a": [call("x"), call("y"), call("z")]}
    out = await drive(Script(moves=moves), world, replanning=False)
    assert (out.status, out.subtasks) == ("best_effort", {"a": "failed"})
    assert "a [failed]" in out.asked("AnswerDraft")[0].text


async def test_the_answers_form_is_told_to_those_who_write(drive: Drive) -> None:
    out = await drive(Script(), answer_format="a number only")
    assert "a number only" in out.asked("AnswerDraft")[0].text
    assert "a number only" in out.asked("Plan")[0].text


@pytest.mark.parametrize(
    ("statuses", "stopped", "passed", "wanted"),
    [
        (["finished"], "", True, "answered"),
        (["finished"], "steps", True, "answered"),
        ([], "", True, "answered"),
        (["finished"], "", False, "best_effort"),
        (["finished", "failed"], "", True, "best_effort"),
        (["finished", "blocked"], "", True, "best_effort"),
        (["finished", "pending"], "steps", True, "budget_exhausted"),
        (["failed", "pending"], "tokens", False, "budget_exhausted"),
        ([], "tokens", True, "budget_exhausted"),
    ],
)
def test_the_status_tells_the_truth(statuses: list[Any], stopped: str, passed: bool, wanted: str) -> None:
    state: Any = {
        "plan": {"subtasks": [{"id": str(n), "status": status} for n, status in enumerate(statuses)]},
        "progress": {"stopped": stopped, "round": 1},
    }
    assert _status(state, passed=passed) == wanted


async def test_a_draft_that_stands_in_for_an_invalid_answer_does_not_hide_a_spent_budget(
    drive: Drive,
) -> None:
    plans = [plan(sub("a")), plan(sub("b"), sub("c", ["b"]))]
    out = await drive(Script(plans=plans, answers=[answer("draft", score=3), INVALID]), max_steps=2)
    assert out.state["answer"] == "draft"
    assert out.subtasks["c"] == "pending"
    assert out.status == "budget_exhausted"
