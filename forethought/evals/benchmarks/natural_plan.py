"""NATURAL PLAN: trips, meetings with friends and meetings in calendars, planned in words (Zheng et al. 2024).

SAMULE reports it. The answer is a plan in the words of the examples, and is scored by the functions of the
user's checkout (environments/checkouts/natural_plan.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from forethought.evals.benchmarks.reading import Source, check_unique, choice, find, json_of, row_of
from forethought.evals.environments.checkouts.natural_plan import SCRIPTS
from forethought.evals.environments.process import ask_checkout
from forethought.evals.types import Attempt, Benchmark, Sample, Score, Services

SOURCE = Source(
    "Clone https://github.com/google-deepmind/natural-plan (code Apache 2.0, data CC BY 4.0), and give its "
    "folder"
)
TASKS = tuple(SCRIPTS)
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


class _Row(BaseModel):
    prompt_0shot: str = Field(min_length=1)
    prompt_5shot: str = Field(min_length=1)


class _Trip(_Row):
    cities: str
    durations: str
    num_cities: int


class _Meeting(_Row):
    golden_plan: list[str]
    num_people: int
    constraints: list[list[str | int]] = Field(min_length=1)
    dist_matrix: dict[str, dict[str, int]]


class _Calendar(_Row):
    golden_plan: str
    num_people: int
    num_days: int


_ROWS: Mapping[str, type[_Row]] = {"trip": _Trip, "meeting": _Meeting, "calendar": _Calendar}
_GROUPS = {"num_cities": "cities", "num_people": "people", "num_days": "days"}


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
        verdict = await asyncio.to_thread(_judge, sample, attempt.answer)
        return Score({"solve_rate": float(verdict["solved"])}, verdict["explanation"])

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

    def references(self, sample: Sample) -> Sequence[str]:
        """The golden plan; of a trip, the stays in their order."""
        target = sample.target
        if "golden_plan" in target:
            plan = target["golden_plan"]
            return (plan if isinstance(plan, str) else " ".join(plan),)
        stays = zip(target["cities"].split("**"), target["durations"].split("**"), strict=False)
        return ("; then ".join(f"{city} for {days} days" for city, days in stays),)

    def floor(self, sample: Sample) -> float | None:
        """Whether no plan at all counts as solved: where the golden plan of a meeting meets nobody."""
        return float(_judge(sample, "")["solved"])


def _judge(sample: Sample, answer: str) -> Mapping[str, Any]:
    verdict: Mapping[str, Any] = ask_checkout(
        "natural_plan",
        sample.data["checkout"],
        "judge",
        task=sample.groups["task"],
        row=sample.target,
        answer=answer,
    )
    return verdict


def _read(task: str, data: Path, shots: str) -> list[Sample]:
    find(data, (f"{SCRIPTS[task]}.py",), SOURCE)
    path = find(data, (_FILES[task],), SOURCE, ("data",))
    value = json_of(path, SOURCE)
    if not isinstance(value, dict) or not value:
        raise SOURCE.fault(str(path), "the file must contain a JSON object of examples by their ids")
    check_unique(list(value), path, SOURCE)
    rows = {id: row_of(_ROWS[task], item, f"{path}, {id}", SOURCE) for id, item in value.items()}
    return [
        Sample(
            id=id,
            task=row.prompt_5shot if shots == "5" else row.prompt_0shot,
            answer_format=ANSWER_FORMATS[task],
            target=row.model_dump(exclude={"prompt_0shot", "prompt_5shot"}),
            groups={
                "task": task,
                **{name: str(getattr(row, key)) for key, name in _GROUPS.items() if hasattr(row, key)},
            },
            data={"checkout": str(data.resolve())},
        )
        for id, row in rows.items()
    ]


BENCHMARK = NaturalPlan()
