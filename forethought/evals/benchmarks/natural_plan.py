"""NATURAL PLAN: trips, meetings with friends and meetings in calendars, planned in words (Zheng et al. 2024).

SAMULE reports it. The answer is a plan in the words of the examples, and is scored by the official rules.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from forethought.evals.benchmarks.natural_plan_calendar import read_slot
from forethought.evals.benchmarks.natural_plan_meeting import meetings, sentences
from forethought.evals.benchmarks.natural_plan_trip import read_stays, same_trip
from forethought.evals.benchmarks.reading import Source, check_unique, choice, find, json_of, row_of
from forethought.evals.types import Attempt, Benchmark, Sample, Score, Services

SOURCE = Source(
    "Get trip_planning.json, meeting_planning.json and calendar_scheduling.json from the folder data of "
    "https://github.com/google-deepmind/natural-plan (CC BY 4.0)"
)
TASKS = ("trip", "meeting", "calendar")
_FILES = {
    "trip": "trip_planning.json",
    "meeting": "meeting_planning.json",
    "calendar": "calendar_scheduling.json",
}
ANSWER_FORMATS = {
    "trip": "The whole plan. First a line that says how many cities the trip visits in how many days, in "
    "these words: Here is the trip plan for visiting the N European cities for M days: Then by turns a line "
    "for each stay and a line for each flight, such as: **Day 1-5:** Arriving in Rome and visiting Rome for "
    "5 days. **Day 5:** Fly from Rome to Oslo. **Day 5-9:** Visit Oslo for 5 days.",
    "meeting": "The whole plan as sentences of these four forms, and nothing else: You start at PLACE at "
    "9:00AM. You travel to PLACE in 7 minutes and arrive at 9:07AM. You wait until 3:45PM. You meet NAME for "
    "75 minutes from 3:45PM to 5:00PM.",
    "calendar": "One line in this form, without any markup: Here is the proposed time: Monday, 14:30 - 15:30",
}
Minutes = Annotated[int, Field(ge=0, le=24 * 60)]


class _Row(BaseModel):
    golden_plan: str | list[str]
    prompt_0shot: str = Field(min_length=1)
    prompt_5shot: str = Field(min_length=1)


class _Trip(_Row):
    cities: str
    durations: str
    num_cities: int


class _Meeting(_Row):
    num_people: int
    constraints: list[tuple[str, str] | tuple[str, str, str, Minutes]] = Field(min_length=1)
    dist_matrix: dict[str, dict[str, Minutes]]


class _Calendar(_Row):
    num_people: int
    num_days: int


_ROWS: Mapping[str, type[_Row]] = {"trip": _Trip, "meeting": _Meeting, "calendar": _Calendar}


class NaturalPlan(Benchmark):
    """See the module."""

    name = "natural-plan"
    title = "NATURAL PLAN"
    about = "1,600 trips, 1,000 days of meetings, 1,000 calendars; CC BY 4.0; SAMULE Table 1 (trip, meeting)"
    main_metric = "solve_rate"
    options: Mapping[str, str] = {
        "task": "all (default), trip, meeting or calendar",
        "shots": "5 (default): with five solved examples; or 0",
    }

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """See `Benchmark`."""
        task, shots = choice(options, "task", ("all", *TASKS)), choice(options, "shots", ("5", "0"))
        wanted = TASKS if task == "all" else (task,)
        return [sample for each in wanted for sample in _read(each, data, shots)]

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """1 for a plan that is solved by the official rules."""
        solved, why = judge_answer(sample, attempt.answer)
        return Score({"solve_rate": float(solved)}, why)

    def summary(self, scored: Sequence[tuple[Sample, Sequence[Score]]]) -> Mapping[str, float]:
        """The solve rate of each task, where there are several."""
        by_task: dict[str, list[float]] = {}
        for sample, scores in scored:
            by_task.setdefault(sample.groups["task"], []).extend(
                score.values["solve_rate"] for score in scores
            )
        return {
            f"solve_rate_{task}": sum(rates) / len(rates)
            for task, rates in by_task.items()
            if rates and len(by_task) > 1
        }

    def floor(self, sample: Sample) -> float | None:
        """Whether no plan at all counts as solved: where the golden plan of a meeting meets nobody."""
        return float(judge_answer(sample, "")[0])


def judge_answer(sample: Sample, answer: str) -> tuple[bool, str]:
    """Whether the answer is solved by the official rules of the sample's task, and why (not)."""
    target: Mapping[str, Any] = sample.target
    if sample.data["task"] == "trip":
        wanted = list(zip(target["cities"], target["days"], strict=True))
        return same_trip(answer, wanted), f"read: {read_stays(answer)}; golden: {wanted}"
    if sample.data["task"] == "calendar":
        read, golden = read_slot(answer), read_slot(target["golden"])
        return read == golden, f"read: {read}; golden: {golden}"
    met = meetings(sentences(answer), target["constraints"], target["dist_matrix"])
    return met == target["meetings"], f"meetings: {met}; golden plan: {target['meetings']}"


def _read(task: str, data: Path, shots: str) -> list[Sample]:
    path = find(data, (_FILES[task],), SOURCE, ("", "data"))
    value = json_of(path, SOURCE)
    if not isinstance(value, dict) or not value:
        raise SOURCE.fault(str(path), "the file must hold a JSON object of examples by their ids")
    samples = []
    for id, item in value.items():
        place = f"{path}, {id[:80]}"
        samples.append(_sample(task, id, row_of(_ROWS[task], item, place, SOURCE), shots, place))
    check_unique([sample.id for sample in samples], path, SOURCE)
    return samples


def _sample(task: str, id: str, row: _Row, shots: str, place: str) -> Sample:
    try:
        target, groups = _known(row)
    except ValueError as error:
        raise SOURCE.fault(place, str(error)) from error
    return Sample(
        id=id,
        task=row.prompt_5shot if shots == "5" else row.prompt_0shot,
        answer_format=ANSWER_FORMATS[task],
        target=target,
        groups={"task": task, **groups},
        data={"task": task},
    )


def _known(row: _Row) -> tuple[dict[str, Any], dict[str, str]]:
    """Target and groups of a row. Raises ValueError, one line, where the row cannot be scored."""
    target: dict[str, Any]
    if isinstance(row, _Trip):
        cities, days = ([part for part in text.split("**") if part] for text in (row.cities, row.durations))
        if (
            not cities
            or len(cities) != len(days)
            or not all(re.fullmatch(r"[0-9]{1,4}", day) for day in days)
        ):
            raise ValueError("cities and durations must be lists of the same length, parted by **")
        target = {"cities": cities, "days": [int(day) for day in days]}
        return target, {"cities": str(row.num_cities)}
    if isinstance(row, _Calendar):
        if read_slot(str(row.golden_plan)) is None:
            raise ValueError("golden_plan names no slot such as Monday, 14:30 - 15:30")
        return {"golden": row.golden_plan}, {"people": str(row.num_people), "days": str(row.num_days)}
    assert isinstance(row, _Meeting)
    start, *friends = [list(each) for each in row.constraints]
    if len(start) != 2 or any(len(each) != 4 for each in friends):
        raise ValueError(
            "constraints must be [place, time], then [name, place, times, minutes] for each friend"
        )
    constraints, steps = [start, *friends], row.golden_plan
    steps = sentences(steps) if isinstance(steps, str) else steps
    met = meetings(steps, constraints, row.dist_matrix)
    target = {"constraints": constraints, "dist_matrix": row.dist_matrix, "meetings": met}
    return target, {"people": str(row.num_people)}


BENCHMARK = NaturalPlan()
