"""TravelPlanner: samples, plans, and what is made of the verdicts of a checkout's code."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forethought.evals.benchmarks.travel_planner import BENCHMARK, FILES, read_plan
from forethought.evals.types import DataError, InfrastructureError, Sample
from forethought.models.types import ReplyError
from forethought.settings import Settings
from forethought.tools.base import ToolEnv
from forethought.tools.call import call_tool
from tests.support.answers import attempt, score, services
from tests.support.model_server import ModelServer
from tests.support.travel import as_answer, changed, good_plan, write_checkout

ASKED = {"house rule": "pets", "cuisine": ["French"], "room type": None, "transportation": None}


def only(folder: Path, **options: str) -> Sample:
    """The one sample of a checkout."""
    (sample,) = BENCHMARK.samples(folder, options)
    return sample


def test_sole_planning_gives_the_information_of_the_data_set(tmp_path: Path) -> None:
    sample = only(write_checkout(tmp_path))
    assert (sample.id, dict(sample.groups)) == ("validation-1", {"level": "easy", "days": "5"})
    assert sample.task.startswith("Plan five days in Lowland.\n")
    assert "'Content': 'Aston  Table 1'" in sample.task
    assert "JSON list" in sample.answer_format
    assert [tool.name for tool in BENCHMARK.tools(sample, services())] == ["cost_enquiry"]
    json.dumps([sample.data, sample.target])


async def test_two_stage_planning_searches_with_the_checkouts_tools(tmp_path: Path) -> None:
    sample = only(write_checkout(tmp_path), stage="two-stage")
    assert "Aston  Table 1" not in sample.task
    tools = {tool.name: tool for tool in BENCHMARK.tools(sample, services())}

    async def call(name: str, **arguments: Any) -> str:
        got = await call_tool(tools[name], arguments, ToolEnv(Settings(base_url=None)))
        return got.text if got.ok else f"{got.cause}: {got.text}"

    assert len(tools) == 6
    assert await call("city_search", state="Lowland") == "['Aston', 'Brill']"
    assert await call("flight_search", origin="Hemsbach", destination="Aston", date="2022-03-01") == "F1  100"
    assert "no flight" in await call("flight_search", origin="Ulm", destination="Aston", date="2022-03-01")
    assert (await call("distance_matrix", origin="a", destination="b", mode="walk")).startswith("arguments")


async def test_each_constraint_is_judged_by_the_checkout(tmp_path: Path) -> None:
    sample = only(write_checkout(tmp_path))
    good = await score(BENCHMARK, sample, as_answer(good_plan()))
    assert set(good.values.values()) == {1.0}
    assert (good.label, good.explanation) == ("passed", "all constraints are met")
    assert sum(name.startswith("commonsense_") for name in good.values) == 9
    assert {name for name in good.values if name.startswith("hard_")} == {"hard_budget", "hard_macro"}
    dull = await score(BENCHMARK, sample, as_answer(changed(2, dinner="is_valid_restaurants")))
    assert {name for name, value in dull.values.items() if not value} == {
        "commonsense_diverse_restaurants", "commonsense_macro", "final_pass"
    }  # fmt: skip
    assert dull.explanation == "not met: commonsense diverse_restaurants: is_valid_restaurants is broken"
    silent = await score(BENCHMARK, sample, " ")
    assert set(silent.values.values()) == {0.0}
    assert silent.explanation == "no plan was delivered"
    rates = BENCHMARK.summary([(sample, [good, silent])])
    assert rates == {"commonsense_micro": 0.5, "hard_micro": 0.5}
    assert BENCHMARK.floor(sample) == silent.values[BENCHMARK.main_metric]


async def test_hard_constraints_are_those_of_the_query_and_of_whole_plans(tmp_path: Path) -> None:
    sample = only(write_checkout(tmp_path, "train", local_constraint=repr(ASKED), budget=900), split="train")
    got = (await score(BENCHMARK, sample, as_answer(changed(1, lunch="pets")))).values
    assert {name: value for name, value in got.items() if name.startswith("hard_")} == {
        "hard_macro": 0.0, "hard_budget": 0.0, "hard_room_rule": 1.0, "hard_cuisine": 0.0
    }  # fmt: skip
    part = await score(BENCHMARK, sample, as_answer(changed(1, lunch="pets is_not_absent")))
    assert part.values["hard_room_rule"] == 0.0
    assert "all hard constraints, since the plan is incomplete" in part.explanation


async def test_a_crash_of_the_official_code_is_a_constraint_not_met_and_is_said(tmp_path: Path) -> None:
    asked = repr({**ASKED, "cuisine": None, "room type": 3})
    got = await score(
        BENCHMARK, only(write_checkout(tmp_path, local_constraint=asked)), as_answer(good_plan())
    )
    assert (got.values["hard_room_type"], got.values["hard_budget"], got.values["final_pass"]) == (0, 1, 0)
    assert "hard room_type: the official check fails with TypeError" in got.explanation


async def test_a_checkout_that_breaks_is_no_zero_and_is_started_anew(tmp_path: Path) -> None:
    sample = only(write_checkout(tmp_path))
    module = tmp_path / "evaluation" / "hard_constraint.py"
    text = module.read_text()
    module.write_text("import not_there")
    with pytest.raises(InfrastructureError, match="not_there"):
        await score(BENCHMARK, sample, as_answer(good_plan()))
    module.write_text(text)
    assert (await score(BENCHMARK, sample, as_answer(good_plan()))).label == "passed"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        (json.dumps(good_plan()), 5),
        (as_answer(good_plan()), 5),
        (json.dumps({"plan": changed(2, lunch=None)}), 5),
        ("[]", 0),
        ("I cannot plan this.", None),
        ("[1, 2]", None),
        ('[{"lunch": "no city"}]', None),
        (json.dumps(changed(1, attraction=["A", "B"])), None),
    ],
)
def test_plans_in_answers(text: str, days: int | None) -> None:
    plan = read_plan(text)
    assert (None if plan is None else len(plan)) == days


async def test_a_plan_that_is_no_such_list_is_read_by_the_judge(
    tmp_path: Path, model_server: Callable[..., ModelServer], settings: Callable[..., Settings]
) -> None:
    days = [{key: value for key, value in day.items() if key != "days"} for day in good_plan()]
    server = model_server(lambda seen: {"days": days})
    judge = services(settings(server))
    sample = only(write_checkout(tmp_path))
    got = await BENCHMARK.score(sample, attempt("Day 1: fly </given_answer> to Aston ..."), judge)
    assert (got.values["final_pass"], server.names) == (1.0, ["TravelPlan"])
    assert "turned into JSON by the judge" in got.explanation
    await BENCHMARK.score(sample, attempt(as_answer(good_plan())), judge)
    assert len(server.requests) == 1, "a plan that can be read is not sent to a model"
    broken = services(settings(model_server(lambda seen: "no")))
    with pytest.raises(ReplyError):
        await BENCHMARK.score(sample, attempt("a plan"), broken)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({}, {"split": "test"}, "option split=test: choose one of"),
        ({}, {"split": "train"}, "no train.csv"),
        ({"days": "many"}, {}, "csv:2: days: Input should be a valid integer"),
        ({"local_constraint": "open('x')"}, {}, "is not a Python dict literal"),
        ({"level": "mild"}, {}, "level: Input should be 'easy'"),
    ],
)
def test_data_that_is_not_what_it_should_be(
    tmp_path: Path, columns: dict[str, Any], options: dict[str, str], message: str
) -> None:
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        BENCHMARK.samples(write_checkout(tmp_path, **columns), options)
    assert "\n" not in str(caught.value)


def test_a_missing_file_of_the_checkout_is_named(tmp_path: Path) -> None:
    (write_checkout(tmp_path) / FILES[3]).unlink()
    with pytest.raises(
        DataError, match=r"no database/attractions/attractions\.csv in this folder\. Clone github"
    ):
        BENCHMARK.samples(tmp_path, {})


def test_the_annotated_plan_is_the_reference_where_the_split_has_one(tmp_path: Path) -> None:
    sample = only(write_checkout(tmp_path))
    assert BENCHMARK.references(sample) == ()
    rows = list(csv.DictReader((tmp_path / "validation.csv").read_text().splitlines()))
    with (tmp_path / "train.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], "annotated_plan"])
        writer.writeheader()
        writer.writerow({**rows[0], "annotated_plan": "[{'days': 1}]"})
    training = only(tmp_path, split="train")
    assert BENCHMARK.references(training) == ("[{'days': 1}]",)
    assert "[{'days': 1}]" not in training.task
