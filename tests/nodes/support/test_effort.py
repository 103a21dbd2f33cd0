"""Where a mechanism runs: by effort, by its switch, and in auto by rules that fire and do not fire."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any, get_args

import pytest

from forethought.json_files import FileError
from forethought.nodes.support.answer_reply import checks_answer
from forethought.nodes.support.effort import RULES, Moment, Rule, load_rules, skipping_rule
from forethought.state.context import Context, Mechanism
from forethought.tools.base import Observation, make_tool
from forethought.tools.python import PYTHON
from forethought.tools.read_file import READ_FILE
from forethought.tools.web_search import WEB_SEARCH
from tests.support.agent import Drive, Driven, Script, World, broken
from tests.support.replies import ask_replan, plan, sub

DOCS = Path(__file__).parents[3] / "docs" / "concepts" / "effort.md"


def reading(key: str, of: str = "") -> Any:
    """A subtask that begins with a look-up."""
    return sub(key, call={"tool": "lookup", "arguments": {"key": of or key, "note": None}})


def skips(out: Driven) -> list[tuple[str, str]]:
    """Mechanism and reason of each skip."""
    return [(item["mechanism"], item["why"]) for item in out.state.get("skipped", [])]


def skipped(out: Driven, mechanism: Mechanism) -> bool:
    return mechanism in dict(skips(out))


def test_ids_of_rules_differ_and_a_rule_with_an_unknown_condition_is_refused(tmp_path: Path) -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    path = tmp_path / "effort.yaml"
    path.write_text("rules:\n  - {id: a, mechanism: plan_intra, skip_if: [rains], why: it rains}\n", "utf-8")
    with pytest.raises(FileError, match=r"effort.yaml:2: .*no condition 'rains'"):
        load_rules(path)


def test_the_docs_list_the_rules() -> None:
    section = DOCS.read_text("utf-8").partition("## The rules of auto")[2].partition("\n## ")[0]
    items = re.findall(r"^- `(\w+)`: (.+)$", section, re.MULTILINE)
    assert items == [(rule.mechanism, rule.why) for rule in RULES]


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


async def test_low_still_marks_signs(drive: Drive) -> None:
    notes = {"name": "notes.txt", "data": base64.b64encode(b"Free, except for dogs.").decode()}
    out = await drive(Script(), task={"task": "Pay it", "files": [notes]}, effort="low")
    assert "except for dogs. [sign: exception]" in out.asked("Plan")[0].text


async def test_a_plan_is_evaluated_by_its_author_if_the_reflector_is_off(drive: Drive) -> None:
    examined = await drive(Script(), effort="auto")
    assert skipped(examined, "plan_intra")
    assert "defects" not in examined.asked("Plan")[0].schema["properties"]
    alone = await drive(Script(), effort="auto", prospective_reflection=False)
    assert not skipped(alone, "plan_intra")
    assert "defects" in alone.asked("Plan")[0].schema["properties"]


CODE = {"tool": "python", "arguments": {"code": "1 + 1"}}
PLANS = {
    "one reading": plan(reading("a")),
    "several readings": plan(reading("a"), reading("b")),
    "many readings": plan(*map(reading, "abcd")),
    "built upon": plan(reading("a"), sub("b", ["a"])),
    "computes": plan(sub("a", call=CODE)),
    "a worker chooses": plan(sub("a")),
}
SIGNED = "Pay it, unless the order was cancelled."


def order(article: str) -> str:
    """Order an article.

    Args:
        article: Its number.
    """
    return f"{article} ordered"


ORDER = make_tool(order, effect="write")


BY_WRITER = {*product(("one reading", "several readings", "computes"), (True, False))}


@pytest.mark.parametrize("checks", [True, False], ids=["checks", "no checks"])
@pytest.mark.parametrize("changes", [True, False], ids=["a tool changes", "tools read"])
@pytest.mark.parametrize("first", PLANS)
async def test_every_plan_that_acts_is_examined_once_by_another_than_its_author(
    drive: Drive, first: str, changes: bool, checks: bool
) -> None:
    script = Script(plans=[PLANS[first]])
    out = await drive(script, task=SIGNED, effort="auto", answer_checks=checks, tools=[ORDER] * changes)
    by_writer = checks and (first, changes) in BY_WRITER
    assert out.kinds.count("PlanDiagnosis") == (0 if by_writer else 1)
    assert ("checks" in out.asked("AnswerDraft")[0].schema["properties"]) is checks


@pytest.mark.parametrize(("one", "other"), [*combinations(RULES, 2)], ids=lambda rule: rule.id)
def test_no_two_rules_excuse_each_other(one: Rule, other: Rule) -> None:
    """Whenever both hold, one who is not the plan's author examines the plan."""
    together = 0
    for moment in moments():
        skips = {rule.mechanism for rule in RULES if rule.holds(moment)} | _switched_off(moment.context)
        if not (one.holds(moment) and other.holds(moment)):
            continue
        together += 1
        examined = bool(moment.before)  # it is the revision of an examined plan
        reflector = "prospective_reflection" not in skips
        writer = checks_answer(moment.context) or "answer_intra" not in skips
        assert examined or reflector or writer, moment
        if {one.mechanism, other.mechanism} == {"plan_intra", "prospective_reflection"} and not examined:
            assert checks_answer(moment.context), "the writer was named as the one who examines"
    assert together or one.mechanism == other.mechanism


def _switched_off(context: Context) -> set[str]:
    return {name for name in get_args(Mechanism) if context.wants(name) is False}


def moments() -> Iterator[Moment]:
    """Moments that differ in all that the rules ask about."""
    subtasks = ([(reading("a"), [])], [("worker", ["a"])], [(reading(key), []) for key in "abcd"])
    lookup = World().tool()
    for kind, checks, reflector, round_, revises, writes in product(
        subtasks, (True, False), (None, True, False), (1, 2), ("", "this", "another"), (True, False)
    ):
        pending: Any = [
            {
                "id": str(at),
                "description": "d",
                "depends_on": after,
                "status": "pending",
                "call": what["calls"][0] if isinstance(what, dict) else None,
            }
            for at, (what, after) in enumerate(kind)
        ]
        state: Any = {
            "plan": {"subtasks": pending},
            "progress": {"n": 0, "task": 1, "round": round_},
            "trajectory": [],
        }
        yield Moment(
            state,
            Context(effort="auto", answer_checks=checks, prospective_reflection=reflector),
            {"lookup": lookup, **({"order": ORDER} if writes else {})},
            pending[0],
            {"this": state["plan"], "another": {"subtasks": []}}.get(revises),
        )


async def test_a_new_plan_is_examined_by_the_same_rules(drive: Drive) -> None:
    plans = PLANS["built upon"], plan(sub("c"), sub("d", ["c"]))
    script = Script(plans=plans, moves={"b": [ask_replan()]})
    out = await drive(script, task=SIGNED, effort="auto", tools=[ORDER])
    assert out.kinds.count("PlanDiagnosis") == 2


async def test_a_move_is_evaluated_if_it_may_compute_or_follows_a_failure(drive: Drive) -> None:
    world = World({"bad": [broken()], "long": [Observation("the beginning", partial=True)]})
    first = plan(reading("a", "bad"), reading("b", "long"), sub("c"))
    out = await drive(Script(plans=[first]), world, effort="auto")
    evaluated = {
        key: ["defects" in seen.schema["properties"] for seen in out.asked("ToolChoice", key)]
        for key in "abc"
    }
    assert evaluated == {"a": [True], "b": [False], "c": [True]}
    assert [why for name, why in skips(out) if name == "tool_intra"] == [
        "the subtask only reads, without a failure or a surprise"
    ]


async def test_a_move_that_may_send_is_evaluated_after_a_reading_too(drive: Drive) -> None:
    world = World({"long": [Observation("the beginning", partial=True)]})
    out = await drive(Script(plans=[plan(reading("a", "long"))]), world, effort="auto", tools=[ORDER])
    assert "defects" in out.asked("ToolChoice", "a")[0].schema["properties"]
    assert not skipped(out, "tool_intra")


def test_where_no_tool_does_more_than_read_moves_are_not_evaluated() -> None:
    reads = {"read_file": READ_FILE, "web_search": WEB_SEARCH}
    subtask: Any = {"id": "a", "depends_on": ["b"], "call": None}

    def why(tools: Any) -> str:
        rule = skipping_rule("tool_intra", Moment({}, Context(effort="auto"), tools, subtask))
        return rule.id if rule else ""

    assert why(reads) == "subtask_only_reads"
    assert why({**reads, "python": PYTHON}) == ""


async def test_an_answer_with_checks_is_not_scored_as_well(drive: Drive) -> None:
    out = await drive(Script(), effort="auto")
    assert skipped(out, "answer_intra")
    assert "defects" not in out.asked("AnswerDraft")[0].schema["properties"]
    scored = await drive(Script(), effort="auto", answer_intra=True)
    assert not skipped(scored, "answer_intra")


async def test_a_skip_knows_its_step_and_its_task(drive: Drive) -> None:
    out = await drive(Script(plans=[PLANS["one reading"]]), effort="auto")
    assert {(item["n"], item["task"]) for item in out.state["skipped"]} == {(0, 1), (1, 1)}
    assert {item["rule"] for item in out.state["skipped"]} <= {rule.id for rule in RULES}
    await out.go("and then?")
    assert out.state["skipped"][-1]["task"] == 2
