"""What the model's side does to a run: each fault once, at one of its places; `python -m
benchmarks.fault_matrix` runs them all at every place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.fault_matrix import table
from tests.support.agent import Drive, Script
from tests.support.faults import BY_NAME, CASES, PLACES, Place, run_cell
from tests.support.model_server import Answer, Fault, SeenRequest

_PLACES: list[Place] = list(PLACES)
# Each at one place, the places and the two ways of running in turn; but some belong where they differ.
SAMPLE = [(case.name, _PLACES[at % 3], at % 2 == 1) for at, case in enumerate(CASES)] + [
    ("always empty", "last", False),
    ("content filter, HTTP 400", "middle", True),
    ("outage beyond the retries", "middle", False),
]


@pytest.mark.parametrize(
    ("name", "place", "streaming"),
    SAMPLE,
    ids=[f"{name}-{place}-{'streamed' if streaming else 'plain'}" for name, place, streaming in SAMPLE],
)
async def test_a_run_goes_on_or_stops_clearly_and_nothing_is_lost_or_repeated(
    name: str, place: Place, streaming: bool, tmp_path: Path
) -> None:
    cell = await run_cell(BY_NAME[name], place, streaming, tmp_path)
    assert cell.wrong() == []


def test_the_page_on_reliability_says_how_many_faults_there_are() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reliability.md").read_text("utf-8")
    assert f"injects {len(CASES)} faults" in page
    assert f"{len(CASES) * len(PLACES) * 2} runs" in page
    assert all(case.name in table() for case in CASES)


async def test_the_matrix_notices_what_is_wrong(tmp_path: Path) -> None:
    clear = await run_cell(BY_NAME["bad key"], "last", False, tmp_path)
    assert clear.wrong() == []
    empty = {**clear.end, "answer": ""}
    damaged = [
        replace(clear, line=""),
        replace(clear, line="something else"),
        replace(clear, line=clear.line + "\nTraceback"),
        replace(clear, end=empty),
        replace(clear, effects=2),
        replace(clear, calls_repeated=1),
        replace(clear, faults=0),
    ]
    assert [len(cell.wrong()) > 0 for cell in damaged] == [True] * len(damaged)


async def test_a_whole_run_is_answered_by_the_fallback(drive: Drive) -> None:
    script, quota = (
        Script(),
        Fault("429", code="insufficient_quota", message="You exceeded your current quota"),
    )

    def policy(seen: SeenRequest) -> Answer:
        return quota if seen.body["model"] == "scripted" else script(seen)

    out = await drive(policy, model="openai:scripted", fallback_model="openai:other")
    assert out.status == "answered"
    assert {role: used["fallbacks"] for role, used in out.state["usage"].items()} == {
        "planner": 1,
        "reflector": 1,
        "tool": 1,
        "answer": 1,
    }
    assert [seen.body["model"] for seen in out.requests].count("scripted") == 1, "then it rests"
