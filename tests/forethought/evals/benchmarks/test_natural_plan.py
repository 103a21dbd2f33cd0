"""NATURAL PLAN: its rows, and answers that are judged by the scripts of a checkout, here tiny ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forethought.evals.benchmarks.natural_plan import ANSWER_FORMATS, BENCHMARK
from forethought.evals.types import DataError
from tests.support.answers import score, summary, write_json

PROMPTS = {"prompt_0shot": "TASK: plan.", "prompt_5shot": "Examples. TASK: plan. SOLUTION:"}
STEPS = ["You start at Bayview at 9:00AM.", "You meet Ann for 60 minutes from 10:00AM to 11:00AM."]
ROWS: dict[str, dict[str, Any]] = {
    "trip": {"cities": "Rome**Oslo", "durations": "4**3", "num_cities": "2"},
    "meeting": {
        "golden_plan": STEPS,
        "constraints": [["Bayview", "9:00AM"], ["Ann", "Nob Hill", "10:00AM to 1:00PM", 60]],
        "dist_matrix": {"Bayview": {"Nob Hill": 20}},
        "num_people": 1,
    },
    "calendar": {"golden_plan": "Monday, 14:30 - 15:30", "num_people": 3, "num_days": 1},
}
FILES = {"trip": "trip_planning", "meeting": "meeting_planning", "calendar": "calendar_scheduling"}
SCRIPTS = {
    "trip": """
def parse_response(text):
    return [tuple(part.split(":")) for part in text.split()]


def compute_example_score(cities, durations, plan):
    return float(plan == list(zip(cities.split("**"), durations.split("**"))))
""",
    "meeting": """
def process_constraints(friends):
    return {name: minutes for name, _, _, minutes in friends}


def parse_text_plan(text):
    return [part.strip() + "." for part in text.split(".") if part.strip()]


def validator_from_text(steps, friends, place, start, distances):
    names = [step.split("meet ")[1].split(" for")[0] for step in steps if step.startswith("You meet")]
    print("what is printed is no answer")
    return len([friends[name] for name in names])
""",
    "calendar": """
def compute_solve_rate(answers, golden):
    return sum(map(str.__eq__, answers, golden)) / len(answers)
""",
}
FLAGS = 'from absl import app, flags\n\n_PATH = flags.DEFINE_string("data_path", "data.json", "the data")\n'
GOLDEN = {"trip": "Rome:4 Oslo:3", "meeting": " ".join(STEPS), "calendar": "Monday, 14:30 - 15:30"}


def place(tmp_path: Path, task: str = "", **change: Any) -> Path:
    """A checkout as the repository's, with the row of `task` changed."""
    for name, file in FILES.items():
        row = {**ROWS[name], **PROMPTS, **(change if name == task else {})}
        write_json(tmp_path / "data" / f"{file}.json", {f"{file}_example_0": row})
        (tmp_path / f"evaluate_{file}.py").write_text(FLAGS + SCRIPTS[name])
    return tmp_path


async def test_the_checkouts_scripts_judge(tmp_path: Path) -> None:
    samples = BENCHMARK.samples(place(tmp_path), {})
    for sample in samples:
        assert (await score(BENCHMARK, sample, GOLDEN[sample.groups["task"]])).values == {"solve_rate": 1.0}
        assert BENCHMARK.floor(sample) == 0.0
    wrong = await score(BENCHMARK, samples[0], "Rome:7")
    assert (wrong.values["solve_rate"], "('Rome', '7')" in wrong.explanation) == (0.0, True)
    assert await summary(BENCHMARK, [(samples[0], GOLDEN["trip"]), (samples[1], "")]) == {
        "solve_rate_trip": 1.0, "solve_rate_meeting": 0.0,
    }  # fmt: skip
    assert await summary(BENCHMARK, [(samples[0], GOLDEN["trip"])]) == {}


async def test_an_answer_at_which_the_official_function_stops_is_not_solved_and_that_is_said(
    tmp_path: Path,
) -> None:
    (sample,) = BENCHMARK.samples(place(tmp_path), {"task": "meeting"})
    got = await score(BENCHMARK, sample, "You meet Zoe for 15 minutes.")
    assert got.values == {"solve_rate": 0.0}
    assert got.explanation == "the official function fails with KeyError: 'Zoe'"


def test_groups_shots_and_formats(tmp_path: Path) -> None:
    samples = BENCHMARK.samples(place(tmp_path), {"shots": "0"})
    assert [dict(sample.groups) for sample in samples] == [
        {"task": "trip", "cities": "2"},
        {"task": "meeting", "people": "1"},
        {"task": "calendar", "people": "3", "days": "1"},
    ]
    assert {sample.task for sample in samples} == {PROMPTS["prompt_0shot"]}
    (five,) = BENCHMARK.samples(tmp_path, {"task": "calendar"})
    assert five.task == PROMPTS["prompt_5shot"]
    assert five.answer_format == ANSWER_FORMATS["calendar"]


@pytest.mark.parametrize(
    ("task", "change", "message"),
    [
        ("trip", {"durations": None}, "trip_planning_example_0: durations: Input should be a valid string"),
        ("meeting", {"prompt_5shot": ""}, "meeting_planning_example_0: prompt_5shot"),
    ],
)
def test_bad_rows_are_refused(tmp_path: Path, task: str, change: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as error:
        BENCHMARK.samples(place(tmp_path, task, **change), {})
    assert "CC BY 4.0" in str(error.value)


def test_a_folder_without_the_scripts_is_no_checkout(tmp_path: Path) -> None:
    (place(tmp_path) / "evaluate_trip_planning.py").unlink()
    with pytest.raises(DataError, match=r"no evaluate_trip_planning\.py in this folder\. Clone"):
        BENCHMARK.samples(tmp_path, {})


def test_the_golden_plan_is_the_reference_of_a_failed_training_try(tmp_path: Path) -> None:
    by_task = {
        task: BENCHMARK.references(BENCHMARK.samples(place(tmp_path / task, task), {"task": task})[0])
        for task in ROWS
    }
    assert by_task == {
        "trip": ("Rome for 4 days; then Oslo for 3 days",),
        "meeting": (" ".join(STEPS),),
        "calendar": ("Monday, 14:30 - 15:30",),
    }
