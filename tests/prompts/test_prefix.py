"""What never changes comes first, so that a provider's cache serves it."""

from __future__ import annotations

import base64
from itertools import combinations

import pytest

from tests.prompts.offline_cases import OFFLINE_CASES
from tests.support.agent import Drive, Script, World, broken
from tests.support.replies import answer, ask_replan, call, diagnosis, plan, revision, sub


def common_start(one: str, other: str) -> str:
    """What both begin with."""
    return one[: next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))]


async def test_the_fixed_part_of_every_prompt_comes_first(drive: Drive) -> None:
    world = World({"bad": [broken()]})
    script = Script(
        plans=[plan(sub("a"), sub("b", ["a"])), plan(sub("c", ["a"])), plan(sub("d"))],
        diagnoses=[diagnosis("ineffective_tool_selection"), diagnosis()],
        revisions=[revision(sub("a"), sub("b", ["a"]))],
        moves={"a": [call("bad"), call("x", finishes=False), call("y")], "b": [ask_replan()]},
        answers=[answer(score=3), answer()],
    )
    data = base64.b64encode(b"text").decode()
    given = {"task": "the task at hand", "files": [{"name": "notes.txt", "data": data}]}
    out = await drive(script, world, task=given, round_reflection=True)
    assert out.status == "answered"
    for kind in ("Plan", "PlanDiagnosis", "ToolChoice", "AnswerDraft"):
        asked = out.asked(kind)
        assert len(asked) >= 2
        for one, other in combinations(asked, 2):
            assert one.messages[0] == other.messages[0], f"the system part of {kind} changes"
            common = common_start(one.messages[1][1], other.messages[1][1])
            assert "the task at hand" in common
            assert "notes.txt" in common
            assert "</file_list>" in common
            assert one.schema == other.schema
            assert list(one.body) == list(other.body)


OFFLINE = [name for name in OFFLINE_CASES if name.startswith(("distill_", "synthesize_"))]


@pytest.mark.parametrize("name", OFFLINE)
def test_the_system_part_of_an_offline_prompt_does_not_change(name: str) -> None:
    assert OFFLINE_CASES[name]()[0] == OFFLINE_CASES["_".join(name.split("_")[:2])]()[0]


async def test_a_subtasks_history_is_append_only(drive: Drive) -> None:
    moves = [call("x", finishes=False), call("y", finishes=False), call("z")]
    out = await drive(Script(moves={"a": moves}))
    _, second, third = (seen.messages[1][1] for seen in out.asked("ToolChoice"))
    common = common_start(second, third)
    assert "value of x" in common
    assert "value of y" not in common


async def test_a_further_turn_repeats_the_conversation_word_for_word(drive: Drive) -> None:
    out = await drive(Script(plans=[plan(sub("a"), score=5), plan(sub("a"), score=6), plan(sub("a"))]))
    first, second, third = (seen.messages for seen in out.asked("Plan"))
    assert second[: len(first)] == first
    assert third[: len(second)] == second
