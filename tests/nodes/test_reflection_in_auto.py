"""Diagnosis with effort auto: in one turn, beside the first readings."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from forethought.knowledge.planning_errors import load_planning_errors
from forethought.models.types import ModelError
from forethought.tools.base import Observation
from tests.support.agent import Drive, Driven, Script, World, broken
from tests.support.model_server import Fault
from tests.support.replies import ask_replan, plan, sub

KIND = load_planning_errors(None)[1].name
TASK = "Add the invoices, unless the order was cancelled."
UNSIGNED = "Add the invoices."


def read(key: str) -> Any:
    """A subtask that begins with a look-up."""
    return sub(key, call={"tool": "lookup", "arguments": {"key": key, "note": None}})


def found(*subtasks: Any, errors: int = 0) -> Any:
    """A PlanDiagnosis in one turn."""
    error = {"evidence": "the plan", "risk": "a wrong sum", "error_type": KIND}
    return {"errors": [error] * errors, "subtasks": list(subtasks)}


PLAN = plan(sub("a"), sub("b", ["a"]))


async def run(drive: Drive, *diagnoses: Any, task: Any = TASK, first: Any = PLAN, **more: Any) -> Driven:
    script = Script(plans=[first], diagnoses=list(diagnoses))
    out: Driven = await drive(script, task=task, effort="auto", **more)
    return out


async def test_a_diagnosis_holds_errors_and_the_revised_plan(drive: Drive) -> None:
    out = await run(drive, found(sub("c"), errors=1), task=TASK)
    (seen,) = out.asked("PlanDiagnosis")
    assert list(seen.schema["properties"]) == ["errors", "subtasks"]
    assert list(out.subtasks) == ["c"]
    assert not out.state["plan"]["unresolved"]


async def test_a_revision_is_not_diagnosed_before_an_answer_has_failed(drive: Drive) -> None:
    out = await run(drive, found(sub("c"), errors=1), found(sub("d"), errors=1))
    assert out.kinds.count("PlanDiagnosis") == 1
    assert "revision_of_examined" in [item["rule"] for item in out.state["skipped"]]


async def test_with_its_switch_on_revisions_are_diagnosed_as_often_as_is_allowed(drive: Drive) -> None:
    out = await run(
        drive, *(found(sub(key), errors=1) for key in "cdef"), prospective_reflection=True, max_reflections=2
    )
    assert out.kinds.count("PlanDiagnosis") == 3
    assert list(out.subtasks) == ["e"]
    assert out.state["plan"]["unresolved"]


async def test_errors_without_a_revised_plan_are_sent_back(drive: Drive) -> None:
    out = await run(drive, found(errors=1), found(sub("c"), errors=1), found())
    assert "subtasks` is empty" in out.asked("PlanDiagnosis")[1].last
    assert list(out.subtasks) == ["c"]


LONG = "\n".join(f"line {n} of a long report on invoices and orders" for n in range(3_000))
FILE = {"name": "report.txt", "data": base64.b64encode(LONG.encode()).decode()}
SMALL_WINDOW: Any = {"context_tokens": 16_000, "reply_style": "full"}
READS = plan(read("a"), read("b"), sub("sum", ["a", "b"]))


async def test_a_plan_is_examined_while_the_readings_that_it_begins_with_are_made(drive: Drive) -> None:
    world = World(seconds=0.2)
    during: list[int] = []

    def diagnose(seen: Any) -> Any:
        during.append(world.running)
        return found()

    script = Script(plans=[READS], diagnoses=diagnose)
    out = await drive(script, world, task={"task": UNSIGNED, "files": [FILE]}, effort="auto", **SMALL_WINDOW)
    assert out.kinds == ["Plan", "PlanDiagnosis", "ToolChoice", "AnswerDraft"]
    assert during == [2]
    assert world.calls == ["a", "b", "sum"]
    assert out.status == "answered"


async def test_an_error_changes_what_builds_on_the_readings_and_their_results_stay(drive: Drive) -> None:
    better = found(sub("check", ["a"]), sub("sum", ["check", "b"]), errors=1)
    out = await run(drive, better, first=READS)
    assert out.world.calls == ["a", "b", "check", "sum"]
    assert [step["plan_version"] for step in out.steps] == [1, 1, 2, 2]
    assert set(out.subtasks.values()) == {"finished"}


async def test_a_changed_reading_gets_an_id_of_its_own_while_the_old_one_is_made(drive: Drive) -> None:
    other = sub("a", description="read the other edition")
    out = await run(drive, found(other, sub("sum", ["a", "b"]), errors=1), first=READS)
    assert out.subtasks == {"b": "finished", "a_2": "finished", "sum": "finished"}
    assert out.state["plan"]["subtasks"][-1]["depends_on"] == ["a_2", "b"]


async def test_a_reading_that_the_revision_drops_is_not_gone_on_with(drive: Drive) -> None:
    world = World({"a": [Observation("the beginning", partial=True)], "b": [broken()]})
    better = found(read("c"), sub("sum", ["c"]), errors=1)
    out = await run(drive, better, first=READS, world=world)
    assert out.world.calls == ["a", "b", "c", "sum"]
    assert list(out.subtasks) == ["c", "sum"]
    assert out.status == "answered"


async def test_a_reading_that_the_revision_builds_on_is_gone_on_with(drive: Drive) -> None:
    world = World({"a": [Observation("the beginning", partial=True), "the end"]})
    out = await run(drive, found(sub("sum", ["a"]), errors=1), first=READS, world=world)
    assert out.world.calls == ["a", "b", "a", "sum"]
    assert list(out.subtasks) == ["a", "sum"]


@pytest.mark.parametrize(
    ("first", "switches"),
    [
        (plan(sub("a"), sub("b", ["a"])), {}),
        (READS, {"approve_plan": True}),
        (READS, {"effort": "paper"}),
    ],
    ids=["a worker chooses the call", "a person approves it", "effort paper"],
)
async def test_other_plans_are_examined_before_anything_is_done(
    drive: Drive, first: Any, switches: Any
) -> None:
    calls: list[list[str]] = []
    world = World()

    def diagnose(seen: Any) -> Any:
        calls.append([*world.calls])
        return {**found(), "situation": "", "tool_notes": ""}

    script = Script(plans=[first], diagnoses=diagnose)
    await drive(script, world, task=UNSIGNED, **{"effort": "auto", **switches})
    assert calls == [[]]


async def test_a_reading_that_fails_beside_the_examination_is_tried_again(drive: Drive) -> None:
    first = plan(read("a"), sub("c"), sub("sum", ["c"]))
    out = await run(
        drive, found(), first=first, max_attempts=1, replanning=False, world=World({"a": [broken()]})
    )
    assert out.kinds.count("PlanDiagnosis") == 1
    assert out.subtasks == {"a": "failed", "c": "finished", "sum": "finished"}


async def test_a_failed_examination_throws_no_reading_away(drive: Drive) -> None:
    script = Script(plans=[READS], diagnoses=[Fault("429", code="insufficient_quota"), found()])
    out = await drive(script, task=None, effort="auto")
    with pytest.raises(ModelError):
        await out.go(UNSIGNED)
    assert out.world.calls == ["a", "b"]
    await out.go(None)
    assert out.world.calls == ["a", "b", "sum"]
    assert out.status == "answered"


async def test_a_person_approves_an_examined_plan_once(drive: Drive) -> None:
    out = await run(drive, found(read("a"), sub("other", ["a"]), errors=1), first=READS, approve_plan=True)
    assert out.world.calls == []
    assert [item["id"] for item in (await out.waiting())[0]["plan"]["subtasks"]] == ["a", "other"]
    await out.reply({"decision": "approve"})
    assert out.status == "answered"


async def test_every_new_plan_is_examined(drive: Drive) -> None:
    script = Script(
        plans=[PLAN, plan(sub("c", ["a"]), sub("d", ["c"]))],
        moves={"b": [ask_replan()]},
        diagnoses=[found()],
    )
    out = await drive(script, task=TASK, effort="auto")
    assert out.kinds.count("PlanDiagnosis") == 2
