"""The database's files and the reference information hold the same world."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forethought.evals.benchmarks.travel_planner.database import FILES, Database
from forethought.evals.benchmarks.travel_planner.plan import parse_plan
from forethought.evals.benchmarks.travel_planner.reference import (
    ReferenceSandbox,
    as_text,
    check_reference,
)
from forethought.evals.benchmarks.travel_planner.sandbox import Drive, Sandbox
from forethought.evals.benchmarks.travel_planner.scoring import judge, values_of
from forethought.evals.benchmarks.travel_planner.text import name_and_city, route, without_state
from forethought.evals.types import DataError
from tests.support.travel import HOME, STATE, good_plan, query, reference, write_database


@pytest.fixture(params=["database", "reference information"])
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox:
    """The same world, read from two sources."""
    if request.param == "database":
        return Database(write_database(tmp_path))
    return ReferenceSandbox(reference(), HOME, STATE)


def test_all_sources_hold_the_same_world(sandbox: Sandbox) -> None:
    assert [row["Name"] for row in sandbox.restaurants("Aston")][1:3] == ["Aston Table 2", "Aston, Old  Mill"]
    assert len(sandbox.restaurants("Aston")) == 8
    assert [float(row["price"]) for row in sandbox.accommodations("Brill")] == [100, 50, 20]
    assert [row["City"] for row in sandbox.attractions("Brill")] == ["Brill"] * 4
    assert [row["Flight Number"] for row in sandbox.flights(HOME, "Aston")] == ["F0000001"]
    assert list(sandbox.flights("Aston", "Brill")) == []
    assert sandbox.drive("Aston", "Brill") == Drive("3 hours 5 mins", "1,200 km")
    assert sandbox.drive("Aston", "Atlantis") is None
    assert (sandbox.state("Aston"), sandbox.state("Atlantis")) == (STATE, None)
    assert list(sandbox.cities(STATE)) == ["Aston", "Brill"]
    values = values_of(query(), judge(query(), parse_plan(json.dumps(good_plan())), sandbox))
    assert set(values.values()) == {1.0}


def test_a_road_of_a_day_or_more_is_none(tmp_path: Path) -> None:
    road = Database(write_database(tmp_path)).drive(HOME, "Brill")
    assert road is not None
    assert (road.cost("taxi"), road.cost("self-driving")) == (None, None)


@pytest.mark.parametrize(
    ("distance", "costs"),
    [
        ("902 km", (45, 902)),
        ("1,294 km", (64, 1294)),
        ("8.5 km", (0, 8)),
        ("800 m", (None, None)),
        ("", (None, None)),
    ],
)
def test_what_a_road_costs(distance: str, costs: tuple[int | None, int | None]) -> None:
    road = Drive("1 hour", distance)
    assert (road.cost("self-driving"), road.cost("taxi")) == costs


@pytest.mark.parametrize("file", FILES.values())
def test_a_missing_file_of_the_database_is_named(tmp_path: Path, file: str) -> None:
    folder = write_database(tmp_path)
    (folder / file).unlink()
    with pytest.raises(DataError, match=file):
        judge(query(), parse_plan(json.dumps(good_plan())), Database(folder))


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    folder = write_database(tmp_path)
    (folder / FILES["flights"]).write_text("Flight Number,Price\nF1,2\n")
    with pytest.raises(DataError, match="no column 'DepTime'"):
        Database(folder).flights("A", "B")


def test_a_table_for_a_prompt_keeps_names_as_they_are() -> None:
    text = as_text(reference())
    assert "## Restaurants in Aston\nName | Average Cost | Cuisines | Aggregate Rating | City\n" in text
    assert "Aston, Old  Mill | 30 | Cafe | 4 | Aston" in text


@pytest.mark.parametrize("value", ["", [1], {}, {"a": 3}, {"a": ["b"]}, [[]]])
def test_reference_information_that_is_none(value: Any) -> None:
    with pytest.raises(DataError, match="reference information"):
        check_reference(value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Coco Bambu, Rockford", ("Coco Bambu", "Rockford")),
        ("Grill, Bar & Co, Erie(Pennsylvania)", ("Grill, Bar & Co", "Erie")),
        ("Nowhere", ("-", "-")),
        ("Nowhere,", ("-", "-")),
        ("", ("-", "-")),
    ],
)
def test_name_and_city(text: str, found: tuple[str, str]) -> None:
    assert name_and_city(text) == found


def test_journeys() -> None:
    assert route("Taxi, from Erie(Pennsylvania) to St. Paul, duration: 1 hour") == (
        "Erie(Pennsylvania)",
        "St. Paul",
    )
    assert route("from here on") is None
    assert without_state("Erie(Pennsylvania)") == "Erie"
    assert without_state("Erie(") == "Erie("
