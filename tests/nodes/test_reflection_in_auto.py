"""Diagnosis where it can change something: sign by sign, in one turn, after the first readings."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from forethought.knowledge.planning_errors import load_planning_errors
from tests.support.agent import Drive, Driven, Script, World, broken
from tests.support.replies import ask_replan, plan, sub

KIND = load_planning_errors(None)[1].name
TASK = "Add the invoices, unless the order was cancelled."
UNSIGNED = "Add the invoices."


def read(key: str) -> Any:
    """A subtask that begins with a look-up."""
    return sub(key, call={"tool": "lookup", "arguments": {"key": key, "note": None}})


def found(*subtasks: Any, errors: int = 0, bears: str = "no", handled_by: str = "", sign: str = "S1") -> Any:
    """A PlanDiagnosis in one turn."""
    error = {"evidence": "the plan", "risk": "a wrong sum", "error_type": KIND}
    verdict = {"sign": sign, "bears": bears, "handled_by": handled_by}
    return {"signs": [verdict], "errors": [error] * errors, "subtasks": list(subtasks)}


PLAN = plan(sub("a"), sub("b", ["a"]))


async def run(drive: Drive, *diagnoses: Any, task: Any = TASK, first: Any = PLAN, **more: Any) -> Driven:
    script = Script(plans=[first], diagnoses=list(diagnoses))
    out: Driven = await drive(script, task=task, effort="auto", **more)
    return out


async def test_a_sign_that_a_subtask_looks_after_is_no_error(drive: Drive) -> None:
    out = await run(drive, found(bears="cancelled ones do not count", handled_by="b"))
    assert out.kinds.count("PlanDiagnosis") == 1
    (review,) = out.state["plan_reviews"]
    assert review["errors"] == []
    assert review["signs"][0]["handled_by"] == "b"


@pytest.mark.parametrize("bears", ["no", "No.", "no: it is about 2019", "none", ""])
async def test_a_sign_that_does_not_bear_is_no_error(drive: Drive, bears: str) -> None:
    out = await run(drive, found(bears=bears))
    assert out.state["plan_reviews"][0]["errors"] == []


@pytest.mark.parametrize("handled_by", ["", "nobody"])
async def test_a_sign_that_nothing_looks_after_is_an_error_and_needs_a_revision(
    drive: Drive, handled_by: str
) -> None:
    missed = {"bears": "No invoice of a cancelled order counts", "handled_by": handled_by}
    mended = (sub("a"), sub("check", ["a"]), sub("b", ["check"]))
    out = await run(
        drive, found(**missed), found(*mended, **missed), found(handled_by="check", bears="it does")
    )
    asked = out.asked("PlanDiagnosis")
    assert "no subtask looks after S1" in asked[1].last
    first, second = out.state["plan_reviews"]
    assert [error["error_type"] for error in first["errors"]] == ["insufficient_constraint_verification"]
    assert "unless the order was cancelled" in first["errors"][0]["evidence"]
    assert (first["revised"], second["errors"]) == (True, [])
    assert list(out.subtasks) == ["a", "check", "b"]
    assert "PlanRevision" not in out.kinds


async def test_a_sign_that_an_error_names_is_not_counted_twice(drive: Drive) -> None:
    named = found(sub("c"), errors=1, bears="it counts")
    named["errors"][0]["evidence"] = "S1: cancelled orders"
    out = await run(drive, named, found())
    assert len(out.state["plan_reviews"][0]["errors"]) == 1


async def test_without_signs_none_is_asked_for(drive: Drive) -> None:
    out = await run(drive, found(), task=UNSIGNED, prospective_reflection=True)
    (seen,) = out.asked("PlanDiagnosis")
    assert list(seen.schema["properties"]) == ["errors", "subtasks"]


async def test_a_revision_in_other_words_is_not_diagnosed_again(drive: Drive) -> None:
    words = (sub("a", description="leave out what was cancelled"), sub("b", ["a"]))
    out = await run(drive, found(*words, errors=1))
    assert out.kinds.count("PlanDiagnosis") == 1
    assert "the revision changed only wording" in [item["why"] for item in out.state["skipped"]]
    assert out.state["plan"]["subtasks"][0]["description"] == "leave out what was cancelled"


async def test_a_plan_is_diagnosed_at_most_once_more_and_its_last_revision_goes_on(drive: Drive) -> None:
    out = await run(drive, found(sub("c"), errors=1), found(sub("d"), sub("e"), errors=1))
    assert out.kinds.count("PlanDiagnosis") == 2
    assert list(out.subtasks) == ["d", "e"]
    assert out.state["plan"]["unresolved"]


async def test_errors_without_a_revised_plan_are_sent_back(drive: Drive) -> None:
    out = await run(drive, found(errors=1), found(sub("c"), errors=1), found())
    assert "subtasks` is empty" in out.asked("PlanDiagnosis")[1].last
    assert list(out.subtasks) == ["c"]


LONG = "\n".join(f"line {n} of a long report on invoices and orders" for n in range(3_000))
FILE = {"name": "report.txt", "data": base64.b64encode(LONG.encode()).decode()}
SMALL = {"name": "costs.txt", "data": base64.b64encode(b"A 1, B 2").decode()}
READS = plan(read("a"), read("b"), sub("sum", ["a", "b"]))


async def test_a_plan_that_begins_with_readings_is_examined_after_them(drive: Drive) -> None:
    given = {"task": UNSIGNED, "files": [FILE]}
    out = await run(drive, found(), task=given, first=READS, context_tokens=16_000)
    assert out.kinds == ["Plan", "PlanDiagnosis", "ToolChoice", "AnswerDraft"]
    assert "value of a" in out.asked("PlanDiagnosis")[0].text
    assert out.world.calls == ["a", "b", "sum"]
    assert out.status == "answered"


async def test_what_the_diagnosis_finds_then_changes_what_remains(drive: Drive) -> None:
    given = {"task": UNSIGNED, "files": [FILE]}
    better = found(sub("check", ["a"]), sub("sum", ["check", "b"]), errors=1)
    out = await run(drive, better, found(), task=given, first=READS, context_tokens=16_000)
    assert out.world.calls == ["a", "b", "check", "sum"]


@pytest.mark.parametrize(
    ("first", "given"),
    [
        (READS, {"task": TASK, "files": [SMALL]}),
        (plan(sub("a"), sub("b", ["a"])), {"task": UNSIGNED, "files": [FILE]}),
        (plan(read("a"), read("b")), {"task": TASK, "files": [FILE]}),
    ],
    ids=["all files were seen", "no reading comes first", "nothing is built on them"],
)
async def test_other_plans_are_examined_at_once(drive: Drive, first: Any, given: Any) -> None:
    out = await run(drive, found(), task=given, first=first, context_tokens=16_000)
    assert out.kinds[:2] == ["Plan", "PlanDiagnosis"]
    assert "value of a" not in out.asked("PlanDiagnosis")[0].text


async def test_readings_that_fail_do_not_hold_the_examination_up(drive: Drive) -> None:
    given = {"task": UNSIGNED, "files": [FILE]}
    first = plan(read("a"), sub("c"), sub("sum", ["c"]))
    out = await run(
        drive, found(), task=given, first=first, context_tokens=16_000, max_attempts=1, replanning=False,
        world=World({"a": [broken()]}), max_rounds=1,
    )  # fmt: skip
    assert "PlanDiagnosis" in out.kinds
    assert out.subtasks == {"a": "failed", "c": "finished", "sum": "finished"}


async def test_a_plan_is_approved_before_its_readings_and_again_only_if_it_was_revised(drive: Drive) -> None:
    given = {"task": UNSIGNED, "files": [FILE]}
    switches: Any = {"context_tokens": 16_000, "approve_plan": True, "task": given, "first": READS}
    same = await run(drive, found(), **switches)
    assert (await same.waiting())[0]["kind"] == "plan"
    assert same.world.calls == []
    await same.reply({"decision": "approve"})
    assert same.status == "answered"
    changed = await run(drive, found(sub("other", ["a"]), errors=1), found(), thread="u", **switches)
    await changed.reply({"decision": "approve"})
    assert list(changed.world.calls) == ["a", "b"]
    assert [item["id"] for item in (await changed.waiting())[0]["plan"]["subtasks"]] == ["a", "b", "other"]
    await changed.reply({"decision": "approve"})
    assert changed.status == "answered"


async def test_every_new_plan_is_examined(drive: Drive) -> None:
    script = Script(
        plans=[PLAN, plan(sub("c", ["a"]), sub("d", ["c"]))],
        moves={"b": [ask_replan()]},
        diagnoses=[found()],
    )
    out = await drive(script, task=TASK, effort="auto")
    assert out.kinds.count("PlanDiagnosis") == 2
