"""Each constraint on plans that break it, and only it where that can be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from forethought.evals.benchmarks.travel_planner.commonsense import COMMONSENSE
from forethought.evals.benchmarks.travel_planner.hard import HARD, total_cost
from forethought.evals.benchmarks.travel_planner.plan import FIELDS, parse_plan
from forethought.evals.benchmarks.travel_planner.scoring import explanation, judge, micro_rates, values_of
from tests.support.travel import STATE, changed, good_plan, query, reference_sandbox

SANDBOX = reference_sandbox()
A, B = f"Aston({STATE})", f"Brill({STATE})"


def broken(plan: list[dict[str, Any]], **asked: Any) -> set[str]:
    """The constraints that are not met."""
    judged = judge(query(**asked), parse_plan(json.dumps(plan)), SANDBOX)
    both = {**judged.commonsense, **{f"hard_{name}": met for name, met in judged.hard.items()}}
    return {name for name, met in both.items() if not met}


def test_a_good_plan_meets_everything_and_costs_what_it_costs() -> None:
    plan = parse_plan(json.dumps(good_plan()))
    assert total_cost(query(), plan, SANDBOX) == 2 * (100 + 100) + 1200 + 4 * 100 + 2 * 300
    judged = judge(query(), plan, SANDBOX)
    values = values_of(query(), judged)
    assert (set(values.values()), explanation(judged)) == ({1.0}, "all constraints are met")
    assert {name for name in values if name.startswith("hard_")} == {"hard_budget", "hard_macro"}


COMMONSENSE_CASES: dict[str, tuple[list[dict[str, Any]], set[str]]] = {
    "a restaurant twice": (changed(4, dinner=f"Brill Table 1, {B}"), {"diverse_restaurants"}),
    "an attraction twice": (
        changed(2, attraction=f"Aston Museum 2, {A};Aston Museum 2, {A};"),
        {"diverse_attractions"},
    ),
    "what no semicolon ends is not looked at": (
        changed(2, attraction=f"Aston Museum 2, {A};Atlantis, X"),
        set(),
    ),
    "an invented restaurant": (changed(4, dinner=f"The Nowhere, {B}"), {"within_sandbox"}),
    "an invented attraction": (changed(4, attraction=f"The Nowhere, {B};"), {"within_sandbox"}),
    "an invented house": (changed(4, accommodation=f"The Nowhere, {B}"), {"within_sandbox"}),
    "an unknown flight": (
        changed(1, transportation=f"Flight Number: F0000009, from Hemsbach to {A}"),
        {"within_sandbox"},
    ),
    "a flight between other cities": (
        changed(1, transportation=f"Flight Number: F0000003, from Hemsbach to {A}"),
        {"within_sandbox"},
    ),
    "a flight written otherwise": (
        changed(1, transportation=f"flight number F0000001, from Hemsbach to {A}"),
        {"within_sandbox"},
    ),
    "a road that is not there": (changed(4, transportation=f"Taxi, from {B} to {A}"), {"within_sandbox"}),
    "any other transport is not looked up": (changed(4, transportation=f"Bus in {B}"), set()),
    "a house for too short": (changed(4, accommodation=f"Brill Long Stay, {B}"), {"minimum_nights_stay"}),
    "a car besides flights": (
        changed(3, transportation=f"Self-driving, from {A} to {B}, duration: 3 hours"),
        {"consistent_transportation"},
    ),
    "no transport on the first day": (
        changed(1, transportation="-"),
        {"consistent_transportation", "complete_information"},
    ),
    "a stay without dinner": (changed(4, dinner="-"), {"complete_information"}),
    "a day without a field": (changed(4, lunch=None), {"complete_information"}),
    "a night without a bed": (changed(4, accommodation="-"), {"complete_information"}),
    "a stay with nothing to see": (changed(4, attraction="-"), {"complete_information"}),
    "the journey does not return": (
        changed(5, current_city=B),
        {"reasonable_city_route", "complete_information"},
    ),
    "a meal elsewhere": (
        changed(3, lunch="Table 7, Atlantis"),
        {"within_sandbox", "within_current_city"},
    ),
    "transport that names other cities": (
        changed(1, transportation="Flight Number: F0000001, from Hemsbach to Paris"),
        {"within_current_city", "within_sandbox"},
    ),
    "on a stay only letters are looked for": (changed(4, dinner=f"Aston Table 8, {A}"), set()),
    "a day without a city": (
        changed(4, current_city=None),
        {"reasonable_city_route", "within_current_city", "complete_information"},
    ),
    "no journey in the city": (
        changed(5, current_city="away from Brill"),
        {"reasonable_city_route", "within_current_city", "complete_information"},
    ),
    "a city that is not there": (
        changed(4, current_city="Atlantis"),
        {"reasonable_city_route", "complete_information"},
    ),
    "a day too few": (good_plan()[:4], {"complete_information", "reasonable_city_route"}),
    "days beyond the trip do not count": ([*good_plan(), {"current_city": "Atlantis", "lunch": "-"}], set()),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMONSENSE_CASES)
def test_commonsense(name: str) -> None:
    plan, expected = COMMONSENSE_CASES[name]
    assert broken(plan) == expected


@pytest.mark.parametrize(
    ("asked", "plan", "expected"),
    [
        ({"budget": 2_600.0}, good_plan(), set()),
        ({"budget": 2_599.0}, good_plan(), {"hard_budget"}),
        ({"house_rule": "pets"}, good_plan(), {"hard_room_rule"}),
        ({"house_rule": "smoking"}, good_plan(), set()),
        ({"room_type": "entire room"}, good_plan(), set()),
        ({"room_type": "private room"}, good_plan(), {"hard_room_type"}),
        ({"room_type": "not shared room"}, good_plan(), set()),
        ({"room_type": "not shared room"}, changed(4, accommodation=f"Brill Dorm, {B}"), {"hard_room_type"}),
        ({"cuisine": ("French", "Indian")}, good_plan(), set()),
        ({"cuisine": ("French", "Mexican")}, good_plan(), {"hard_cuisine"}),
        ({"transportation": "no flight"}, good_plan(), {"hard_transportation"}),
        ({"transportation": "no self-driving"}, good_plan(), set()),
    ],
)
def test_hard(asked: dict[str, Any], plan: list[dict[str, Any]], expected: set[str]) -> None:
    assert broken(plan, **asked) == expected


def test_hard_constraints_are_judged_only_of_plans_that_are_whole_and_count_as_not_met_otherwise() -> None:
    asked = query(cuisine=("French",), level="medium")
    judged = judge(asked, parse_plan(json.dumps(changed(4, dinner=f"The Nowhere, {B}"))), SANDBOX)
    values = values_of(asked, judged)
    assert (judged.hard, values["hard_budget"], values["hard_cuisine"]) == ({}, 0.0, 0.0)
    assert (values["delivery"], values["hard_macro"], values["final_pass"]) == (1.0, 0.0, 0.0)
    assert explanation(judged).startswith("not met: within_sandbox, all hard constraints")


def test_micro_rates_are_shares_of_all_constraints() -> None:
    asked = query(cuisine=("Mexican",))
    passed = values_of(query(), judge(query(), parse_plan(json.dumps(good_plan())), SANDBOX))
    partly = values_of(asked, judge(asked, parse_plan(json.dumps(good_plan())), SANDBOX))
    nothing = values_of(asked, judge(asked, [], SANDBOX))
    rates = micro_rates([passed, partly, nothing])
    assert rates == {"commonsense_micro": pytest.approx(16 / 24), "hard_micro": pytest.approx(2 / 5)}


TEXTS = st.sampled_from(
    [
        "-", "", "from", " to ", "from A to B", A, "Hemsbach", "Flight Number: ", "flight number 3", "Taxi",
        ",", ";", "Self-driving, from Hemsbach to Aston", f"Aston House, {A}", "(", ")", "\n", "\ud800",
    ]
)  # fmt: skip
WILD = TEXTS | st.none() | st.integers() | st.lists(TEXTS)
DAYS = st.dictionaries(st.sampled_from(FIELDS), WILD, max_size=8)


@hypothesis_settings(max_examples=60)
@given(st.lists(DAYS, max_size=6), st.booleans())
def test_wild_plans_never_break_the_scorer(days: list[dict[str, Any]], mended: bool) -> None:
    # Half of the plans are good ones with wild fields, so that every constraint is reached.
    plan = [{**whole, **day} for whole, day in zip(good_plan(), days, strict=False)] if mended else days
    asked = query(cuisine=("French",), house_rule="pets", room_type="entire room", transportation="no flight")
    values = values_of(asked, judge(asked, parse_plan(json.dumps(plan)), SANDBOX))
    assert all(0.0 <= value <= 1.0 for value in values.values())
    assert len(values) == 4 + len(COMMONSENSE) + len(HARD)
