"""Stage 2: the critical error, what it is told, and each check of what it says (AgentDebug 3.2)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.debugging import GOLD, Debug, Reader, critical, labels, trajectory
from tests.support.model_server import Fault, Reply

ERRORS = {2: {"planning": "constraint_ignorance"}, 4: {"action": "parameter_error"}}


async def test_it_is_asked_once_with_the_run_and_all_errors_found(debug: Debug) -> None:
    out = await debug(trajectory(5), Reader(ERRORS), method="agentdebug")
    (asked,) = out.asked("CriticalError")
    assert out.kinds[-1] == "CriticalError"
    assert 'step 2, planning: constraint_ignorance. "open drawer number 2" so it is' in asked.text
    assert "step 4, action: parameter_error." in asked.text
    assert "step 3, " not in asked.text.split("# Errors found")[1]
    assert "drawer 5 holds nothing of use" in asked.text
    assert out["critical"] == {**critical(2), "method": "agentdebug"}
    assert (out["status"], out["guidance"]) == ("found", ["Look on the shelf first."])


async def test_without_fine_grained_labels_it_is_found_in_the_bare_run(debug: Debug) -> None:
    out = await debug(trajectory(5), Reader(ERRORS), fine_grained=False)
    assert out.kinds == ["CriticalError"]
    assert "labels" not in out.asked("CriticalError")[0].text
    assert out["critical"]["critical_step"] == 2
    assert out["labels"] == {}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no such step": (critical(9), "there is no step 9: the steps are numbered 1 to 5"),
    "another module's type": (
        critical(2, "action", "constraint_ignorance"),
        "constraint_ignorance' is not an error type of action",
    ),
    "an unknown type": (critical(2, error_type="bad_luck"), "bad_luck' is not an error type of planning"),
    "no error": (critical(2, error_type="no_error"), "error_type must name an error"),
    "memory of the first step": (
        critical(1, "memory", "hallucination", evidence="open drawer number 1"),
        "step 1 is the run's first: it has no memory",
    ),
    "evidence of another step": (
        critical(2, evidence="open drawer number 4"),
        "does not stand in step 2 (it stands in step 4)",
    ),
    "made-up evidence": (critical(2, evidence="open the safe behind it"), "does not stand in step 2: copy"),
    "step 0 with an error": (critical(0), "error_type must be no_error"),
    "an effect before its cause": (
        critical(2, cascading_effects=[{"step": 1, "impact": "x"}]),
        "names step 1, which is no step after the critical step 2",
    ),
    "an effect in no step": (
        critical(2, cascading_effects=[{"step": 8, "impact": "x"}]),
        "names step 8, which is no step after the critical step 2",
    ),
}


@pytest.mark.parametrize("name", WRONG)
async def test_a_wrong_one_is_sent_back(debug: Debug, name: str) -> None:
    wrong, said = WRONG[name]
    reader = Reader(replies={"CriticalError": [wrong, critical(3)]})
    out = await debug(trajectory(5), reader, fine_grained=False)
    assert said in out.asked("CriticalError")[1].last
    assert out["critical"]["critical_step"] == 3


async def test_a_system_errors_evidence_may_stand_anywhere(debug: Debug) -> None:
    found = critical(5, "system", "Step Limit Exhaustion", evidence="drawer 3 holds nothing of use")
    out = await debug(trajectory(5, halted=True), Reader(replies={"CriticalError": [found]}))
    assert len(out.asked("CriticalError")) == 1
    assert (out["critical"]["critical_module"], out["critical"]["error_type"]) == ("system", "step_limit")


async def test_effects_are_asked_for_from_the_end_back_and_kept_in_the_order_of_the_run(debug: Debug) -> None:
    effects = [{"step": step, "impact": f"impact {step}"} for step in (5, 4)]
    reader = Reader(replies={"CriticalError": [critical(3, cascading_effects=effects)]})
    out = await debug(trajectory(5), reader, fine_grained=False)
    assert [effect["step"] for effect in out["critical"]["cascading_effects"]] == [4, 5]


async def test_direct_prompting_asks_once_without_labels_and_definitions(debug: Debug) -> None:
    point = {
        "step": 3,
        "module": "planning",
        "error_type": "inefficient_plan",
        "reason": "it opens drawers in turn",
        "suggestion": "",
    }
    wrong = {**point, "step": 8}
    out = await debug(trajectory(5), Reader(ERRORS, {"FailurePoint": [wrong, point]}), method="direct")
    assert out.kinds == ["FailurePoint", "FailurePoint"]
    assert "there is no step 8" in out.asked("FailurePoint")[1].last
    assert "Definition" not in out.asked("FailurePoint")[0].text
    found = out["critical"]
    assert (found["critical_step"], found["error_type"]) == (3, "inefficient_planning")
    assert found["correction_guidance"] == "it opens drawers in turn"
    assert (found["method"], out["status"]) == ("direct", "found")


async def test_a_spent_budget_is_said_before_stage_2(debug: Debug) -> None:
    reader = Reader(replies={"StepLabels": [Reply(labels(1), prompt_tokens=2000)]})
    out = await debug(trajectory(1), reader, max_tokens=1000)
    assert out.kinds == ["StepLabels"]
    assert out["status"] == "failed"
    assert "the budget of 1000 tokens is spent before a critical error was found" in out["problem"]
    assert out["labels"]["1"], "what was found is kept"


NONE = critical(0, error_type="no_error", root_cause="Every claim is supported.", evidence="-")


async def test_where_nothing_can_be_shown_there_is_no_critical_error(debug: Debug) -> None:
    out = await debug(trajectory(5), Reader(replies={"CriticalError": [NONE]}))
    assert (out["status"], out["critical"], out["branches"]) == ("not_found", {}, [])
    assert "Every claim is supported." in out["problem"]
    assert "`critical_step` is 0" in out.asked("CriticalError")[0].text


@pytest.mark.parametrize("method", ["triage", "direct", "binary_search"])
async def test_no_prompt_says_of_an_unjudged_run_that_it_failed(debug: Debug, method: str) -> None:
    point = {"step": 1, "module": "action", "error_type": "format_error", "reason": "r", "suggestion": "s"}
    replies = {"FailurePoint": [point], "Salvage": [{"reasoning": "", "saved": True}]}
    out = await debug(trajectory(5), Reader({5: {}}, replies=replies), method=method)
    for kind in set(out.kinds):
        assert "taken to have failed" in out.asked(kind)[0].text, kind
        assert not re.search("known to have failed|which failed|failed run of", out.asked(kind)[0].text), kind


async def test_a_run_that_is_known_to_have_failed_has_a_critical_error(debug: Debug) -> None:
    reader = Reader(replies={"CriticalError": [NONE, critical(3)]})
    out = await debug(trajectory(5), reader, expect=GOLD)
    assert "`critical_step` is 0" not in out.asked("CriticalError")[0].text
    assert "the run is known to have failed: name the step" in out.asked("CriticalError")[1].last
    assert out["critical"]["critical_step"] == 3


@pytest.mark.parametrize(
    ("reply", "said", "calls"), [(critical(7), "there is no step 7", 3), (Fault("refusal"), "refused", 1)]
)
async def test_without_a_valid_one_it_is_not_found_and_says_why(
    debug: Debug, reply: Any, said: str, calls: int
) -> None:
    out = await debug(trajectory(2), Reader(replies={"CriticalError": [reply]}), fine_grained=False)
    assert (out["status"], out["critical"]) == ("not_found", {})
    assert said in out["problem"]
    assert out["usage"]["critical"]["calls"] == calls
