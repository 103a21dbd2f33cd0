"""Searching and reading the paragraphs of a question."""

from __future__ import annotations

import pytest

from forethought.evals.benchmarks.paragraphs import Paragraph, paragraph_tools, ranked
from forethought.settings import Settings
from forethought.tools.base import Observation, ToolEnv
from forethought.tools.call import call_tool

PARAGRAPHS = [
    Paragraph("Ulm", "Ulm lies on the Danube. " + "Its minster has the tallest steeple. " * 8),
    Paragraph("Danube", "The Danube is a river that ends in the Black Sea."),
    Paragraph("Ed Wood", "Ed Wood was an American director."),
    Paragraph("Ed Wood", "Ed Wood is a film of 1994."),
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


async def test_a_search_without_a_hit_names_what_there_is() -> None:
    found = await call("search_paragraphs", query="Vienna?")
    assert (found.ok, found.cause) == (False, "not_found")
    assert found.hint == "There are: Ulm; Danube; Ed Wood"


async def test_reading_gives_the_whole_and_all_of_one_title() -> None:
    assert (await call("read_paragraph", title=" ed  WOOD")).text == (
        "Ed Wood was an American director.\n\nEd Wood is a film of 1994."
    )
    assert (await call("read_paragraph", title="Ulm")).text.count("steeple") == 8


async def test_a_title_that_is_not_there_names_similar_ones() -> None:
    found = await call("read_paragraph", title="Ed Woods")
    assert (found.ok, found.cause) == (False, "not_found")
    assert found.hint.startswith("Similar: Ed Wood;")


@pytest.mark.parametrize("paragraphs", [[], [Paragraph("", "")], [Paragraph("-", "...")]])
def test_paragraphs_without_words_are_not_found(paragraphs: list[Paragraph]) -> None:
    assert ranked("Ulm", paragraphs) == []
