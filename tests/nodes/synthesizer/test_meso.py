"""Meso level: the taxonomy, grown task by task without the reference, and the labels of steps."""

from __future__ import annotations

import pytest

from forethought.nodes.synthesizer.meso import growth_problem, labels_problem
from forethought.prompts.synthesize_replies import StepLabels, TaxonomyGrowth
from forethought.state.synthesizer import ErrorType
from forethought.trajectories.show import PROMPT_CHARS
from tests.support.model_server import Answer, SeenRequest
from tests.support.synthesizing import HABITS, Reader, Synthesize, kind, label, shown, taxonomy_of, trial_of

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
        ([kind("error")], "'error' is not a valid name"),
        ([kind("!!")], "'!!' is not a valid name"),
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
    assert "'error' is not a valid name" in out.state["problems"]["error_types t1"]
    assert out.names() == ["wrong_unit"]
    assert list(out.state["error_reflections"]) == ["wrong_unit"], "its steps are labelled all the same"


async def test_without_any_type_no_step_is_labelled(synthesize: Synthesize) -> None:
    def instead(seen: SeenRequest) -> Answer | None:
        return {"rationale": "", "new_types": []} if seen.reply_name == "TaxonomyGrowth" else None

    out = await synthesize([trial_of("Ulm", 1, ["wrong_unit"])], Reader(instead))
    assert out.state["notes"] == ["no error type was found, so no step can be labelled"]
    assert list(out.state["merged"]) == ["t1.1"]


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([label(1)], "label step 2 too"),
        ([label(1), label(2), label(2)], "step 2 is labelled twice"),
        ([label(1), label(2), label(7)], "step 7 is not among the steps to label"),
        ([label(1, "bad_luck"), label(2)], "bad_luck: not in the taxonomy; choose from wrong_unit"),
    ],
)
def test_labels_that_cannot_be_used_say_why(steps: list[object], said: str) -> None:
    assert said in str(labels_problem(StepLabels.model_validate({"steps": steps}), [1, 2], ["wrong_unit"]))


@pytest.mark.parametrize(("size", "keys"), [(1, 4), (3, 2)])
async def test_every_step_is_labelled_whatever_the_stretch(
    synthesize: Synthesize, size: int, keys: int
) -> None:
    out = await synthesize([trial_of("Ulm", 1, HABITS)], steps_per_call=size)
    assert len(out.state["labels"]) == keys
    labelled = {step: found for item in out.state["labels"].values() for step, found in item["steps"].items()}
    assert {step: [item["error_type"] for item in found] for step, found in labelled.items()} == {
        str(at): [habit] for at, habit in enumerate(HABITS, 1)
    }


async def test_prompts_of_one_trial_differ_in_their_last_line_alone(synthesize: Synthesize) -> None:
    out = await synthesize([trial_of("Ulm", 1, HABITS)], steps_per_call=2)
    one, other = (shown(seen).rstrip().splitlines() for seen in out.asked("StepLabels"))
    assert one[:-1] == other[:-1]
    assert {one[-1], other[-1]} == {"1, 2", "3, 4"}


async def test_successful_trials_of_a_failed_task_are_labelled_and_tasks_without_failures_are_not(
    synthesize: Synthesize,
) -> None:
    right = trial_of("Ulm", 2, [])
    steps = trial_of("Ulm", 2, ["wrong_unit"]).trajectory.steps
    right = right.model_copy(update={"trajectory": right.trajectory.model_copy(update={"steps": steps})})
    out = await synthesize([trial_of("Ulm", 1, ["wrong_unit"]), right, trial_of("Bern", 1, [])])
    assert sorted(out.state["labels"]) == ["t1.1:1-1", "t1.2:1-1"]


async def test_a_long_trial_is_shown_around_the_steps_in_question(synthesize: Synthesize) -> None:
    trial = trial_of("Ulm", 1, ["wrong_unit"])
    step = trial.trajectory.steps[0].model_copy(update={"planning": "word " * 2000})
    steps = tuple(step.model_copy(update={"number": number}) for number in range(1, 301))
    long = trial.trajectory.model_copy(update={"steps": steps})
    out = await synthesize([trial.model_copy(update={"trajectory": long})], steps_per_call=2)
    text = next(shown(seen) for seen in out.asked("StepLabels") if shown(seen).endswith("\n151, 152\n"))
    assert len(text) < PROMPT_CHARS
    assert "Of the 300 steps 2 are shown whole" in text
    assert "\nstep 150: go" in text
    assert "\nStep 151\n" in text
