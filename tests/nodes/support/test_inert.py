"""A changed setting that does nothing is told, once a task; one that acts is not."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from forethought.nodes.support.inert import without_effect
from forethought.state.context import Context
from tests.support.agent import Drive, Script


def told(**settings: Any) -> list[str]:
    """The settings that a run would be warned of."""
    return [line.partition(" ")[0] for line in without_effect(Context(**settings))]


ROUNDS: dict[str, Any] = {
    "max_rounds": 2, "answer_threshold": 7, "plan_threshold": 7, "tool_threshold": 7, "tool_floor": 4,
    "max_reflections": 1, "max_revisions": 1, "long_term_memory": False, "round_reflection": True,
    "planning_errors": False,
}  # fmt: skip
OWN: dict[str, Any] = {"first_look": False, "signs": False, "answer_checks": False}


def test_what_does_nothing_depends_on_the_effort() -> None:
    assert told(effort="auto", **ROUNDS, **OWN) == []
    assert sorted(told(effort="low", **ROUNDS, **OWN)) == sorted(ROUNDS)
    assert sorted(told(effort="paper", **ROUNDS, **OWN)) == sorted(OWN)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"effort": "low", "answer_intra": True, "max_rounds": 2}, []),
        ({"effort": "auto", "prospective_reflection": False, "max_reflections": 1}, ["max_reflections"]),
        ({"effort": "low", "max_rounds": 5}, []),
    ],
    ids=["its mechanism is on", "its mechanism is off", "it is as it would be"],
)
def test_what_does_nothing_depends_on_the_switches(settings: Any, expected: list[str]) -> None:
    assert told(**settings) == expected


async def test_a_run_is_warned_in_one_line(drive: Drive, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "forethought"):
        await drive(Script(), effort="low", max_rounds=2)
    (record,) = [record for record in caplog.records if record.name == "forethought.nodes.planner"]
    assert "max_rounds" in record.message
    assert "\n" not in record.message
