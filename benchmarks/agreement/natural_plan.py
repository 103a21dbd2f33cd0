"""NATURAL PLAN's scores, on generated rows in the form of its data, with right, nearly right and odd answers.

The checkout is google-deepmind/natural-plan. Where its function for meetings fails (a person or place that is
unknown, a sentence that breaks off), ours ends the walk there.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import tempfile
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.agreement.comparison import Comparison, near_misses, official_module
from forethought.evals.benchmarks.natural_plan import BENCHMARK, judge_answer
from forethought.evals.environments.worker import stand_in

Json = dict[str, Any]
Official = Callable[[Json, str], bool]
ROWS = 300
_FILES = {"trip": "trip_planning", "meeting": "meeting_planning", "calendar": "calendar_scheduling"}
_CITIES = ["Rome", "Oslo", "Porto", "Split", "Lyon", "Vienna", "Reykjavik", "Zurich", "Krakow", "Dublin"]
_PLACES = ["Bayview", "Nob Hill", "Chinatown", "Fisherman's Wharf", "North Beach", "Golden Gate Park"]
_NAMES = ["Emily", "Joshua", "Nancy", "Stephanie", "David", "Kenneth", "Sarah", "Ronald"]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]


def _trip(rng: random.Random) -> tuple[Json, list[str]]:
    """A trip through three to seven cities, and answers to it."""
    stays = [(city, rng.randrange(2, 8)) for city in rng.sample(_CITIES, rng.randrange(3, 8))]
    plan = _trip_plan(stays)
    row = {
        "cities": "**".join(city for city, _ in stays),
        "durations": "**".join(str(days) for _, days in stays),
        "num_cities": len(stays),
        "golden_plan": plan,
    }
    others = [
        _trip_plan([stays[1], stays[0], *stays[2:]]),
        _trip_plan([(stays[0][0], stays[0][1] + 1), *stays[1:]]),
        _trip_plan([*stays, ("Bath", 3)]),
        plan.replace(stays[-1][0], f"New {stays[-1][0]}"),
        f"**Day 1-{'9' * 5000}:** Visit Rome.\n{plan}",
    ]
    return row, [*near_misses(plan, others, rng), *others]


def _trip_plan(stays: list[tuple[str, int]]) -> str:
    """A plan in the words of the data."""
    total = sum(days - 1 for _, days in stays) + 1
    lines = [f"Here is the trip plan for visiting the {len(stays)} European cities for {total} days:", ""]
    day = 1
    for at, (city, days) in enumerate(stays):
        if at:
            lines.append(f"**Day {day}:** Fly from {stays[at - 1][0]} to {city}.")
        lines.append(f"**Day {day}-{day + days - 1}:** Visit {city} for {days} days.")
        day += days - 1
    return "\n".join(lines)


def _calendar(rng: random.Random) -> tuple[Json, list[str]]:
    """A meeting of half an hour or an hour, and answers to it."""
    day, other = rng.sample(_DAYS, 2)
    start = rng.randrange(18, 33)
    a, b, c = (f"{half // 2}:{'30' if half % 2 else '00'}" for half in (start, start + 1, start + 3))
    golden = f"Here is the proposed time: {day}, {a} - {b} "
    row = {"num_people": 3, "num_days": 2, "golden_plan": golden}
    others = [
        f"{other}, {a} - {b}",
        f"{day}, {a} - {c}",
        f"**{day}**, {a} - {b}",
        f"{day} {a} - {b}",
        f"{day}, {a} \u2013 {b}",
        f"{day}, 0{a} - {b.split(':')[0]}:15",
        f"{day}, {'9' * 400}:00 - {b}",
    ]
    return row, [*near_misses(golden, others, rng), *others]


def _meeting(rng: random.Random) -> tuple[Json, list[str]]:
    """A day with one to five friends, and answers to it."""
    count = rng.randrange(1, 6)
    home, *places = rng.sample(_PLACES, count + 1)
    between = {a: {b: rng.randrange(5, 30) for b in (home, *places) if b != a} for a in (home, *places)}
    friends = []
    for name, place in zip(rng.sample(_NAMES, count), places, strict=True):
        start = rng.randrange(8 * 4, 17 * 4) * 15
        window = f"{_clock(start)} to {_clock(start + rng.randrange(4, 20) * 15)}"
        friends.append([name, place, window, rng.choice([15, 30, 60, 90])])
    steps = _walk(home, friends, between, rng)
    row = {
        "num_people": count,
        "constraints": [[home, "9:00AM"], *friends],
        "dist_matrix": between,
        "golden_plan": steps,
    }
    plan = " ".join(steps)
    others = [
        f"SOLUTION: {plan}",
        f"Here is my plan. {plan}",
        f"{plan} You fly home.",
        f"{plan} {steps[-1]}",
        f"{plan} You wait until 8:00AM. {steps[-1]}",
        f"You wait until noon. {plan}",
        f"{plan} You meet Zebulon for 15 minutes from 9:00AM to 9:15AM.",
        f"{steps[0]} You travel to Atlantis in 5 minutes and arrive at 9:05AM. {plan}",
        f"{steps[0]} You travel to {home} in 0 minutes and arrive at 9:00AM. {plan}",
        f"{plan} You meet",
        plan.replace(str(friends[0][0]), f"**{friends[0][0]}**"),
        plan.replace(" minutes and arrive", "0 minutes and arrive"),
        " ".join(rng.sample(steps, len(steps))),
    ]
    return row, [*near_misses(plan, others, rng), *others]


def _walk(home: str, friends: list[list[Any]], between: Json, rng: random.Random) -> list[str]:
    """The sentences of a plan that meets whoever can still be met, in a random order of friends."""
    now, place, steps = 9 * 60, home, [f"You start at {home} at 9:00AM."]
    for name, location, window, minutes in rng.sample(friends, len(friends)):
        start, end = (_minutes(part) for part in window.split(" to "))
        way = between[place][location]
        if max(now + way, start) + minutes > end:
            continue
        steps.append(f"You travel to {location} in {way} minutes and arrive at {_clock(now + way)}.")
        if start > now + way:
            steps.append(f"You wait until {_clock(start)}.")
        now, place = max(now + way, start) + minutes, location
        steps.append(f"You meet {name} for {minutes} minutes from {_clock(now - minutes)} to {_clock(now)}.")
    return steps


def _clock(minutes: int) -> str:
    return (datetime(1900, 1, 1) + timedelta(minutes=minutes)).strftime("%I:%M%p").lstrip("0")


def _minutes(clock: str) -> int:
    time = datetime.strptime(clock, "%I:%M%p")
    return time.hour * 60 + time.minute


def _official_meeting(official: Any) -> Official:
    def score(row: Json, answer: str) -> bool:
        place, start = row["constraints"][0]
        friends = official.process_constraints(row["constraints"][1:])

        def met(steps: list[str]) -> int:
            with contextlib.redirect_stdout(io.StringIO()):
                return int(official.validator_from_text(steps, friends, place, start, row["dist_matrix"]))

        return met(official.parse_text_plan(answer)) == met(row["golden_plan"])

    return score


def compare(natural_plan: Path) -> Iterable[Comparison]:
    """Both scorers on all answers to all rows; the rows go through a file and the benchmark's own reader."""
    stand_in(quiet=("absl",))
    code: dict[str, Any] = {
        task: official_module(natural_plan / f"evaluate_{file}.py", f"evaluate_{file}")
        for task, file in _FILES.items()
    }
    scores: dict[str, Official] = {
        "trip": lambda row, answer: bool(
            code["trip"].compute_example_score(
                row["cities"], row["durations"], code["trip"].parse_response(answer)
            )
        ),
        "meeting": _official_meeting(code["meeting"]),
        "calendar": lambda row, answer: bool(
            code["calendar"].compute_solve_rate([answer], [row["golden_plan"]])
        ),
    }
    for task, generate in (("trip", _trip), ("meeting", _meeting), ("calendar", _calendar)):
        found, rng = Comparison(f"NATURAL PLAN, {task}"), random.Random(0)
        rows = {f"{task}_{number}": generate(rng) for number in range(ROWS)}
        with tempfile.TemporaryDirectory() as folder:
            prompts = {"prompt_0shot": "TASK: -", "prompt_5shot": "TASK: -"}
            text = json.dumps({id: {**row, **prompts} for id, (row, _) in rows.items()})
            (Path(folder) / f"{_FILES[task]}.json").write_text(text, "utf-8")
            samples = {sample.id: sample for sample in BENCHMARK.samples(Path(folder), {"task": task})}
        for id, (row, answers) in rows.items():
            for answer in answers:
                ours, _ = judge_answer(samples[id], answer)
                try:
                    found.add(scores[task](row, answer), ours, f"... {answer[-100:]}")
                except (KeyError, IndexError, ValueError) as error:
                    name = type(error).__name__
                    found.add(name, ours, f"... {answer[-100:]}", f"the official function fails with {name}")
        yield found
