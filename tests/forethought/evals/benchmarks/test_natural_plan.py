"""NATURAL PLAN: the official rules on plans right, wrong and odd. Agreement with the official code is
measured by benchmarks/agreement/natural_plan.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forethought.evals.benchmarks.natural_plan import ANSWER_FORMATS, BENCHMARK
from forethought.evals.benchmarks.natural_plan_calendar import read_slot
from forethought.evals.benchmarks.natural_plan_meeting import meetings, sentences
from forethought.evals.benchmarks.natural_plan_trip import read_stays, same_trip
from forethought.evals.types import DataError
from tests.support.answers import score, summary, write_json

PROMPTS = {"prompt_0shot": "TASK: plan.", "prompt_5shot": "Examples. TASK: plan. SOLUTION:"}
TRIP = """Here is the trip plan for visiting the 3 European cities for 9 days:

**Day 1-4:** Arriving in Rome and visiting Rome for 4 days.
**Day 4:** Fly from Rome to Oslo.
**Day 4-6:** Visit Oslo for 3 days.
**Day 6:** Fly from Oslo to Porto.
**Day 6-9:** Visit Porto for 4 days."""
STAYS = [("Rome", 4), ("Oslo", 3), ("Porto", 4)]
STEPS = [
    "You start at Bayview at 9:00AM.",
    "You travel to Nob Hill in 20 minutes and arrive at 9:20AM.",
    "You wait until 10:00AM.",
    "You meet Ann for 60 minutes from 10:00AM to 11:00AM.",
    "You travel to Presidio in 10 minutes and arrive at 11:10AM.",
    "You meet Ben for 15 minutes from 11:10AM to 11:25AM.",
]
TOLD = " ".join(STEPS)
DISTANCES = {
    "Bayview": {"Nob Hill": 20, "Presidio": 30},
    "Nob Hill": {"Bayview": 20, "Presidio": 10},
    "Presidio": {"Bayview": 30, "Nob Hill": 10},
}
CONSTRAINTS = [
    ["Bayview", "9:00AM"],
    ["Ann", "Nob Hill", "10:00AM to 1:00PM", 60],
    ["Ben", "Presidio", "9:00AM to 11:30AM", 15],
]
SLOT = "Here is the proposed time: Monday, 14:30 - 15:30 "
ROWS: dict[str, dict[str, Any]] = {
    "trip": {
        "golden_plan": TRIP,
        "cities": "Rome**Oslo**Porto",
        "durations": "4**3**4",
        "num_cities": "3",
        **PROMPTS,
    },
    "meeting": {
        "golden_plan": STEPS,
        "constraints": CONSTRAINTS,
        "dist_matrix": DISTANCES,
        "num_people": 2,
        **PROMPTS,
    },
    "calendar": {"golden_plan": SLOT, "num_people": 3, "num_days": 1, **PROMPTS},
}
FILES = {"trip": "trip_planning", "meeting": "meeting_planning", "calendar": "calendar_scheduling"}


def place(tmp_path: Path, task: str = "", **change: Any) -> Path:
    """A folder as the repository's, with the row of `task` changed."""
    for name, file in FILES.items():
        row = {**ROWS[name], **(change if name == task else {})}
        write_json(tmp_path / "data" / f"{file}.json", {f"{file}_example_0": row})
    return tmp_path


async def test_golden_plans_are_solved_and_silence_is_not(tmp_path: Path) -> None:
    samples = BENCHMARK.samples(place(tmp_path), {})
    golden = [TRIP, "SOLUTION: " + TOLD, SLOT]
    assert [(await score(BENCHMARK, *pair)).values for pair in zip(samples, golden, strict=True)] == [
        {"solve_rate": 1.0}
    ] * 3
    assert [BENCHMARK.floor(sample) for sample in samples] == [0.0, 0.0, 0.0]
    assert await summary(BENCHMARK, [(samples[0], TRIP), (samples[1], ""), (samples[2], SLOT)]) == {
        "solve_rate_trip": 1.0,
        "solve_rate_meeting": 0.0,
        "solve_rate_calendar": 1.0,
    }
    assert await summary(BENCHMARK, [(samples[0], TRIP)]) == {}


def test_groups_shots_and_formats(tmp_path: Path) -> None:
    samples = BENCHMARK.samples(place(tmp_path), {"shots": "0"})
    assert [dict(sample.groups) for sample in samples] == [
        {"task": "trip", "cities": "3"},
        {"task": "meeting", "people": "2"},
        {"task": "calendar", "people": "3", "days": "1"},
    ]
    assert {sample.task for sample in samples} == {PROMPTS["prompt_0shot"]}
    (five,) = BENCHMARK.samples(tmp_path, {"task": "calendar"})
    assert five.task == PROMPTS["prompt_5shot"]
    assert five.answer_format == ANSWER_FORMATS["calendar"]


@pytest.mark.parametrize(
    ("plan", "stays"),
    [
        (TRIP, STAYS),
        (TRIP.replace("**", ""), STAYS),
        # Without the first line the end of the trip is not known: what follows belongs to the plan.
        (
            TRIP.split("\n", 2)[2] + "\n**Day 9:** Fly from Porto to Rome.\n**Day 9-10:** Visit Rome.",
            [*STAYS, ("Rome", 2)],
        ),
        (TRIP.replace("-", "\u2013"), []),
        (TRIP.replace("Porto", "New Porto"), [("Rome", 4), ("Oslo", 3), ("New", 4)]),
        ("", []),
    ],
)
def test_stays_of_a_trip(plan: str, stays: list[tuple[str, int]]) -> None:
    assert read_stays(plan) == stays


def test_a_trip_is_right_if_it_begins_with_the_golden_stays() -> None:
    assert same_trip(TRIP, STAYS)
    assert same_trip(TRIP, STAYS[:2])
    assert not same_trip(TRIP, [*STAYS, ("Split", 2)])
    assert not same_trip(TRIP, [STAYS[1], STAYS[0], STAYS[2]])
    assert not same_trip(TRIP.replace("Day 6:", "Day 5:"), STAYS)


@pytest.mark.parametrize(
    ("plan", "met"),
    [
        (TOLD, 2),
        (f"First I think. SOLUTION: {TOLD}", 2),
        (f"First I think. {TOLD}", 0),
        (f"{TOLD} You fly home.", 2),
        (TOLD.replace("20 minutes", "2 minutes"), 2),  # the minutes of a way are looked up
        (TOLD.replace("10:00AM. You meet", "9:59AM. You meet"), 0),
        (TOLD.replace("until 10:00AM", "until 9:20AM"), 0),
        (TOLD.replace("You wait until 10:00AM.", "You wait until 10:00AM. You wait until 10:00AM."), 0),
        (TOLD.replace("until 10:00AM", "until 11:30AM"), 1),
        (TOLD.replace("Nob Hill", "Presidio"), 0),
        (TOLD + " " + STEPS[-1], 2),
        # Where the official function fails, the walk ends.
        (f"{TOLD} You meet Zoe for 15 minutes.", 2),
        (f"{STEPS[0]} You meet Zoe for 15 minutes. {TOLD}", 0),
        (f"{STEPS[0]} You travel to Atlantis in 5 minutes. {TOLD}", 0),
        (f"{STEPS[0]} You wait. {TOLD}", 0),
        (TOLD.replace("Ann", "**Ann**"), 0),
        ("", 0),
    ],
)
def test_meetings_of_a_day(plan: str, met: int) -> None:
    assert meetings(sentences(plan), CONSTRAINTS, DISTANCES) == met


@pytest.mark.parametrize(
    ("answer", "slot"),
    [
        (SLOT, ("Monday", 14.5, 15.5)),
        ("**Monday, 14:30 - 15:30**", ("Monday", 14.5, 15.5)),
        ("**Monday**, 14:30 - 15:30", None),
        ("Monday, 14:30\u201315:30", None),
        ("Monday, 14:15 - 15:45", ("Monday", 14.0, 15.0)),
        ("Monday, 9:00 - 9:30 or Tuesday, 9:00 - 9:30", ("Monday", 9.0, 9.5)),
        ("", None),
    ],
)
def test_slots_of_a_calendar(answer: str, slot: tuple[str, float, float] | None) -> None:
    assert read_slot(answer) == slot


WILD = st.text() | st.lists(
    st.sampled_from(
        [*STEPS, *TRIP.split("\n"), SLOT, "You meet ", "You travel to ", "You wait until 99:99XM", "."]
    )
).map("\n".join)


@given(WILD)
@settings(max_examples=150)
def test_any_answer_is_judged(answer: str) -> None:
    assert 0 <= meetings(sentences(answer), CONSTRAINTS, DISTANCES) <= 2
    assert all(isinstance(days, int) for _, days in read_stays(answer))
    read_slot(answer)


@pytest.mark.parametrize(
    ("task", "change", "message"),
    [
        ("trip", {"durations": "4**3"}, "trip_planning_example_0: cities and durations"),
        ("trip", {"prompt_5shot": ""}, "prompt_5shot"),
        ("meeting", {"constraints": [CONSTRAINTS[1]]}, "constraints must be"),
        ("meeting", {"constraints": [CONSTRAINTS[0], ["Ann", "Nob Hill", "noon", 5]]}, "'noon' is no time"),
        ("calendar", {"golden_plan": "**Monday**, 9:00 - 9:30"}, "golden_plan names no slot"),
    ],
)
def test_bad_rows_are_refused(tmp_path: Path, task: str, change: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as error:
        BENCHMARK.samples(place(tmp_path, task, **change), {})
    assert FILES[task] in str(error.value)
    assert "CC BY 4.0" in str(error.value)


async def test_a_day_on_which_nobody_can_be_met_is_solved_by_doing_nothing(tmp_path: Path) -> None:
    place(tmp_path, "meeting", golden_plan="SOLUTION: You start at Bayview at 9:00AM.")
    (sample,) = BENCHMARK.samples(tmp_path, {"task": "meeting"})
    assert BENCHMARK.floor(sample) == 1.0
