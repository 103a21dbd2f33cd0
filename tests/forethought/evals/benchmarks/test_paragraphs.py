"""Searching and reading the paragraphs of a question."""

from __future__ import annotations

import pytest

from forethought.evals.benchmarks.paragraphs import Paragraph, paragraph_tools, ranked
from forethought.settings import Settings
from forethought.tools.base import Observation, ToolEnv
from forethought.tools.call import call_tool

PARAGRAPHS: list[Paragraph] = [
    ("Ulm", "Ulm lies on the Danube. " + "Its minster has the tallest steeple. " * 8),
    ("Danube", "The Danube is a river that ends in the Black Sea."),
    ("Ed Wood", "Ed Wood was an American director."),
    ("Ed Wood", "Ed Wood is a film of 1994."),
]


async def call(name: str, paragraphs: list[Paragraph] = PARAGRAPHS, **arguments: str) -> Observation:
    """What a tool answers."""
    tools = {tool.name: tool for tool in paragraph_tools(paragraphs)}
    return await call_tool(tools[name], arguments, ToolEnv(settings=Settings(base_url=None)))


async def test_search_names_the_best_first_and_shows_beginnings() -> None:
    found = await call("search_paragraphs", query="river danube")
    lines = found.text.splitlines()
    assert [line.split(":")[0] for line in lines] == ["Danube", "Ulm"]
    assert lines[1].endswith("…")
    assert len(lines[1]) < 200


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("search_paragraphs", {"query": "Vienna?"}), ("read_paragraph", {"title": "Ed Woods"})],
)
async def test_what_is_not_found_names_what_there_is(name: str, arguments: dict[str, str]) -> None:
    found = await call(name, **arguments)
    assert (found.ok, found.cause) == (False, "not_found")
    assert found.hint == "There are: Ulm; Danube; Ed Wood"


async def test_reading_gives_the_whole_and_all_of_one_title() -> None:
    assert (await call("read_paragraph", title=" ed  WOOD")).text == (
        "Ed Wood was an American director.\n\nEd Wood is a film of 1994."
    )
    assert (await call("read_paragraph", title="Ulm")).text.count("steeple") == 8


@pytest.mark.parametrize("paragraphs", [[], [("", "")], [("-", "...")]])
def test_paragraphs_without_words_are_not_found(paragraphs: list[Paragraph]) -> None:
    assert ranked("Ulm", paragraphs) == []
