"""The prospective reflector: two turns at most, bounded, every plan (PreFlect 3.2.2)."""

from __future__ import annotations

import pytest

from forethought.knowledge.planning_errors import load_planning_errors
from tests.support.agent import Drive, Script, World, broken
from tests.support.model_server import Reply, SeenRequest
from tests.support.replies import INVALID, ask_replan, call, diagnosis, plan, revision, sub

ERRORS = load_planning_errors(None)
ONE, TWO = ERRORS[0], ERRORS[1]


def shown(seen: SeenRequest, texts: tuple[str, ...]) -> list[bool]:
    """Which of the texts stand in the request."""
    whole = " ".join(seen.text.split())
    return [" ".join(text.split()) in whole for text in texts]


def texts(patterns: object) -> tuple[str, ...]:
    """The texts of patterns."""
    return tuple(pattern.text for pattern in patterns)  # type: ignore[attr-defined]


async def test_a_sound_plan_costs_one_call_that_shows_two_failures_an_error(drive: Drive) -> None:
    out = await drive(Script())
    assert out.kinds == ["Plan", "PlanDiagnosis", "ToolChoice", "AnswerDraft"]
    (first,) = out.asked("PlanDiagnosis")
    for error in ERRORS:
        assert error.name in first.text
        assert all(shown(first, (error.description,)))
        assert shown(first, texts(error.failures))[:2] == [True, True]
        assert not any(shown(first, texts(error.failures))[2:])
        assert not any(shown(first, texts(error.successes)))
    assert out.state["plan_reviews"][0]["errors"] == []
    assert not out.state["plan_reviews"][0]["revised"]


async def test_an_error_leads_to_a_second_turn_with_all_examples_of_that_error_only(drive: Drive) -> None:
    script = Script(diagnoses=[diagnosis(ONE.name), diagnosis()], revisions=[revision(sub("b"))])
    out = await drive(script)
    (turn,) = out.asked("PlanRevision")
    assert all(shown(turn, texts(ONE.failures)))
    assert all(shown(turn, texts(ONE.successes)))
    assert not any(shown(turn, texts(TWO.failures))[2:])
    assert not any(shown(turn, texts(TWO.successes)))
    roles = [role for role, _ in turn.messages]
    assert roles == ["system", "user", "assistant", "user"], "one conversation: the diagnosis stands before"
    assert f"evidence of {ONE.name}" in turn.messages[2][1]
    assert list(out.subtasks) == ["b"]
    assert out.world.calls == ["b"]
    first, second = out.state["plan_reviews"]
    assert first["revised"]
    assert first["changes"] == "made better"
    assert first["errors"][0]["error_type"] == ONE.name
    assert second["errors"] == []
    assert second["plan_version"] == 2


async def test_the_revised_plan_is_what_is_diagnosed_again(drive: Drive) -> None:
    revised = revision(sub("b", description="check the year first"))
    out = await drive(Script(diagnoses=[diagnosis(ONE.name), diagnosis()], revisions=[revised]))
    first, second = out.asked("PlanDiagnosis")
    assert "check the year first" not in first.text
    assert "check the year first" in second.text
    assert len(second.messages) == 2, "a conversation of its own"


@pytest.mark.parametrize(
    ("counts", "runs"),
    [((2, 1, 3), "second"), ((1, 1, 1), "third"), ((2, 1, 1), "third"), ((1, 2, 2), "first")],
)
async def test_of_the_versions_with_the_fewest_errors_the_latest_goes_on(
    drive: Drive, counts: tuple[int, ...], runs: str
) -> None:
    found = [diagnosis(*([ONE.name] * count)) for count in counts]
    revisions = [revision(sub("second")), revision(sub("third"))]
    script = Script(plans=[plan(sub("first"))], diagnoses=found, revisions=revisions)
    out = await drive(script, max_reflections=2)
    assert (out.kinds.count("PlanDiagnosis"), out.kinds.count("PlanRevision")) == (3, 2)
    assert list(out.subtasks) == [runs]
    assert out.state["plan"]["unresolved"] is True
    reviews = out.state["plan_reviews"]
    assert [review["unresolved"] for review in reviews] == [False, False, True]
    assert [review["runs"] for review in reviews] == [0, 0, out.state["plan"]["version"]]


async def test_every_plan_passes_and_a_revision_keeps_finished_work(drive: Drive) -> None:
    script = Script(
        plans=[plan(sub("a"), sub("b", ["a"])), plan(sub("c", ["a"]))],
        moves={"b": [ask_replan()]},
        diagnoses=[diagnosis(), diagnosis(ONE.name), diagnosis()],
        revisions=[revision(sub("d", ["a"]))],
    )
    out = await drive(script)
    assert out.kinds.count("PlanDiagnosis") == 3
    assert out.subtasks == {"a": "finished", "d": "finished"}
    versions = [review["plan_version"] for review in out.state["plan_reviews"]]
    assert versions == sorted(set(versions)), "every version is reviewed once"
    later = out.asked("PlanDiagnosis")[1].text
    assert "value of a" in later
    assert "lookup: 1 calls, 0 failed" in later


async def test_a_revision_with_a_cycle_is_sent_back(drive: Drive) -> None:
    bad = revision(sub("a", ["b"]), sub("b", ["a"]))
    script = Script(diagnoses=[diagnosis(ONE.name), diagnosis()], revisions=[bad, revision(sub("a"))])
    out = await drive(script)
    assert "cycle" in out.asked("PlanRevision")[1].last
    assert out.status == "answered"


async def test_an_unknown_error_type_is_sent_back(drive: Drive) -> None:
    out = await drive(Script(diagnoses=[diagnosis("bad_mood"), diagnosis()]))
    assert "bad_mood" in out.asked("PlanDiagnosis")[1].last
    assert out.kinds.count("PlanRevision") == 0


async def test_an_invalid_diagnosis_is_skipped_and_recorded(drive: Drive) -> None:
    out = await drive(Script(diagnoses=[INVALID]))
    assert out.kinds.count("PlanDiagnosis") == 3
    assert out.status == "answered"
    assert "no valid diagnosis" in out.state["plan_reviews"][0]["skipped"]
    assert out.state["usage"]["reflector"]["calls"] == 3


async def test_an_invalid_revision_leaves_the_plan_as_it_was_and_says_so(drive: Drive) -> None:
    out = await drive(Script(diagnoses=[diagnosis(ONE.name)], revisions=[INVALID]))
    (review,) = out.state["plan_reviews"]
    assert "no valid revision" in review["changes"]
    assert not review["revised"]
    assert review["unresolved"]
    assert list(out.subtasks) == ["a"]


async def test_without_the_catalogue_error_types_are_free_text_and_nothing_of_it_is_shown(
    drive: Drive,
) -> None:
    script = Script(diagnoses=[diagnosis("a gap of my own"), diagnosis()], revisions=[revision(sub("b"))])
    out = await drive(script, planning_errors=False)
    assert out.state["plan_reviews"][0]["errors"][0]["error_type"] == "a gap of my own"
    for seen in out.requests:
        assert not any(error.name in str(seen.body) for error in ERRORS)
        assert not any(any(shown(seen, texts(error.failures))) for error in ERRORS)


async def test_an_id_that_failed_under_an_earlier_plan_does_not_carry_its_failures_into_a_revision(
    drive: Drive,
) -> None:
    """Under an id that was dropped a plan ago stands other work, with attempts of its own."""
    world = World({"1": [broken()], "2": [broken()], "3": [broken()]})
    script = Script(
        plans=[plan(sub("a")), plan(sub("b"))],
        moves={"a": [call("1"), call("2"), call("3"), call("4")], "b": [call("5")], "a_2": [call("6")]},
        diagnoses=[diagnosis(), diagnosis(ONE.name), diagnosis()],
        revisions=[revision(sub("a", description="something else"), sub("b", ["a"]))],
    )
    out = await drive(script, world)
    assert set(out.subtasks.values()) == {"finished"}
    assert out.status == "answered"


async def test_a_revision_that_could_not_be_examined_goes_on_unresolved(drive: Drive) -> None:
    """The plan before it is known to be flawed, and the record says that it was revised."""
    script = Script(diagnoses=[diagnosis(ONE.name), INVALID], revisions=[revision(sub("better"))])
    out = await drive(script)
    first, second = out.state["plan_reviews"]
    assert first["revised"]
    assert "no valid diagnosis" in second["skipped"]
    assert second["unresolved"]
    assert list(out.subtasks) == ["better"]
    assert out.state["plan"]["unresolved"]
    assert out.state["plan"]["version"] == second["plan_version"] == 2


async def test_a_budget_spent_by_the_diagnosis_leaves_none_for_the_revision(drive: Drive) -> None:
    dear = Reply(diagnosis(ONE.name), prompt_tokens=500_000)
    out = await drive(Script(diagnoses=[dear], revisions=[revision(sub("better"))]))
    assert out.kinds == ["Plan", "PlanDiagnosis", "AnswerDraft"]
    (review,) = out.state["plan_reviews"]
    assert "budget of tokens" in review["changes"]
    assert review["unresolved"]
    assert out.status == "budget_exhausted"


async def test_a_revisions_repairs_are_paid_from_what_the_diagnosis_left(drive: Drive) -> None:
    dear = Reply(diagnosis(ONE.name), prompt_tokens=6_000)
    bad = Reply("no json", prompt_tokens=6_000)
    out = await drive(Script(diagnoses=[dear], revisions=[bad]), max_tokens=20_000)
    assert len(out.asked("PlanRevision")) == 2
