"""The APIs of a query as tools: names, schemas, and calls to a server and to recorded responses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forethought.evals.benchmarks.stable_tool_bench.apis import (
    apis_of,
    category_folder,
    function_name,
    identifier,
    unique,
)
from forethought.evals.benchmarks.stable_tool_bench.benchmark import BENCHMARK
from forethought.evals.types import DataError, InfrastructureError, Sample
from forethought.prompts.tool_choice import RESERVED
from forethought.settings import Settings
from forethought.tools.base import Observation, Tool, ToolEnv
from forethought.tools.call import call_tool
from tests.support.answers import services
from tests.support.tool_bench import SET, listed, query, weather, write_cache, write_sets
from tests.support.web_server import WebServer


@pytest.fixture
def server() -> Iterator[WebServer]:
    """The virtual API server."""
    made = WebServer(weather)
    yield made
    made.close()


def only(folder: Path, **options: str) -> Sample:
    """The one sample of a folder."""
    (sample,) = BENCHMARK.samples(folder, {"set": SET, **options})
    return sample


def tool_of(sample: Sample) -> Tool:
    """Its one tool."""
    (tool,) = BENCHMARK.tools(sample, services())
    return tool


async def call(tool: Tool, **arguments: Any) -> Observation:
    """What comes of a call."""
    return await call_tool(tool, arguments, ToolEnv(Settings(base_url=None)))


def test_names_of_functions_and_folders() -> None:
    assert identifier("4-day/forecast!") == "get_4_day_forecast"
    assert identifier("class") == "is_class"
    assert function_name("Get Forecast", "Weather Pro") == "get_forecast_for_weather_pro"
    assert len(function_name("a" * 90, "tool")) == 64
    assert function_name("a" * 90, "tool").endswith("_for_tool")
    assert category_folder("Artificial Intelligence, Machine/A") == "Artificial_Intelligence_Machine_A"


def test_function_names_are_valid_and_unique() -> None:
    names = [function_name(name, "t") for name in ("a", "a", "天", "天气", "_", "a" * 64, "a" * 64)]
    made = unique([*names, "finish"], RESERVED)
    assert len(set(made)) == len(names) + 1
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) and name not in RESERVED for name in made)


def test_what_a_model_is_shown_of_an_api(tmp_path: Path) -> None:
    tool = tool_of(only(write_sets(tmp_path)))
    assert (tool.name, tool.foreign, tool.effect) == ("get_forecast_for_weather_pro", True, "read")
    assert tool.description == "An API of the tool weather_pro. Gives Get Forecast."
    assert tool.arguments.model_json_schema() == {
        "type": "object",
        "properties": {
            "days": {"type": "number", "description": ""},
            "is_id": {"type": "string", "description": ""},
            "ok": {"type": "boolean", "description": ""},
            "city": {"type": "string", "description": "A city. (for example Ulm)"},
        },
        "required": ["city"],
        "additionalProperties": False,
    }


async def test_calls_over_http_are_in_the_servers_protocol(
    tmp_path: Path, server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLBENCH_KEY", "k-123")
    sample = only(write_sets(tmp_path), server=f"{server.url}/virtual")
    assert BENCHMARK.episode(sample, services()) is None
    got = await call(tool_of(sample), city="Ulm", days=2.5)
    assert (got.ok, got.text) == (True, '{"error": "", "response": {"sky": "clear"}}')
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/virtual")
    assert json.loads(asked.body) == {
        "category": "Weather", "tool_name": "weather_pro", "api_name": "get_forecast",
        "tool_input": '{"city": "Ulm", "days": 2.5}', "strip": "truncate", "toolbench_key": "k-123",
    }  # fmt: skip
    assert "k-123" not in json.dumps(sample.data)


@pytest.mark.parametrize(
    ("city", "cause", "message", "calls"),
    [
        ("Atlantis", "tool", "Unknown city", 1),
        ("broken", "transport", "HTTP 503", 2),
        ("odd", "transport", "not answer with JSON", 1),
    ],
)
async def test_what_the_server_does_wrong_is_an_observation(
    tmp_path: Path,
    server: WebServer,
    monkeypatch: pytest.MonkeyPatch,
    city: str,
    cause: str,
    message: str,
    calls: int,
) -> None:
    monkeypatch.setattr("forethought.tools.call.PAUSE_S", 0)
    got = await call(tool_of(only(write_sets(tmp_path), server=server.url)), city=city)
    assert (got.ok, got.cause, len(server.asked)) == (False, cause, calls)
    assert message in got.text


async def test_long_responses_are_cut_as_officially(tmp_path: Path, server: WebServer) -> None:
    got = await call(tool_of(only(write_sets(tmp_path), server=server.url)), city="long")
    assert (len(got.text), got.text[-3:]) == (1027, "...")


async def test_arguments_are_checked_before_the_call(tmp_path: Path, server: WebServer) -> None:
    tool = tool_of(only(write_sets(tmp_path), server=server.url))
    assert [(await call(tool, **given)).cause for given in ({}, {"city": 3}, {"city": "Ulm", "x": 1})] == [
        "arguments"
    ] * 3
    assert server.asked == []


async def test_a_server_that_is_not_there_is_no_fault_of_the_agent(tmp_path: Path, server: WebServer) -> None:
    sample = only(write_sets(tmp_path), server=server.url)
    server.close()
    with pytest.raises(InfrastructureError, match="no virtual API server at"):
        BENCHMARK.episode(sample, services())
    got = await call(tool_of(sample), city="Ulm")
    assert (got.ok, got.cause) == (False, "transport")


async def test_recorded_responses_are_found_by_their_arguments(tmp_path: Path) -> None:
    answers = {
        "{'city': 'Ulm', 'days': 2}": {"error": "", "response": "dry"},
        "{}": {"error": "", "response": "all"},
        "junk(": 1,
    }
    cache = write_cache(tmp_path, answers)
    sample = only(write_sets(tmp_path), cache=str(cache))
    tool = tool_of(sample)
    assert '"dry"' in (await call(tool, city="Ulm", days=2)).text
    assert '"dry"' in (await call(tool, days=2, city="Ulm")).text
    assert BENCHMARK.episode(sample, services()) is None
    missed = await call(tool, city="Bern")
    assert (missed.ok, missed.cause) == (False, "not_found")
    assert "Bern" not in missed.text


@pytest.mark.parametrize("category", ["Weather", "../Weather"])
async def test_an_api_without_recordings_is_unavailable(tmp_path: Path, category: str) -> None:
    write_cache(tmp_path, {"{}": {"response": "secret"}}, "../x_for_../get.json")
    queries = [query(1, listed("Other", category=category))]
    got = await call(
        tool_of(only(write_sets(tmp_path, queries), cache=str(tmp_path / "tool_response_cache"))), city="a"
    )
    assert (got.ok, got.cause) == (False, "unavailable")


@pytest.mark.parametrize("entry", [{}, listed("a", required_parameters=[{}])])
def test_an_entry_that_is_no_api_is_refused(entry: Any) -> None:
    with pytest.raises(DataError, match="api_list"):
        apis_of([entry])
