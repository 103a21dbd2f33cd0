"""TravelPlanner as the harness sees it: samples, tools, score."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forethought.evals.benchmarks.travel_planner.benchmark import BENCHMARK
from forethought.evals.types import DataError, InfrastructureError, Sample
from forethought.models.types import ReplyError
from forethought.settings import Settings
from forethought.tools.base import ToolEnv
from forethought.tools.call import call_tool
from tests.support.answers import attempt, score, services, write_jsonl
from tests.support.model_server import ModelServer
from tests.support.travel import as_answer, good_plan, reference, row, write_data, write_database


def only(folder: Path, **options: str) -> Sample:
    """The one sample of a data folder."""
    (sample,) = BENCHMARK.samples(folder, options)
    return sample


def test_sole_planning_gives_all_information_in_the_task(tmp_path: Path) -> None:
    sample = only(write_data(tmp_path))
    assert (sample.id, dict(sample.groups)) == ("validation-1", {"level": "easy", "days": "5"})
    assert sample.task.startswith("Plan five days in Lowland.\n")
    for table in reference():
        assert f"## {table}\n" in sample.task
    assert "F0000003 | 100 | 09:00" in sample.task
    assert "JSON list" in sample.answer_format
    assert list(BENCHMARK.tools(sample, services())) == []
    assert BENCHMARK.episode(sample, services()) is None
    json.dumps([sample.data, sample.target])


async def test_the_search_tools_of_two_stage_planning(tmp_path: Path) -> None:
    write_database(write_data(tmp_path) / "database")
    (tmp_path / "database" / "validation_ref_info.jsonl").unlink()
    sample = only(tmp_path, stage="two-stage")
    assert "Aston Table 1" not in sample.task
    tools = {tool.name: tool for tool in BENCHMARK.tools(sample, services())}
    env = ToolEnv(Settings(base_url=None))

    async def call(name: str, **arguments: Any) -> str:
        got = await call_tool(tools[name], arguments, env)
        return got.text if got.ok else f"{got.cause}: {got.text}"

    assert await call("city_search", state="Lowland") == "[search 1] Cities in Lowland\nAston\nBrill"
    assert "Aston Table 1 | 10" in await call("restaurant_search", city="Aston(Lowland)")
    assert "Aston Long Stay" in await call("accommodation_search", city="Aston")
    assert "Brill Museum 4" in await call("attraction_search", city="Brill")
    flights = {"origin": "Hemsbach", "destination": "Aston"}
    assert "F0000001 | 100" in await call("flight_search", **flights, date="2022-03-01")
    assert "not_found: there is no flight" in await call("flight_search", **flights, date="2022-03-02")
    roads = {"origin": "Aston", "destination": "Brill"}
    assert "cost: 60" in await call("distance_matrix", **roads, mode="self-driving")
    assert (await call("distance_matrix", **roads, mode="walking")).startswith("arguments")
    assert (await call("restaurant_search", city="Atlantis")).startswith("not_found")
    assert (await call("notebook_read")).startswith("not_found")
    assert await call("notebook_write", search=2, description="where to eat") == "written as entry 1"
    assert "[entry 1] where to eat\nRestaurants in Aston(Lowland)\n" in await call("notebook_read")
    assert (await call("notebook_write", search=99, description="x")).startswith("arguments")
    again = {tool.name: tool for tool in BENCHMARK.tools(sample, services())}
    assert not (await call_tool(again["notebook_read"], {}, env)).ok, (
        "another attempt has a notebook of its own"
    )


async def test_two_stage_planning_can_search_in_the_reference_information(tmp_path: Path) -> None:
    sample = only(write_data(tmp_path), stage="two-stage", sandbox="reference")
    assert "Aston Table 1" not in sample.task
    tools = {tool.name: tool for tool in BENCHMARK.tools(sample, services())}
    got = await call_tool(tools["restaurant_search"], {"city": "Aston"}, ToolEnv(Settings(base_url=None)))
    assert "Aston Table 1 | 10" in got.text


@pytest.mark.parametrize("with_database", [True, False])
async def test_scoring(tmp_path: Path, with_database: bool) -> None:
    write_data(tmp_path)
    if with_database:
        write_database(tmp_path / "database")
    sample = only(tmp_path)
    good = await score(BENCHMARK, sample, as_answer(good_plan()))
    assert (good.values["final_pass"], good.label) == (1.0, "passed")
    assert f"held against the {'database' if with_database else 'reference information'}" in good.explanation
    short = await score(BENCHMARK, sample, as_answer(good_plan()[:3]))
    assert (short.values["delivery"], short.values["final_pass"]) == (1.0, 0.0)
    silent = await score(BENCHMARK, sample, " ")
    assert set(silent.values.values()) == {0.0}
    rates = BENCHMARK.summary([(sample, [good, silent])])
    assert rates == {"commonsense_micro": 0.5, "hard_micro": 0.5}
    assert BENCHMARK.floor(sample) == silent.values[BENCHMARK.main_metric]


async def test_a_plan_in_prose_is_read_by_the_judge(
    tmp_path: Path, model_server: Callable[..., ModelServer], settings: Callable[..., Settings]
) -> None:
    days = [{key: value for key, value in day.items() if key != "days"} for day in good_plan()]
    server = model_server(lambda seen: {"days": days})
    said = "Day 1: fly </given_answer> to Aston ..."
    judge = services(settings(server))
    got = await BENCHMARK.score(only(write_data(tmp_path)), attempt(said), judge)
    assert (got.values["final_pass"], server.names) == (1.0, ["TravelPlan"])
    assert "turned into JSON by the judge" in got.explanation
    await BENCHMARK.score(only(tmp_path), attempt(as_answer(good_plan())), judge)
    assert len(server.requests) == 1, "a plan that can be read is not sent to a model"


async def test_a_judge_that_cannot_read_the_plan_makes_no_score(
    tmp_path: Path, model_server: Callable[..., ModelServer], settings: Callable[..., Settings]
) -> None:
    server = model_server(lambda seen: "no")
    with pytest.raises(ReplyError):
        await BENCHMARK.score(only(write_data(tmp_path)), attempt("a plan"), services(settings(server)))


async def test_a_database_that_has_gone_is_no_zero(tmp_path: Path) -> None:
    write_database(write_data(tmp_path) / "database")
    sample = only(tmp_path)
    (tmp_path / "database" / "attractions" / "attractions.csv").unlink()
    with pytest.raises(InfrastructureError, match="lacks attractions"):
        await score(BENCHMARK, sample, as_answer(good_plan()))


def test_rows_and_references_as_json_lines(tmp_path: Path) -> None:
    constraint = {"house rule": "pets", "cuisine": ["French"], "room type": None, "transportation": None}
    write_jsonl(tmp_path / "train.jsonl", [row(local_constraint=constraint, level="medium")] * 2)
    write_jsonl(tmp_path / "database" / "train_ref_info.jsonl", [reference()] * 2)
    one, two = BENCHMARK.samples(tmp_path, {"split": "train"})
    assert (one.id, two.id) == ("train-1", "train-2")
    assert (one.target["house_rule"], one.target["cuisine"]) == ("pets", ["French"])


@pytest.mark.parametrize(
    ("columns", "options", "told"),
    [
        ({}, {"split": "test"}, "option split=test: choose one of"),
        ({}, {"split": "train"}, "no train.csv"),
        ({}, {"stage": "two-stage"}, "lacks attractions/attractions.csv (set sandbox=reference"),
        ({}, {"sandbox": "database"}, "lacks attractions"),
        ({"information": [3]}, {}, "the reference information is no object of tables"),
        ({"days": "many"}, {}, "a column is not what it should be"),
        ({"days": "0"}, {}, "days and people_number must be 1 or more"),
        ({"local_constraint": "open('x')"}, {}, "a column is not what it should be"),
        ({"level": "mild"}, {}, "easy, medium or hard"),
        ({"query": " "}, {}, "the column query is empty"),
    ],
)
def test_data_that_is_not_what_it_should_be(
    tmp_path: Path, columns: dict[str, Any], options: dict[str, str], told: str
) -> None:
    with pytest.raises(DataError, match=re.escape(told)) as caught:
        BENCHMARK.samples(write_data(tmp_path, **columns), options)
    assert "\n" not in str(caught.value)
