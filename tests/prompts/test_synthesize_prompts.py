"""The synthesizer's prompts and reply schemas, against the files in golden/synthesizer."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from pydantic import BaseModel

from forethought.models.types import Message, reply_spec
from forethought.nodes.synthesizer.messages import (
    Tried,
    error_messages,
    label_messages,
    merge_messages,
    reflect_messages,
    type_messages,
)
from forethought.prompts.synthesize_replies import (
    MergedReflection,
    StepLabels,
    TaxonomyGrowth,
    TrialReflection,
    TypeReflection,
)
from forethought.state.synthesizer import (
    ErrorReflection,
    ErrorType,
    Finding,
    SynthesizerContext,
    TaskRecord,
    TrialRecord,
)
from forethought.trajectories.show import PROMPT_CHARS
from forethought.trajectories.types import TrajectoryStep
from tests.support.golden import check_golden
from tests.support.strict_subset import gemini_faults, openai_faults
from tests.support.synthesizing import task_of, trial_of

GOLDEN = Path(__file__).with_name("golden") / "synthesizer"
CONTEXT = SynthesizerContext()
TASK = TaskRecord(task=task_of("Ulm").task, task_id="ulm")
TAXONOMY = [ErrorType(name="wrong_unit", definition="A figure is given in another unit.", task="t1")]
MACRO = ErrorReflection(reflection="Units are taken over unread. Read the scale.", cites=["Ulm-1", "Bern-1"])
REPLIES: dict[str, type[BaseModel]] = {
    model.__name__: model
    for model in (TrialReflection, TaxonomyGrowth, StepLabels, TypeReflection, MergedReflection)
}


def tried(habits: Sequence[str] = ("wrong_unit", "blind_packing"), number: int = 1) -> Tried:
    """A trial with its trajectory."""
    loaded = trial_of("Ulm", number, habits)
    trajectory = loaded.trajectory
    record = TrialRecord(
        task="t1",
        number=number,
        id=trajectory.id,
        outcome=loaded.reference.outcome,
        reason="",
        background="order.pdf (application/pdf, 900 bytes)" if number == 1 else "",
        stored="",
        steps=[step.number for step in trajectory.steps],
    )
    return record, trajectory


CASES: dict[str, Callable[[], Sequence[Message]]] = {
    "synthesize_reflect": lambda: reflect_messages(TASK, tried(), ["37.5 </reference> kg"], CONTEXT),
    "synthesize_reflect_bare": lambda: reflect_messages(TASK, tried(number=2), [], CONTEXT),
    "synthesize_types": lambda: type_messages(TASK, [tried(), tried((), 2)], TAXONOMY, [], CONTEXT),
    "synthesize_types_first": lambda: type_messages(TASK, [tried()], [], [], CONTEXT),
    "synthesize_types_reference": lambda: type_messages(TASK, [tried()], TAXONOMY, ["37.5 kg"], CONTEXT),
    "synthesize_label": lambda: label_messages(TASK, tried(), [1, 2], TAXONOMY, "Pounds.", [], CONTEXT),
    "synthesize_label_reference": lambda: label_messages(
        TASK, tried(), [2], TAXONOMY, "", ["37.5 kg"], CONTEXT
    ),
    "synthesize_error": lambda: error_messages(
        TAXONOMY[0], [(TASK, tried(), {1: "Pounds were given."})], CONTEXT
    ),
    "synthesize_merge": lambda: merge_messages(
        TASK,
        "Step 1 weighed in pounds.",
        {1: [Finding(error_type="wrong_unit", critique="Pounds </step_critique> were given.")]},
        {"wrong_unit": MACRO},
    ),
    "synthesize_merge_bare": lambda: merge_messages(TASK, "", {}, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_prompt(name: str) -> None:
    text = "\n".join(f"######## {message.role}\n{message.text}" for message in CASES[name]())
    check_golden(GOLDEN / f"{name}.txt", text)


@pytest.mark.parametrize("name", REPLIES)
def test_schema(name: str) -> None:
    spec = reply_spec(REPLIES[name])
    check_golden(GOLDEN / f"{name}.json", json.dumps(spec.schema, indent=1, ensure_ascii=False) + "\n")
    assert spec.strict
    assert openai_faults(spec.schema) == []
    assert gemini_faults(spec.schema) == []


def test_there_is_no_golden_file_that_nothing_checks() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(CASES) | set(REPLIES)


def test_the_fixed_part_comes_first_and_does_not_change() -> None:
    heads = {name: CASES[name]()[0] for name in CASES}
    for name, head in heads.items():
        assert head == heads["_".join(name.split("_")[:2])]


def test_a_long_trial_is_shown_around_the_steps_in_question() -> None:
    record, trajectory = tried()
    steps = tuple(
        TrajectoryStep(number=number, action=f"go {number}", observation="word " * 2000)
        for number in range(1, 301)
    )
    long = trajectory.model_copy(update={"steps": steps})
    text = label_messages(TASK, (record, long), [150, 151], TAXONOMY, "", [], CONTEXT)[1].text
    assert len(text) < PROMPT_CHARS
    assert "Of the 300 steps 2 are shown whole" in text
    assert "\nstep 149: go 149" in text
    assert "\nStep 150\n" in text
