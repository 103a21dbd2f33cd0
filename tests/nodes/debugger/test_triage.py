"""Triage: one reading of the run, labels of the steps in question only, and what is told of the others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.debugging import Debug, Reader, asked_step, trajectory
from tests.support.model_server import Fault, Reply

RUN = trajectory(12)
ERRORS = {3: {"planning": "constraint_ignorance"}, 9: {"action": "parameter_error"}}


def suspects(*steps: int) -> dict[str, Any]:
    """A triage that names these steps."""
    return {"suspects": [{"reason": f"step {step} may be it", "step": step} for step in steps]}


async def test_only_the_steps_in_question_are_labelled_and_the_others_are_said_not_to_be(
    debug: Debug,
) -> None:
    out = await debug(RUN, Reader(ERRORS))
    assert out.kinds == ["Triage", "StepLabels", "StepLabels", "CriticalError"]
    assert [asked_step(seen) for seen in out.asked("StepLabels")] == [3, 9]
    (read,) = out.asked("Triage")
    assert "drawer 12 holds nothing of use" in read.last
    assert set(out["labels"]) == {"3", "9"}
    assert [suspect["step"] for suspect in out["suspects"]] == [3, 9]
    assert sorted(map(int, out["label_problems"])) == [1, 2, 4, 5, 6, 7, 8, 10, 11, 12]
    (asked,) = out.asked("CriticalError")
    assert "Steps that nobody examined: 1-2, 4-8, 10-12." in asked.last
    assert "step 3, planning: constraint_ignorance." in asked.last
    assert (out["critical"]["critical_step"], out["critical"]["method"]) == (3, "triage")
    assert out["usage"]["triage"]["calls"] == 1


async def test_it_costs_a_fraction_of_labelling_every_step(debug: Debug) -> None:
    def dear(kind: str) -> Any:
        plain = Reader(ERRORS)
        return lambda seen: Reply(plain(seen), prompt_tokens=len(seen.text) // 4)  # type: ignore[arg-type]

    spent = {}
    for method in ("triage", "agentdebug"):
        kinds = ("Triage", "StepLabels", "CriticalError")
        out = await debug(RUN, Reader(ERRORS, {kind: dear(kind) for kind in kinds}), method=method)
        spent[method] = sum(usage["input_tokens"] for usage in out["usage"].values())
    assert spent["triage"] < 0.4 * spent["agentdebug"], spent


async def test_of_a_short_run_every_step_is_labelled(debug: Debug) -> None:
    out = await debug(trajectory(4), Reader({2: {"planning": "impossible_action"}}))
    assert out.kinds == ["StepLabels"] * 4 + ["CriticalError"]
    assert (out["suspects"], out["label_problems"]) == ([], {})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (suspects(3, 40), "there is no step 40: the steps are numbered 1 to 12"),
        (suspects(1, 2, 3, 4, 5), "suspects must name 1 to 4 steps"),
        (suspects(3, 3), "each once"),
        (suspects(), "suspects must name 1 to 4 steps"),
    ],
)
async def test_a_wrong_triage_is_sent_back(debug: Debug, wrong: Any, said: str) -> None:
    out = await debug(RUN, Reader(ERRORS, {"Triage": [wrong, suspects(9)]}))
    assert said in out.asked("Triage")[1].last
    assert set(out["labels"]) == {"9"}


async def test_without_a_triage_the_critical_error_is_looked_for_in_the_bare_run(debug: Debug) -> None:
    out = await debug(RUN, Reader(ERRORS, {"Triage": [Fault("refusal")]}))
    assert out.kinds == ["Triage", "CriticalError"]
    assert "Steps that nobody examined: 1-12." in out.asked("CriticalError")[0].last
    assert any("no valid reply to the triage" in note for note in out["notes"])


async def test_what_a_rule_knows_of_a_step_needs_no_examination(debug: Debug) -> None:
    run = trajectory(12, changes={5: {"failure": "tool_execution_error"}}, halted=True)
    out = await debug(run, Reader(ERRORS))
    assert out["labels"]["5"]["system"]["error_type"] == "tool_execution_error"
    assert out["labels"]["12"]["system"]["error_type"] == "step_limit"
    assert "step 12, system: step_limit" in out.asked("CriticalError")[0].last
    assert len(out.asked("StepLabels")) == 2


@pytest.mark.parametrize(("options", "said"), [({}, False), ({"method": "agentdebug"}, True)])
async def test_what_asks_more_than_ten_times_is_estimated_first(
    debug: Debug, options: dict[str, Any], said: bool
) -> None:
    out = await debug(RUN, Reader(ERRORS), **options)
    assert (len(out.server.requests) == 13) is said
    told = await out.told({"trajectory": RUN.model_dump()})
    assert told[0].startswith("estimate: about 13 calls, ") is said
