"""The distiller's and the judge's prompts and reply schemas, against the files in golden/distiller."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from pydantic import BaseModel

from forethought.models.types import Message, reply_spec
from forethought.nodes.distiller.messages import (
    Case,
    aggregation_messages,
    diagnosis_messages,
    pattern_messages,
)
from forethought.nodes.distiller.runs import TaskRuns
from forethought.prompts.distill_replies import Aggregation, ComparativeDiagnosis, PatternSet
from forethought.state.distiller import DistillerContext, Entry, GrownError
from forethought.trajectories.show import PROMPT_CHARS
from tests.support.distilling import task_runs
from tests.support.golden import check_golden
from tests.support.strict_subset import gemini_faults, openai_faults

GOLDEN = Path(__file__).with_name("golden") / "distiller"
REPLIES: dict[str, type[BaseModel]] = {
    "ComparativeDiagnosis": ComparativeDiagnosis,
    "Aggregation": Aggregation,
    "PatternSet": PatternSet,
}


ENTRY = Entry(
    key="t1.1",
    task="t1",
    error_type="first_hit",
    description="The plan settles on a first hit.",
    impact="Another candidate was right.",
    avoided="All candidates were compared.",
    failure_evidence=[{"run": "F1", "step": 1, "quote": "take the one that the page names"}],
    success_evidence=[{"run": "S1", "step": 1, "quote": "compare all of the years"}],
)
ERROR = GrownError(name="first_hit", description="Plans that stop early.", entries=["t1.1", "t2.1"])
CONTEXT = DistillerContext()


CASES: dict[str, Callable[[], Sequence[Message]]] = {
    "distill_diagnose": lambda: diagnosis_messages(task_runs("fs"), CONTEXT),
    "distill_aggregate": lambda: aggregation_messages(ENTRY, {"first_hit": ERROR}),
    "distill_aggregate_first": lambda: aggregation_messages(ENTRY, {}),
    "distill_patterns": lambda: pattern_messages(ERROR, [Case(1, ENTRY, task_runs("ffs"))], CONTEXT),
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
    one, other = diagnosis_messages(task_runs("fs"), CONTEXT), diagnosis_messages(task_runs("ffss"), CONTEXT)
    assert one[0] == other[0]
    assert aggregation_messages(ENTRY, {})[0] == aggregation_messages(ENTRY, {"first_hit": ERROR})[0]


def test_long_runs_are_cut_until_they_fit_and_say_so() -> None:
    whole = task_runs("ffss")
    step = whole.trajectories["F1"].steps[0]
    steps = tuple(
        step.model_copy(update={"number": number, "observation": "word " * 2000}) for number in range(1, 301)
    )
    long = {
        label: trajectory.model_copy(update={"steps": steps})
        for label, trajectory in whole.trajectories.items()
    }
    text = diagnosis_messages(TaskRuns("t1", whole.task, whole.runs, long), CONTEXT)[1].text
    assert len(text) < PROMPT_CHARS * 1.1
    assert "in one line each, cut where it says so" in text
    assert "characters left out" in text
