"""Self-evaluation (MIRROR 3.4): the score follows from the defects that an author shows."""

from __future__ import annotations

import pytest

from tests.support.agent import Drive, Script
from tests.support.replies import Json, answer, call, defect, plan, sub

WRONG, RISKY, SLIGHT = (defect(effect=effect) for effect in ("wrong", "risky", "slight"))
LATER = defect(effect="wrong", mend="later")


@pytest.mark.parametrize(
    ("found", "score"),
    [
        ([], 10),
        ([SLIGHT, SLIGHT], 9),
        ([LATER], 9),
        ([RISKY], 8),
        ([RISKY, SLIGHT, LATER], 8),
        ([RISKY] * 3, 6),
        ([RISKY] * 9, 5),
        ([WRONG], 4),
        ([WRONG, RISKY, RISKY], 4),
        ([WRONG] * 9, 1),
    ],
)
async def test_the_score_follows_from_the_defects(drive: Drive, found: list[Json], score: int) -> None:
    plans = [{**plan(sub("a")), "defects": found}]
    moves = {"a": [{**call(), "defects": found}]}
    out = await drive(Script(plans=plans, moves=moves), max_revisions=0, tool_floor=1)
    assert (out.state["plan"]["score"], out.steps[0]["score"]) == (score, score)


async def test_no_score_is_taken_without_a_defect_nor_against_one(drive: Drive) -> None:
    plans = [
        {**plan(sub("a")), "score": 10, "defects": [WRONG]},
        {**plan(sub("b")), "score": 1, "defects": []},
    ]
    out = await drive(Script(plans=plans))
    assert [(step["subtask"], out.state["plan"]["score"]) for step in out.steps] == [("b", 10)]


async def test_a_defect_without_evidence_is_sent_back(drive: Drive) -> None:
    bare = {**plan(sub("a")), "defects": [{**WRONG, "evidence": ""}]}
    out = await drive(Script(plans=[bare, plan(sub("a"))]))
    assert "evidence" in out.asked("Plan")[1].last


async def test_what_nothing_can_be_done_about_yet_is_not_revised(drive: Drive) -> None:
    out = await drive(Script(plans=[{**plan(sub("a")), "defects": [LATER]}]), plan_threshold=10)
    assert out.kinds.count("Plan") == 1


async def test_every_role_is_told_what_passes(drive: Drive) -> None:
    out = await drive(Script(), plan_threshold=6, tool_threshold=7, answer_threshold=8)
    for kind, threshold in (("Plan", 6), ("ToolChoice", 7), ("AnswerDraft", 8)):
        assert f"{threshold} or more passes" in out.asked(kind)[0].role_text


async def test_what_is_known_and_open_goes_with_the_plan(drive: Drive) -> None:
    first = {**plan(sub("a")), "known": ["prices are net"], "open": ["the rate"]}
    out = await drive(Script(plans=[first, plan()], answers=[answer(score=4)]))
    for seen in (out.asked("PlanDiagnosis")[0], out.asked("Plan")[1]):
        assert "Known: prices are net" in seen.last
        assert "To be found out: the rate" in seen.last
