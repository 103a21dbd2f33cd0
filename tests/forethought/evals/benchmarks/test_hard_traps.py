"""Hard traps: the rules decide the worth of a plan, and the search agrees with trying every plan."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import pytest

from forethought.evals.benchmarks.traps.benchmark import BENCHMARK
from forethought.evals.benchmarks.traps.hard import evenings, round_trips
from forethought.evals.benchmarks.traps.hard.plan import Facts, Plan, best_split, plan_in, verdict
from forethought.evals.types import DataError
from tests.support.answers import score


def trips(seed: str, towns: int) -> dict[str, Any]:
    """A day with the first customers of a drawn one."""
    facts = dict(round_trips.round_trips(random.Random(seed)).facts)
    return {**facts, "names": facts["names"][:towns], "device": facts["names"][1:3]}


def concert(seed: str, pieces: int) -> dict[str, Any]:
    """Two evenings with the first pieces of a drawn task, and no room for all of them."""
    facts = dict(evenings.evenings(random.Random(seed)).facts)
    limits = [{**limit, "minutes": limit["minutes"] // 3, "eur": 700} for limit in facts["limits"]]
    return {**facts, "names": facts["names"][:pieces], "limits": limits}


def splits(names: list[str]) -> Iterator[Plan]:
    """Every two disjoint sets of names, in the given order."""
    for size in range(len(names) + 1):
        for one in combinations(names, size):
            rest = [name for name in names if name not in one]
            yield from ((one, other) for n in range(len(rest) + 1) for other in combinations(rest, n))


def test_the_best_day_is_what_trying_every_order_finds() -> None:
    for seed in range(4):
        facts = trips(str(seed), 5)
        tried = [
            worth
            for first, second in splits(facts["names"])
            for one in permutations(first)
            for other in permutations(second)
            if (worth := round_trips.worth((one, other), facts)) is not None
        ]
        assert round_trips.best(facts) == max(tried) > 0


def test_the_best_evenings_are_what_trying_every_choice_finds() -> None:
    for seed in range(4):
        facts = concert(str(seed), 7)
        tried = [
            worth for plan in splits(facts["names"]) if (worth := evenings.worth(plan, facts)) is not None
        ]
        assert evenings.best(facts) == max(tried) > 0


def test_two_disjoint_sets_are_worth_the_most_together() -> None:
    draw = random.Random(1)
    first, second = ([0, *(draw.randrange(99) for _ in range(15))] for _ in range(2))
    tried = max(first[a] + second[b] for a in range(16) for b in range(16) if not a & b)
    assert best_split(first, second) == tried


def day(**changes: Any) -> dict[str, Any]:
    """A fitter's day with three customers, half an hour from everything."""
    jobs = {
        town: {"takes": 60, "opens": 480, "closes": 1_000, "euros": 100, "gas": False, "after": ""}
        for town in ("Aarhus", "Bergen", "Dijon")
    }
    for town, change in changes.items():
        jobs[town] |= change
    places = ("Depot", *jobs)
    minutes = {a: {b: 30 for b in places if b != a} for a in places}
    hours = [[450, 1_005], [480, 1_050]]
    drawn = {"jobs": jobs, "minutes": minutes, "hours": hours, "device": []}
    return {"names": list(jobs), "owners": ["Bo", "Ewa"], **drawn}


A, B, D = "Aarhus", "Bergen", "Dijon"


@pytest.mark.parametrize(
    ("changes", "first", "second", "worth"),
    [
        ({}, [A, B], [D], 300),  # Ewa is done at 9:30 and waits for lunch
        ({}, [A, B, D], [], 300),
        ({A: {"closes": 479}}, [A], [], None),
        ({A: {"opens": 810}}, [A], [], None),  # done at 14:30, too late for lunch
        ({A: {"opens": 750}}, [A], [], 100),
        ({A: {"gas": True}}, [A], [], 100),
        ({A: {"gas": True}}, [], [A], None),
        ({A: {"after": B}}, [A, B], [], None),
        ({A: {"after": B}}, [B, A], [], 200),
        ({A: {"after": B}}, [B], [A], None),
        ({B: {"opens": 899}}, [A, B], [], 200),  # back at 16:29
        ({B: {"opens": 900}}, [A, B], [], 200),  # with the report at 16:45
        ({B: {"opens": 901}}, [A, B], [], None),
    ],
)
def test_rules_of_the_day(
    changes: dict[str, Any], first: list[str], second: list[str], worth: int | None
) -> None:
    assert round_trips.worth((first, second), day(**changes)) == worth


def test_one_car_has_the_device() -> None:
    facts = {**day(), "device": [A, B]}
    assert round_trips.worth(([A, B], []), facts) == 200
    assert round_trips.worth(([A], [B]), facts) is None
    assert round_trips.best(facts) == 300


def evening(**changes: Any) -> dict[str, Any]:
    """Four pieces and no rule that binds."""
    names = ["Aurora", "Dawn", "Elegy", "Overture"]
    pieces = {
        n: {"minutes": 10, "eur": 100, "points": 20, "slow": False, "solo": "", "hire": ""} for n in names
    }
    for name, change in changes.items():
        pieces[name] |= change
    limits = [{"minutes": 40, "eur": 1_000, "absent": ""}, {"minutes": 40, "eur": 1_000, "absent": "Bo"}]
    hire = {"harp": 300, "organ": 400}
    rules: dict[str, Any] = {"apart": [], "needs": [], "together": [], "hire": hire, "saving": 50}
    return {"names": names, "owners": ["Friday", "Saturday"], "pieces": pieces, "limits": limits, **rules}


SLOW, SOLO = {"slow": True}, {"solo": "Bo"}


@pytest.mark.parametrize(
    ("facts", "friday", "saturday"),
    [
        (evening(), 60, 60),
        (evening(Aurora={"minutes": 21}), None, None),
        (evening(Aurora={"hire": "harp"}, Dawn={"hire": "harp"}), 60, 60),
        (evening(Aurora={"hire": "harp"}, Dawn={"hire": "organ"}), 60, 60),  # 950 euros
        (evening(Aurora={"hire": "harp", "eur": 151}, Dawn={"hire": "organ"}), None, None),
        (evening(Aurora=SOLO), 60, None),
        (evening(Aurora=SOLO, Dawn=SOLO, Elegy=SOLO), None, None),
        (evening(Aurora=SLOW, Dawn=SLOW), 52, 60),
        (evening(Aurora=SLOW, Dawn=SLOW, Elegy=SLOW), None, None),
        ({**evening(), "apart": [["Aurora", "Elegy"]]}, None, None),
        ({**evening(), "needs": [["Aurora", "Overture"]]}, None, None),
        ({**evening(), "needs": [["Overture", "Aurora"]]}, 60, 60),
        ({**evening(), "together": [["Aurora", "Dawn", 5], ["Dawn", "Overture", 9]]}, 65, 65),
    ],
)
def test_rules_of_an_evening(facts: Facts, friday: int | None, saturday: int | None) -> None:
    chosen = ["Aurora", "Dawn", "Elegy"]
    assert [evenings.points(chosen, number, facts) for number in (0, 1)] == [friday, saturday]


def test_the_overture_allows_a_third_slow_piece() -> None:
    facts = evening(Aurora=SLOW, Dawn=SLOW, Overture=SLOW)
    assert evenings.worth(([], ["Aurora", "Dawn", "Overture"]), facts) == 60


@pytest.mark.parametrize(
    "answer",
    [
        "Bo: Aarhus, Dijon; Ewa: Bergen",
        "bo: aarhus -> dijon\newa: bergen.",
        "**Ewa**\n1. Bergen\n\n**Bo**\n1. Aarhus\n2. Dijon",
        '{"Bo": ["Aarhus", "Dijon"], "Ewa": ["Bergen"]}',
    ],
)
def test_plans_are_read_in_their_usual_forms(answer: str) -> None:
    assert plan_in(answer, day()) == ([A, D], [B])


def test_only_a_best_plan_is_right() -> None:
    facts = day()
    judge = (facts, round_trips.worth, round_trips.best)
    assert (
        verdict("Bo: Aarhus, Bergen; Ewa: Dijon", *judge)
        == verdict("Ewa: Aarhus, Dijon, Bergen", *judge)
        == ""
    )
    assert "the best one 300" in verdict("Bo: Aarhus, Bergen", *judge)
    assert "breaks a rule" in verdict("Bo: Aarhus, Bergen, Dijon; Ewa: Dijon", *judge)
    assert verdict("", *judge)


async def test_the_hard_split(tmp_path: Path) -> None:
    samples = BENCHMARK.samples(tmp_path, {"split": "hard"})
    assert len(samples) == len({sample.id for sample in samples}) == 24
    assert {sample.groups["kind"] for sample in samples} == {"evenings", "round_trips"}
    again = BENCHMARK.samples(tmp_path / "again", {"split": "hard", "only": "round_trips", "variants": "1"})
    (same,) = [sample for sample in samples if sample.id == again[0].id]
    assert [path.read_bytes() for path in same.files] == [path.read_bytes() for path in again[0].files]
    assert BENCHMARK.builtin(same) == ("read_file",)
    nothing = await score(BENCHMARK, same, "I do not know.")
    assert nothing.values == {"right": 0.0}
    assert "the best one" in nothing.explanation
    with pytest.raises(DataError, match="choose one of small, hard"):
        BENCHMARK.samples(tmp_path, {"split": "harder"})
