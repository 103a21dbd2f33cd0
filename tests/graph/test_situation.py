"""What each role knows: the situation that all share, the failed rounds, the plan in force."""

from __future__ import annotations

import base64

import pytest

from tests.prompts.test_prefix import common_start
from tests.support.agent import Drive, Driven, Script, World, broken
from tests.support.replies import answer, call, diagnosis, plan, sub

ROLES = ("Plan", "PlanDiagnosis", "ToolChoice", "AnswerDraft")


def last_prompt(out: Driven, kind: str) -> str:
    """What a role was shown last, but for the fixed part."""
    return str(out.asked(kind)[-1].messages[1][1])


@pytest.mark.parametrize("kind", ROLES)
async def test_every_role_knows_the_earlier_tasks_and_the_answers_form(drive: Drive, kind: str) -> None:
    script = Script(answers=[answer("14 degrees"), answer("16 degrees")])
    out = await drive(script, task="How warm is it in Bremen?", answer_format="a number in degrees")
    await out.go("and in Hamburg?")
    shown = last_prompt(out, kind)
    assert "How warm is it in Bremen?" in shown
    assert "14 degrees" in shown
    assert "a number in degrees" in shown


async def test_the_situation_begins_every_roles_prompt_in_the_same_words(drive: Drive) -> None:
    given = {"task": "how many?", "guidance": ["count twice"]}
    out = await drive(Script(), task=given, answer_format="a number")
    await out.go({"task": "and why?", "guidance": ["count thrice"]})
    first, *others = (last_prompt(out, kind) for kind in ROLES)
    for other in others:
        common = common_start(first, other)
        for part in ("and why?", "a number", "count thrice", "how many?", "the answer"):
            assert part in common


async def test_every_role_sees_the_files_that_were_looked_at_and_their_signs(drive: Drive) -> None:
    data = base64.b64encode(b"Total 12\nExcept: the costs of March are void.\n").decode()
    given = {"task": "Which total?", "files": [{"name": "costs.txt", "data": data}]}
    out = await drive(Script(plans=[plan(sub("a"))]), task=given, effort="auto", prospective_reflection=True)
    for kind in ROLES:
        shown = last_prompt(out, kind)
        assert "Total 12" in shown
        assert "Except: the costs of March are void. [sign: exception]" in shown


async def test_the_reflector_of_a_later_round_knows_why_the_last_one_failed(drive: Drive) -> None:
    script = Script(
        plans=[plan(sub("a")), plan(sub("b"))],
        diagnoses=[diagnosis("ineffective_tool_selection"), diagnosis()],
        revisions=[plan(sub("a", description="do a well"))],
        answers=[answer("about ten", score=3, evaluation="no source gives ten"), answer()],
    )
    out = await drive(script)
    shown = out.asked("PlanDiagnosis")[-1].messages[1][1]
    for part in ("about ten", "no source gives ten", "evidence of ineffective_tool_selection"):
        assert part in shown
    assert "Round 2 begins" in shown


async def test_the_reflector_knows_why_a_round_is_planned_anew(drive: Drive) -> None:
    world = World({"x": [broken("the sheet is locked")]})
    script = Script(plans=[plan(sub("a")), plan(sub("b"))], moves={"a": [call("x")]})
    out = await drive(script, world, max_attempts=1)
    assert "a failed 1 times" in out.asked("PlanDiagnosis")[-1].messages[1][1]


async def test_a_worker_knows_the_other_subtasks_of_the_plan(drive: Drive) -> None:
    subtasks = (
        sub("read", description=f"read the prices {'of each item ' * 20}net of tax"),
        sub("add", ["read"], description="add the prices"),
        sub("check", ["add"], description="check the sum against the invoice"),
    )
    out = await drive(Script(plans=[plan(*subtasks)]))
    shown = out.asked("ToolChoice", "add")[0].messages[1][1]
    outline = shown[shown.index("<plan>") : shown.index("</plan>")]
    assert "read: read the prices" in outline
    assert "net of tax" not in outline
    assert outline.endswith("add: add the prices\ncheck: check the sum against the invoice\n")


async def test_all_workers_of_a_plan_are_shown_the_same_up_to_their_subtask(drive: Drive) -> None:
    moves = {"a": [call("x", finishes=False), call("y")], "b": [call("z")]}
    out = await drive(Script(plans=[plan(sub("a"), sub("b"), sub("c", ["a", "b"]))], moves=moves))
    own = "# Your subtask"
    shown = [seen.messages[1][1] for seen in out.asked("ToolChoice")]
    assert len(shown) == 4
    assert len({text[: text.index(own)] for text in shown}) == 1
    assert shown[0].index("<plan>") < shown[0].index(own)


async def test_the_answer_agent_knows_what_each_subtask_was(drive: Drive) -> None:
    world = World({"x": [broken("locked")]})
    subtasks = (sub("a", description="look it up"), sub("b", description="ask the desk"))
    script = Script(plans=[plan(*subtasks)], moves={"b": [call("x")]})
    out = await drive(script, world, replanning=False, max_attempts=1)
    shown = out.asked("AnswerDraft")[0].messages[1][1]
    assert "a [finished]: look it up" in shown
    assert "b [failed]: ask the desk" in shown


async def test_a_reflection_on_a_round_knows_the_earlier_tasks_and_the_answers_form(drive: Drive) -> None:
    script = Script(
        plans=[plan(sub("a")), plan(sub("a")), plan(sub("b"))],
        answers=[answer("14 degrees"), answer("cold", score=3), answer("16 degrees")],
    )
    form = "a number in degrees"
    out = await drive(script, task="How warm is it in Bremen?", answer_format=form, round_reflection=True)
    await out.go("and in Hamburg?")
    (asked,) = out.asked("RoundReflection")
    for part in ("How warm is it in Bremen?", "14 degrees", form):
        assert part in asked.text
