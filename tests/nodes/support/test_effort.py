"""Where a mechanism runs: by effort, by its switch, and in auto by rules that fire and do not fire."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from forethought.nodes.support.effort import RULES
from forethought.state.context import Context, Mechanism
from forethought.tools.base import Observation
from tests.support.agent import Drive, Driven, Script, World, broken
from tests.support.replies import plan, sub

DOCS = Path(__file__).parents[3] / "docs" / "effort.md"


def reading(key: str, of: str = "") -> Any:
    """A subtask that begins with a look-up."""
    return sub(key, call={"tool": "lookup", "arguments": {"key": of or key, "note": None}})


def skips(out: Driven) -> list[tuple[str, str]]:
    """Mechanism and reason of each skip."""
    return [(item["mechanism"], item["why"]) for item in out.state.get("skipped", [])]


def skipped(out: Driven, mechanism: Mechanism) -> bool:
    return mechanism in dict(skips(out))


def test_the_docs_hold_the_table_of_rules() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", DOCS.read_text("utf-8"), re.MULTILINE)
    assert [row for row in rows if row[0] not in ("paper", "auto", "low")] == [
        (rule.mechanism, rule.why) for rule in RULES
    ]


@pytest.mark.parametrize("mechanism", ["prospective_reflection", "plan_intra", "tool_intra", "answer_intra"])
def test_a_switch_wins_over_the_effort(mechanism: Mechanism) -> None:
    assert [Context(effort=effort).wants(mechanism) for effort in ("paper", "auto", "low")] == [
        True,
        None,
        False,
    ]
    for switch in (True, False):
        switches: Any = {mechanism: switch}
        assert {Context(effort=e, **switches).wants(mechanism) for e in ("paper", "auto", "low")} == {switch}


def test_forced_plans_belong_to_the_paper_unless_they_are_set() -> None:
    assert [Context(effort=effort).replan_calls for effort in ("paper", "auto", "low")] == [(6, 12), (), ()]
    assert Context(effort="low", forced_replans=(3,)).replan_calls == (3,)
    assert Context(effort="paper", forced_replans=()).replan_calls == ()


@pytest.mark.parametrize("effort", ["paper", "low"])
async def test_no_rule_is_asked_with_paper_and_low(drive: Drive, effort: str) -> None:
    out = await drive(Script(), effort=effort)
    assert skips(out) == []
    assert ("PlanDiagnosis" in out.kinds) is (effort == "paper")
    for kind in ("Plan", "ToolChoice", "AnswerDraft"):
        assert ("defects" in out.asked(kind)[0].schema["properties"]) is (effort == "paper")


async def test_low_still_looks_at_the_task(drive: Drive) -> None:
    out = await drive(Script(), task="Pay it, unless the order was cancelled.", effort="low")
    assert "# Signs" in out.asked("Plan")[0].text


async def test_a_plan_is_evaluated_by_its_author_only_where_no_reflector_examines_it(drive: Drive) -> None:
    examined = await drive(Script(), effort="auto")
    assert skipped(examined, "plan_intra")
    assert "defects" not in examined.asked("Plan")[0].schema["properties"]
    alone = await drive(Script(), effort="auto", prospective_reflection=False)
    assert not skipped(alone, "plan_intra")
    assert "defects" in alone.asked("Plan")[0].schema["properties"]


READING = plan(reading("a"))


async def test_one_reading_is_not_examined(drive: Drive) -> None:
    out = await drive(Script(plans=[READING]), effort="auto")
    assert "PlanDiagnosis" not in out.kinds
    assert ("prospective_reflection", "one reading, and nothing follows from it") in skips(out)


@pytest.mark.parametrize(
    ("first", "task"),
    [
        (plan(reading("a"), sub("b", ["a"])), "the task"),
        (plan(sub("a", call={"tool": "python", "arguments": {"code": "1 + 1"}})), "the task"),
        (plan(sub("a")), "the task"),
        (READING, "Pay it, unless the order was cancelled."),
    ],
    ids=["built upon", "computes", "leaves the call to its worker", "has a sign"],
)
async def test_what_more_than_a_reading_can_follow_from_is_examined(
    drive: Drive, first: Any, task: str
) -> None:
    out = await drive(Script(plans=[first]), task=task, effort="auto")
    assert "PlanDiagnosis" in out.kinds
    assert not skipped(out, "prospective_reflection")


async def test_a_move_is_evaluated_where_it_may_compute_or_follows_a_failure(drive: Drive) -> None:
    world = World({"bad": [broken()], "long": [Observation("the beginning", partial=True)]})
    first = plan(reading("a", "bad"), reading("b", "long"), sub("c"))
    out = await drive(Script(plans=[first]), world, effort="auto")
    evaluated = {
        key: ["defects" in seen.schema["properties"] for seen in out.asked("ToolChoice", key)]
        for key in "abc"
    }
    assert evaluated == {"a": [True], "b": [False], "c": [True]}
    assert [why for name, why in skips(out) if name == "tool_intra"] == [
        "the subtask only reads, and nothing failed or surprised in it"
    ]


async def test_an_answer_with_checks_is_not_scored_as_well(drive: Drive) -> None:
    out = await drive(Script(), effort="auto")
    assert skipped(out, "answer_intra")
    assert "defects" not in out.asked("AnswerDraft")[0].schema["properties"]
    scored = await drive(Script(), effort="auto", answer_intra=True)
    assert not skipped(scored, "answer_intra")


async def test_a_skip_knows_its_step_and_its_task(drive: Drive) -> None:
    out = await drive(Script(plans=[READING]), effort="auto")
    assert {(item["n"], item["task"]) for item in out.state["skipped"]} == {(0, 1), (1, 1)}
    await out.go("and then?")
    assert out.state["skipped"][-1]["task"] == 2
