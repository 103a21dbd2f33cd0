"""Plans in whatever form an answer has them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from forethought.evals.benchmarks.travel_planner.plan import parse_plan
from tests.support.travel import as_answer, good_plan

PLAN = [{**day, "days": str(day["days"])} for day in good_plan()]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(good_plan()),
        as_answer(good_plan()),
        f"The plan: {json.dumps(good_plan())} That is all.",
        json.dumps({"plan": good_plan()}),
        json.dumps({"answer": {"note": [1], "plan": good_plan()}["plan"]}),
        json.dumps([*good_plan(), {}, {}]),
        json.dumps([{key.replace("_", " ").title(): day[key] for key in day} for day in good_plan()]),
    ],
    ids=["json", "fenced", "in prose", "in an object", "deeper", "empty days", "titles"],
)
def test_forms(text: str) -> None:
    assert parse_plan(text) == PLAN


@pytest.mark.parametrize(
    "text",
    ["", "I cannot plan this.", "[]", "{}", "[1, 2]", '[{"a": 1}]', "Day 1:\nCurrent City: A", "[" * 9_999],
)
def test_what_is_no_plan(text: str) -> None:
    assert parse_plan(text) == []


def test_values_that_are_no_text() -> None:
    day = {
        "day": 7, "current_city": "Aston", "transportation": None,
        "breakfast": {"name": "X", "city": "Aston"}, "attractions": ["Museum, Aston", "Park, Aston;"],
        "lunch": [], "dinner": 3, "accommodation": "A\n  B, Aston",
    }  # fmt: skip
    assert parse_plan(json.dumps([day])) == [
        {
            "days": "1", "current_city": "Aston", "transportation": "-", "breakfast": "X, Aston",
            "attraction": "Museum, Aston;Park, Aston;", "lunch": "-", "dinner": "3",
            "accommodation": "A B, Aston",
        }
    ]  # fmt: skip


def test_two_spaces_in_a_name_stay() -> None:
    (day,) = parse_plan(json.dumps([{"current_city": "Aston", "lunch": "Old  Mill, Aston"}]))
    assert day["lunch"] == "Old  Mill, Aston"


@hypothesis_settings(max_examples=100)
@given(st.text(alphabet="[]{}\",:; \n`abc1-'", max_size=80))
def test_any_text_is_read_or_not(text: str) -> None:
    assert all(isinstance(value, str) for day in parse_plan(text) for value in day.values())
