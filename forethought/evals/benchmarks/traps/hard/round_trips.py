"""Two fitters' day: who visits which customers, and in which order, for the most money."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from forethought.evals.benchmarks.traps.exercise import PEOPLE, TOWNS, Exercise, hard
from forethought.evals.benchmarks.traps.hard.plan import Facts, Plan, best_split
from forethought.evals.benchmarks.traps.office import clock, csv_file, text_file, word_file

CUSTOMERS = (*TOWNS, "Kalmar", "Lecce", "Mainz", "Namur", "Olbia", "Parma", "Quimper")
BASE, NOON, LATEST_LUNCH, LUNCH, LATE, REPORT = "Depot", 690, 810, 30, 900, 15
Times = dict[bool, int]
"""The earliest end of a visit, with lunch (True) or without it (False)."""


def worth(plan: Plan, facts: Facts) -> int | None:
    """The euros of the day, or None if it cannot be done."""
    with_device = [owner for owner, towns in enumerate(plan) if set(towns) & set(facts["device"])]
    days = [_worth_of(towns, owner, facts) for owner, towns in enumerate(plan)]
    return None if len(with_device) > 1 or None in days else sum(day or 0 for day in days)


def _worth_of(towns: Sequence[str], owner: int, facts: Facts) -> int | None:
    here, times = BASE, {False: facts["hours"][owner][0]}
    for at, town in enumerate(towns):
        times, here = _visit(times, here, town, towns[:at], owner, facts), town
    return (
        sum(facts["jobs"][town]["euros"] for town in towns) if _is_home(times, here, owner, facts) else None
    )


def _is_home(times: Times, here: str, owner: int, facts: Facts) -> bool:
    """Whether the day can end after the last visit; a day without visits needs no lunch."""
    if here == BASE:
        return True
    return True in times and times[True] + facts["minutes"][here][BASE] <= facts["hours"][owner][1]


def _visit(times: Times, here: str, town: str, before: Sequence[str], owner: int, facts: Facts) -> Times:
    """The times after one more visit, and after lunch behind it; {} if it cannot be made."""
    job, done = facts["jobs"][town], dict[bool, int]()
    if (job["gas"] and owner == 1) or job["after"] not in ("", *before):
        return done
    for eaten, time in times.items():
        begin = max(time + facts["minutes"][here][town], job["opens"])
        if begin <= job["closes"]:
            done[eaten] = begin + job["takes"] + (REPORT if begin >= LATE else 0)
    if done.get(False, LATEST_LUNCH + 1) <= LATEST_LUNCH:
        done[True] = min(done.get(True, 10_000), max(done[False], NOON) + LUNCH)
    return done


def _days(owner: int, facts: Facts) -> list[int]:
    """The euros of each set of customers; 0 if one fitter cannot visit all of them."""
    names = facts["names"]
    worths = [0] * (1 << len(names))
    reached: dict[tuple[int, str], tuple[Times, tuple[str, ...]]]
    reached = {(0, BASE): ({False: facts["hours"][owner][0]}, ())}
    while reached:
        following: dict[tuple[int, str], tuple[Times, tuple[str, ...]]] = {}
        for (mask, here), (times, before) in reached.items():
            if _is_home(times, here, owner, facts):
                worths[mask] = sum(facts["jobs"][town]["euros"] for town in before)
            for n, town in enumerate(names):
                if not mask >> n & 1 and (done := _visit(times, here, town, before, owner, facts)):
                    key = (mask | 1 << n, town)
                    known = following.get(key, ({}, ()))[0]
                    earliest = {
                        e: min(known.get(e, 10_000), done.get(e, 10_000)) for e in known.keys() | done.keys()
                    }
                    following[key] = (earliest, (*before, town))
        reached = following
    return worths


def best(facts: Facts) -> int:
    """The most that any day brings."""
    device = sum(1 << facts["names"].index(town) for town in facts["device"])
    first, second = _days(0, facts), _days(1, facts)
    without = [[0 if mask & device else worth for mask, worth in enumerate(days)] for days in (first, second)]
    return max(best_split(first, without[1]), best_split(without[0], second))


def _facts(rng: random.Random) -> Mapping[str, Any]:
    towns = CUSTOMERS[: rng.randrange(14, 18)]
    spots = {name: (rng.randrange(100), rng.randrange(100)) for name in (BASE, *towns)}
    minutes = {
        a: {
            b: 5 * round(1 + (abs(x - u) + abs(y - v)) / 10 + rng.random())
            for b, (u, v) in spots.items()
            if b != a
        }
        for a, (x, y) in spots.items()
    }
    jobs = {}
    for town in towns:
        takes, opens = rng.randrange(6, 15) * 5, rng.choice((420, 480, 540, 600, 660, 720, 780))
        closes, euros = opens + rng.choice((90, 150, 240, 360)), takes * 2 + rng.randrange(4, 16) * 10
        jobs[town] = {
            "takes": takes,
            "opens": opens,
            "closes": closes,
            "euros": euros,
            "gas": False,
            "after": "",
        }
    *gas, needs, part, one, other, third = rng.sample(towns, 9)
    for town in gas:
        jobs[town]["gas"] = True
    jobs[needs]["after"] = part
    owners = [name.split()[0] for name in rng.sample(PEOPLE, 2)]
    hours = [[450, 1_005], [480, 1_050]]
    facts = {"names": list(towns), "owners": owners, "hours": hours, "minutes": minutes, "jobs": jobs}
    return {**facts, "device": [one, other, third]}


@hard
def round_trips(rng: random.Random) -> Exercise:
    """Some fifteen customers and two fitters."""
    facts = _facts(rng)
    first, second = facts["owners"]
    (early, home), (late, back) = facts["hours"]
    jobs, minutes = facts["jobs"], facts["minutes"]
    orders = [
        (
            town,
            job["takes"],
            f"{clock(job['opens'])} to {clock(job['closes'])}",
            "gas" if job["gas"] else "",
            job["euros"],
        )
        for town, job in jobs.items()
    ]
    rules = text_file(
        "# Rules for the day",
        f"{first} leaves the depot at {clock(early)} and is back there at {clock(home)} at the latest. "
        f"{second} leaves it at "
        f"{clock(late)} and is back at {clock(back)} at the latest. Each of them drives alone.",
        "At a customer's the work begins on arrival, or when it may begin if the fitter is there earlier. "
        "It cannot "
        "begin later than the order says. The fitter stays until the work is done.",
        f"Each has a lunch break of {LUNCH} minutes directly after one of the visits. It begins between "
        f"{clock(NOON)} "
        f"and {clock(LATEST_LUNCH)}; who is done before waits until {clock(NOON)}. No day with visits is "
        f"without lunch.",
        f"Work that begins at {clock(LATE)} or later takes {REPORT} minutes more, for the report.",
        "A customer is visited once or not at all, by one of the two. Those who are not visited pay nothing.",
        f"Only {first} may work on gas.",
    )
    needs = next(town for town, job in jobs.items() if job["after"])
    part, (one, other, third) = jobs[needs]["after"], facts["device"]
    notes = text_file(
        "# Notes of the office",
        f"{needs}: the spare part lies at the customer's in {part}. Only the fitter who has been in {part} "
        f"before can "
        f"work in {needs}.",
        f"{one}, {other} and {third} need the measuring device. There is one, in one of the two cars all "
        f"day: choose in "
        "which. The other fitter cannot go to these three.",
    )
    table = [(a, *("" if a == b else minutes[a][b] for b in minutes)) for a in minutes]
    head = ("Customer in", "Work takes (minutes)", "Work may begin", "Kind", "Pays (EUR)")
    return Exercise(
        f"Which customers do {first} and {second} visit tomorrow, and in which order, so that the day "
        f"brings as much "
        "money as possible?",
        files={
            "orders.docx": word_file("# Orders for tomorrow", [head, *orders]),
            "rules.md": rules,
            "notes.md": notes,
            "minutes-by-road.csv": csv_file(("from \\ to", *minutes), table),
        },
        answer_format=f"{first}: towns in the order of the visits; {second}: towns in the order of the "
        f"visits.",
        facts=facts,
    )
