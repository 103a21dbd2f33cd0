"""Where a mechanism runs: by effort, by its switch, and in auto by rules that fire and do not fire."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest

from forethought.json_files import FileError
from forethought.nodes.support.effort import RULES, Moment, load_rules, skipping_rule
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
BUILT_UPON = plan(reading("a"), sub("b", ["a"]))
SIGNED = "Pay it, unless the order was cancelled."
LONG = "\n".join(f"line {n} of a long report on costs" for n in range(3_000))
PARTLY_SEEN = {
    "task": "the task",
    "files": [{"name": "report.txt", "data": base64.b64encode(LONG.encode()).decode()}],
}
SEEN = {"task": "the task", "files": [{"name": "costs.txt", "data": base64.b64encode(b"A 1, B 2").decode()}]}
ONLY_READS = "the plan only reads, and no step builds on the readings"
SHORT = "the plan is short: a wrong step costs no more than an examination"
ALL_SEEN = "all files were seen, and the plan handles each relevant sign"


def on_sign(bears: str, handled_by: str = "", sign: str = "S1") -> Any:
    """The verdict of a plan's author."""
    return {"sign": sign, "bears": bears, "handled_by": handled_by}


async def examined(drive: Drive, *plans: Any, task: Any, **switches: Any) -> Driven:
    out: Driven = await drive(
        Script(plans=plans), task=task, **{"effort": "auto", "context_tokens": 16_000, **switches}
    )
    return out


@pytest.mark.parametrize("first", [READING, plan(reading("a"), reading("b"))], ids=["one", "several"])
async def test_a_plan_that_only_reads_is_not_examined(drive: Drive, first: Any) -> None:
    out = await examined(drive, first, task=PARTLY_SEEN)
    assert "PlanDiagnosis" not in out.kinds
    assert ("prospective_reflection", ONLY_READS) in skips(out)


@pytest.mark.parametrize(
    ("first", "task"),
    [
        (BUILT_UPON, PARTLY_SEEN),
        (plan(sub("a", call={"tool": "python", "arguments": {"code": "1 + 1"}})), PARTLY_SEEN),
        (plan(sub("a")), PARTLY_SEEN),
        (READING, SIGNED),
    ],
    ids=["built upon", "computes", "leaves the call to its worker", "has a sign"],
)
async def test_what_more_than_a_reading_can_follow_from_is_examined(
    drive: Drive, first: Any, task: Any
) -> None:
    out = await examined(drive, first, task=task)
    assert "PlanDiagnosis" in out.kinds
    assert not skipped(out, "prospective_reflection")


@pytest.mark.parametrize(
    ("task", "signs"),
    [
        ("the task", []),
        (SIGNED, [on_sign("cancelled ones are left out", "a")]),
        (SIGNED, [on_sign("no")]),
    ],
    ids=["no sign", "looked after", "does not bear"],
)
async def test_a_plan_that_looks_after_all_there_is_is_not_examined(
    drive: Drive, task: str, signs: Any
) -> None:
    few = plan(sub("a"), sub("b", ["a"]), signs=signs)
    many = plan(sub("a"), *(sub(key, ["a"]) for key in "bcd"), signs=signs)
    short = await examined(drive, few, task=task)
    seen = await examined(drive, many, task={**SEEN, "task": task}, thread="seen")
    for out, why in ((short, SHORT), (seen, ALL_SEEN)):
        assert "PlanDiagnosis" not in out.kinds
        assert ("prospective_reflection", why) in skips(out)
    unseen = await examined(drive, many, task=task, thread="unseen")
    assert "PlanDiagnosis" in unseen.kinds


async def test_a_short_plan_is_examined_where_a_tool_changes_something(drive: Drive) -> None:
    def order(article: str) -> str:
        """Order an article.

        Args:
            article: Its number.
        """
        return f"{article} ordered"

    out = await drive(Script(plans=[plan(sub("a"))]), effort="auto", tools=[make_tool(order, effect="write")])
    assert "PlanDiagnosis" in out.kinds


async def test_signs_that_are_not_even_listed_have_been_seen_by_nobody(drive: Drive) -> None:
    kinds = ("excludes", "cancelled", "corrected", "supersedes", "estimate")
    text = "\n\n".join(f"The {kind} list {n}." for kind in kinds for n in range(5))
    files = [{"name": "rules.txt", "data": base64.b64encode(text.encode()).decode()}]
    signs = [on_sign("no", sign=f"S{n}") for n in range(1, 13)]
    out = await examined(drive, plan(sub("a"), signs=signs), task={"task": "Hello", "files": files})
    assert out.state["look"]["more_signs"] == 13
    assert "PlanDiagnosis" in out.kinds


@pytest.mark.parametrize(
    ("task", "signs", "switches"),
    [
        (PARTLY_SEEN, [], {}),
        (SIGNED, [], {}),
        (SIGNED, [on_sign("no", sign="S9")], {}),
        (SIGNED, [on_sign("cancelled ones are left out", "nobody")], {}),
        ("the task", [], {"prospective_reflection": True}),
    ],
    ids=["unseen", "no verdict", "another sign's verdict", "not looked after", "switched on"],
)
async def test_what_may_have_been_passed_by_is_examined(
    drive: Drive, task: Any, signs: Any, switches: Any
) -> None:
    out = await examined(drive, plan(sub("a"), sub("b", ["a"]), signs=signs), task=task, **switches)
    assert "PlanDiagnosis" in out.kinds


async def test_a_new_plan_is_examined_by_the_same_rules(drive: Drive) -> None:
    heeded = [on_sign("cancelled ones are left out", "c")]
    plans = plan(sub("a"), sub("b", ["a"])), plan(sub("c"), sub("d", ["c"]), signs=heeded)
    script = Script(plans=plans, moves={"b": [ask_replan()]})
    out = await drive(script, task=SIGNED, effort="auto")
    assert out.kinds.count("PlanDiagnosis") == 1
    assert skips(out).count(("prospective_reflection", SHORT)) == 1


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
        "the subtask only reads, without a failure or a surprise"
    ]


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
    out = await drive(Script(plans=[READING]), effort="auto")
    assert {(item["n"], item["task"]) for item in out.state["skipped"]} == {(0, 1), (1, 1)}
    assert {item["rule"] for item in out.state["skipped"]} <= {rule.id for rule in RULES}
    await out.go("and then?")
    assert out.state["skipped"][-1]["task"] == 2
