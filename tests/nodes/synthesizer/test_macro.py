"""Macro level: one reflection an error type, from trajectories of two tasks or more, which it cites."""

from __future__ import annotations

import re

import pytest

from tests.support.model_server import Answer, SeenRequest
from tests.support.synthesizing import Reader, Synthesize, shown, trial_of


@pytest.mark.parametrize(
    ("other", "tasks"), [(("Ulm", 2, ["wrong_unit"]), 1), (("Bern", 1, ["blind_packing"]), 2)]
)
async def test_a_type_that_one_task_shows_has_no_reflection_and_that_is_said(
    synthesize: Synthesize, other: tuple[str, int, list[str]], tasks: int
) -> None:
    out = await synthesize([trial_of("Ulm", 1, ["wrong_unit"]), trial_of(*other)])
    assert out.asked("TypeReflection") == []
    problem = out.state["problems"]["reflect_error wrong_unit"]
    assert problem == f"1 of {tasks} tasks show it; a reflection across tasks needs 2 tasks"
    assert len(out.state["merged"]) == 2


@pytest.mark.parametrize(
    ("cites", "reflection", "said"),
    [
        (["Ulm-1", "Ulm-2"], "It recurs.", "cites: all are of one task"),
        (["Ulm-1", "Rome-1"], "It recurs.", "cites: there is no trajectory Rome-1; choose from"),
        (["Ulm-1", "Bern-1"], "Bern's weighs 1240.", "it reveals the reference"),
    ],
)
async def test_a_reflection_that_does_not_hold_is_sent_back(
    synthesize: Synthesize, cites: list[str], reflection: str, said: str
) -> None:
    def instead(seen: SeenRequest) -> Answer | None:
        first = seen.reply_name == "TypeReflection" and len(seen.messages) == 2
        return {"cites": cites, "reflection": reflection} if first else None

    runs = [trial_of("Ulm", 1, ["wrong_unit"]), trial_of("Ulm", 2, ["wrong_unit"])]
    out = await synthesize([*runs, trial_of("Bern", 1, ["wrong_unit"])], Reader(instead))
    assert said in out.asked("TypeReflection")[1].last
    assert out.state["error_reflections"]["wrong_unit"]["cites"] == ["Ulm-1", "Bern-1", "Ulm-2"]


async def test_cases_are_spread_over_the_tasks(synthesize: Synthesize) -> None:
    runs = [trial_of("Ulm", number, ["wrong_unit"]) for number in range(1, 6)]
    out = await synthesize([*runs, trial_of("Bern", 1, ["wrong_unit"])], max_cases=3)
    (seen,) = out.asked("TypeReflection")
    assert re.findall(r'<case trajectory="([^"]+)"', shown(seen)) == ["Ulm-1", "Bern-1", "Ulm-2"]


@pytest.mark.parametrize(
    ("reflection", "said"),
    [
        ("As in Bern-1, weigh again.", "it names the trajectory Bern-1"),
        ("Say 37.5 kg.", "reveals the reference"),
    ],
)
async def test_a_final_reflection_names_no_other_trajectory_and_no_reference(
    synthesize: Synthesize, reflection: str, said: str
) -> None:
    def instead(seen: SeenRequest) -> Answer | None:
        first = seen.reply_name == "MergedReflection" and len(seen.messages) == 2
        return {"reflection": reflection} if first and "of Ulm" in seen.text else None

    runs = [trial_of(name, 1, ["wrong_unit"]) for name in ("Ulm", "Bern")]
    out = await synthesize(runs, Reader(instead))
    assert any(said in seen.last for seen in out.asked("MergedReflection"))
    assert reflection not in out.state["merged"].values()
