"""The taxonomy: grown task by task, without near-duplicates, without the reference."""

from __future__ import annotations

import pytest

from forethought.nodes.synthesizer.error_types import growth_problem
from forethought.prompts.synthesize_replies import TaxonomyGrowth
from forethought.state.synthesizer import ErrorType
from tests.support.model_server import Answer, SeenRequest
from tests.support.synthesizing import Reader, Synthesize, kind, shown, taxonomy_of, trial_of

KNOWN = [ErrorType(name="wrong_unit", definition="A figure is given in a unit not asked for.", task="t1")]


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ([kind("wrong_unit")], "wrong_unit is a near-duplicate of wrong_unit"),
        ([kind("Wrong Units Error")], "wrong_units_error is a near-duplicate of wrong_unit"),
        ([kind("unit_wrong", "Other words.")], "unit_wrong is a near-duplicate"),
        ([kind("mixed_measures", "A figure is given in a unit not asked for")], "mixed_measures is a near"),
        (
            [kind("early_stop", "It stops."), kind("early_stops", "It ends.")],
            "new_types[2]: early_stops is a",
        ),
        ([kind("error")], "'error' is no name"),
        ([kind("!!")], "'!!' is no name"),
    ],
)
def test_types_that_are_known_or_nameless_are_refused(new: list[object], said: str) -> None:
    problem = growth_problem(TaxonomyGrowth.model_validate({"new_types": new}), KNOWN)
    assert said in str(problem)


@pytest.mark.parametrize("name", ["wrong_tool", "missing_unit_check", "unverified_claim", "early_stop"])
def test_other_types_are_let_in(name: str) -> None:
    reply = TaxonomyGrowth.model_validate({"new_types": [kind(name, f"Something else: {name}.")]})
    assert growth_problem(reply, KNOWN) is None


async def test_each_task_sees_what_those_before_it_added(synthesize: Synthesize) -> None:
    runs = [trial_of(name, 1, [habit]) for name, habit in (("Ulm", "wrong_unit"), ("Bern", "blind_packing"))]
    out = await synthesize([*runs, trial_of("Bonn", 1, ["wrong_unit"]), trial_of("Oslo", 1, [])])
    shown_types = [taxonomy_of(seen) for seen in out.asked("TaxonomyGrowth")]
    assert shown_types == [[], ["wrong_unit"], ["wrong_unit", "blind_packing"]]
    assert [error["task"] for error in out.state["taxonomy"]] == ["t1", "t2"]


async def test_the_reference_is_given_in_the_ablation_alone(synthesize: Synthesize) -> None:
    runs = [trial_of("Ulm", 1, ["wrong_unit"])]
    plain, ablation = await synthesize(runs), await synthesize(runs, meso_reference=True)
    for asked in ("TaxonomyGrowth", "StepLabels"):
        assert "37.5" not in plain.asked(asked)[0].text
        assert "37.5" in shown(ablation.asked(asked)[0])
    assert "37.5" not in ablation.asked("MergedReflection")[0].text


async def test_a_task_without_a_usable_reply_is_left_out_and_that_is_recorded(synthesize: Synthesize) -> None:
    def instead(seen: SeenRequest) -> Answer | None:
        bad = seen.reply_name == "TaxonomyGrowth" and "of Ulm" in seen.text
        return {"rationale": "", "new_types": [kind("error")]} if bad else None

    out = await synthesize([trial_of(name, 1, ["wrong_unit"]) for name in ("Ulm", "Bern")], Reader(instead))
    assert "'error' is no name" in out.state["problems"]["error_types t1"]
    assert out.names() == ["wrong_unit"]
    assert list(out.state["error_reflections"]) == ["wrong_unit"], "its steps are labelled all the same"


async def test_without_any_type_no_step_is_labelled(synthesize: Synthesize) -> None:
    def instead(seen: SeenRequest) -> Answer | None:
        return {"rationale": "", "new_types": []} if seen.reply_name == "TaxonomyGrowth" else None

    out = await synthesize([trial_of("Ulm", 1, ["wrong_unit"])], Reader(instead))
    assert out.state["notes"] == ["no error type was found: no step is labelled"]
    assert list(out.state["merged"]) == ["t1.1"]
