"""Rows in the form of NATURAL PLAN's data, and answers to them that are right, wrong or odd, from a seed.

Each generator gives a row and its answers as (kind, answer).
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

Json = dict[str, Any]
Answers = list[tuple[str, str]]
_CITIES = ["Rome", "Oslo", "Porto", "Split", "Lyon", "Vienna", "Reykjavik", "Zurich", "Krakow", "Dublin"]
_PLACES = [
    "Bayview",
    "Nob Hill",
    "Chinatown",
    "Fisherman's Wharf",
    "North Beach",
    "Golden Gate Park",
    "Presidio",
]
_NAMES = ["Emily", "Joshua", "Nancy", "Stephanie", "David", "Kenneth", "Sarah", "Ronald"]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]


def trip(rng: random.Random) -> tuple[Json, Answers]:
    """A trip through three to seven cities."""
    cities = rng.sample(_CITIES, rng.randrange(3, 8))
    stays = [(city, rng.randrange(2, 8)) for city in cities]
    lines = trip_lines(stays)
    row = {
        "cities": "**".join(cities),
        "durations": "**".join(str(days) for _, days in stays),
        "num_cities": str(len(cities)),
        **_prompts("\n".join(lines)),
    }
    swapped = [stays[1], stays[0], *stays[2:]]
    longer = [(stays[0][0], stays[0][1] + 1), *stays[1:]]
    head, *rest = lines
    at = rng.randrange(len(rest))
    answers = [
        ("as the golden plan", "\n".join(lines)),
        ("other order of cities", "\n".join(trip_lines(swapped))),
        ("one day too many", "\n".join(trip_lines(longer))),
        ("goes on after the last city", "\n".join(trip_lines([*stays, ("Bath", 3)]))),
        ("stops a city early", "\n".join(trip_lines(stays[:-1]))),
        ("an alternative after the plan", "\n".join([*lines, "Alternatively:", *trip_lines(swapped)[1:]])),
        ("the same without its first line", "\n".join([*rest, "Alternatively:", *trip_lines(swapped)[1:]])),
        ("a line missing", "\n".join([head, *rest[:at], *rest[at + 1 :]])),
        ("lines out of order", "\n".join([head, *rng.sample(rest, len(rest))])),
        ("no flights", "\n".join(line for line in lines if "Fly" not in line)),
        ("no days", "\n".join(line for line in lines if "Fly" in line)),
        ("dashes of print", "\n".join(lines).replace("-", "\u2013")),
        ("no bold", "\n".join(lines).replace("*", "")),
        ("all on one line", " ".join(lines)),
        ("two words for a city", "\n".join(lines).replace(cities[-1], f"New {cities[-1]}")),
        ("small letters", "\n".join(lines).lower()),
        ("a number of 5,000 digits", "\n".join([f"**Day 1-{'9' * 5000}:** Visit Rome.", *lines])),
        ("nothing", ""),
        ("prose", "There is no such trip: the flights do not allow it."),
    ]
    return row, answers


def trip_lines(stays: list[tuple[str, int]]) -> list[str]:
    """A plan in the words of the data."""
    total = sum(days - 1 for _, days in stays) + 1
    lines = [f"Here is the trip plan for visiting the {len(stays)} European cities for {total} days:", ""]
    day = 1
    for at, (city, days) in enumerate(stays):
        if at:
            lines.append(f"**Day {day}:** Fly from {stays[at - 1][0]} to {city}.")
        span = f"**Day {day}-{day + days - 1}:**"
        lines.append(
            f"{span} {'Visit' if at else f'Arriving in {city} and visiting'} {city} for {days} days."
        )
        day += days - 1
    return lines


def calendar(rng: random.Random) -> tuple[Json, Answers]:
    """A meeting of half an hour or an hour."""
    day, start = rng.choice(_DAYS), rng.randrange(18, 33)
    end = start + rng.choice([1, 2])
    a, b = _clock24(start), _clock24(end)
    golden = f"Here is the proposed time: {day}, {a} - {b} "
    row = {
        "num_people": rng.randrange(2, 8),
        "num_days": rng.randrange(1, 6),
        "duration": "1",
        **_prompts(golden),
    }
    other = rng.choice([name for name in _DAYS if name != day])
    answers = [
        ("as the golden plan", golden),
        ("another day", golden.replace(day, other)),
        ("an hour later", f"Here is the proposed time: {day}, {_clock24(start + 2)} - {_clock24(end + 2)}"),
        ("bold weekday", f"Here is the proposed time: **{day}**, {a} - {b}"),
        ("all in bold", f"**{day}, {a} - {b}**"),
        ("two proposals, the right one first", f"{day}, {a} - {b}, or {other}, {a} - {b}"),
        ("two proposals, the right one second", f"{other}, {a} - {b}, or {day}, {a} - {b}"),
        ("no comma", f"{day} {a} - {b}"),
        ("no weekday", f"{a} - {b}"),
        ("dash of print", f"{day}, {a} \u2013 {b}"),
        ("from ... to", f"{day}, from {a} to {b}"),
        ("twelve hours", f"{day}, {a} AM - {b} PM"),
        ("zero in front", f"{day}, 0{a} - 0{b}"),
        ("other minutes", f"{day}, {a.split(':')[0]}:15 - {b}"),
        ("seconds", f"{day}, {a}:00 - {b}:00"),
        ("small letters", f"{day.lower()}, {a} - {b}"),
        ("a date between", f"{day}, 3 June, {a} - {b}"),
        ("hours of 400 digits", f"{day}, {'9' * 400}:00 - {b}"),
        ("nothing", ""),
    ]
    return row, answers


def _clock24(halves: int) -> str:
    return f"{halves // 2}:{'30' if halves % 2 else '00'}"


def meeting(rng: random.Random) -> tuple[Json, Answers]:
    """A day with one to five friends."""
    count = rng.randrange(1, 6)
    home, *places = rng.sample(_PLACES, count + 1)
    names = rng.sample(_NAMES, count)
    between = {a: {b: rng.randrange(5, 30) for b in (home, *places) if b != a} for a in (home, *places)}
    friends = []
    for name, place in zip(names, places, strict=True):
        start = rng.randrange(8 * 4, 17 * 4) * 15
        window = f"{_clock12(start)} to {_clock12(start + rng.randrange(4, 20) * 15)}"
        friends.append([name, place, window, rng.choice([15, 30, 60, 90])])
    steps = _walk(home, friends, between, rng)
    row = {
        "num_people": count,
        "constraints": [[home, "9:00AM"], *friends],
        "dist_matrix": between,
        **_prompts(""),
        "golden_plan": steps,
    }
    return row, _plans(steps, friends, home, rng)


def _plans(steps: list[str], friends: list[list[Any]], home: str, rng: random.Random) -> Answers:
    at = rng.randrange(len(steps))
    name = str(friends[0][0])
    told = " ".join(steps)
    stranger = "You meet Zebulon for 15 minutes from 9:00AM to 9:15AM."
    return [
        ("as the golden plan", f"SOLUTION: {told}"),
        ("without SOLUTION", told),
        ("prose before SOLUTION", f"Let me think. That is all. SOLUTION:{told}"),
        ("prose instead of SOLUTION", f"Here is my plan. {told}"),
        ("a sentence missing", " ".join([*steps[:at], *steps[at + 1 :]])),
        ("sentences out of order", " ".join(rng.sample(steps, len(steps)))),
        ("the last sentence missing", " ".join(steps[:-1])),
        ("an impossible end", f"{told} You fly home."),
        ("an unknown person first", f"{steps[0]} {stranger} {' '.join(steps[1:])}"),
        ("an unknown person last", f"{told} {stranger}"),
        ("an unknown place", f"{steps[0]} You travel to Atlantis in 5 minutes and arrive at 9:05AM. {told}"),
        (
            "a way to where one is",
            f"{steps[0]} You travel to {home} in 0 minutes and arrive at 9:00AM. {told}",
        ),
        ("a person met twice", f"{told} {steps[-1]}"),
        ("a wait into the past", f"{told} You wait until 8:00AM. {steps[-1]}"),
        ("a time that is none", f"You wait until noon. {told}"),
        ("a time with a space", f"You wait until 9:30 AM. {told}"),
        ("broken off within a sentence", f"{told} You meet"),
        ("a way without a place", f"{told} You travel home."),
        ("names in bold", told.replace(name, f"**{name}**")),
        ("a list with bullets", "\n".join(f"* {step}" for step in steps)),
        ("small letters", told.lower()),
        ("minutes of the way made up", told.replace(" minutes and arrive", "0 minutes and arrive")),
        ("nothing", ""),
    ]


def _walk(home: str, friends: list[list[Any]], between: Json, rng: random.Random) -> list[str]:
    """The sentences of a plan that meets whoever can still be met, in a random order of friends."""
    now, place, steps = 9 * 60, home, [f"You start at {home} at 9:00AM."]
    for name, location, window, minutes in rng.sample(friends, len(friends)):
        start, end = (_minutes(part) for part in window.split(" to "))
        there = now + between[place][location]
        if max(there, start) + minutes > end:
            continue
        way = between[place][location]
        steps.append(f"You travel to {location} in {way} minutes and arrive at {_clock12(there)}.")
        if start > there:
            steps.append(f"You wait until {_clock12(start)}.")
        now, place = max(there, start) + minutes, location
        span = f"{_clock12(now - minutes)} to {_clock12(now)}"
        steps.append(f"You meet {name} for {minutes} minutes from {span}.")
    return steps


def _clock12(minutes: int) -> str:
    return (datetime(1900, 1, 1) + timedelta(minutes=minutes)).strftime("%I:%M%p").lstrip("0")


def _minutes(clock: str) -> int:
    time = datetime.strptime(clock, "%I:%M%p")
    return time.hour * 60 + time.minute


def _prompts(golden: str) -> Json:
    return {"golden_plan": golden, "prompt_0shot": "TASK: -", "prompt_5shot": "TASK: - SOLUTION: -"}
