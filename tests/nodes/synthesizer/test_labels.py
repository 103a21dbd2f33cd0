"""Labels: each step of each trial, in stretches; a step that cannot be labelled costs no other its label."""

from __future__ import annotations

import pytest

from forethought.nodes.synthesizer.labels import labels_problem
from forethought.prompts.synthesize_replies import StepLabels
from tests.support.model_server import Answer, SeenRequest
from tests.support.synthesizing import HABITS, Reader, Synthesize, label, shown, trial_of


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([label(1)], "label step 2 too"),
        ([label(1), label(2), label(2)], "step 2 is labelled twice"),
        ([label(1), label(2), label(7)], "step 7 is not asked for"),
        ([label(1, "bad_luck"), label(2)], "bad_luck: not in the taxonomy, which has wrong_unit"),
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


async def test_a_step_that_cannot_be_labelled_costs_no_other_its_label(synthesize: Synthesize) -> None:
    def instead(seen: SeenRequest) -> Answer | None:
        if seen.reply_name != "StepLabels":
            return None
        asked = shown(seen).rstrip().splitlines()[-1].split(", ")
        return {"steps": [label(int(step), "bad_luck") for step in asked]} if "2" in asked else None

    out = await synthesize([trial_of("Ulm", 1, HABITS[:3])], Reader(instead))
    assert sorted(out.state["labels"]) == ["t1.1:1-1", "t1.1:3-3"]
    assert "bad_luck: not in the taxonomy" in out.state["problems"]["label_steps t1.1:2-2"]
    assert out.state["status"] == "synthesized"
