"""The operator's bounds on what a run may ask for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from langgraph.types import Command
from pydantic import ValidationError

from forethought.settings import Settings
from forethought.state.context import Context, bounded, models_of
from tests.support.agent import Drive, Script

Make = Callable[..., Settings]


def test_the_operators_default_model_is_used_only_where_the_run_names_none(settings: Make) -> None:
    made = settings(model="openai:house")
    assert bounded(Context(), made).model == "openai:house"
    assert bounded(Context(model="openai:mine"), made).model == "openai:mine"


@pytest.mark.parametrize("name", ["max_tokens", "max_usd", "max_seconds"])
def test_budgets_are_lowered_to_the_operators_and_never_raised(settings: Make, name: str) -> None:
    made = settings(**{name: 2_000})
    assert getattr(bounded(Context(**{name: 9_000}), made), name) == 2_000
    assert getattr(bounded(Context(**{name: 1_500}), made), name) == 1_500
    assert getattr(bounded(Context(**{name: None}), made), name) == 2_000


@pytest.mark.parametrize("role", ["model", "planner_model", "retrospective_model", "fallback_model"])
def test_a_model_that_is_not_allowed_is_refused_in_any_role(settings: Make, role: str) -> None:
    made = settings(allowed_models="openai:gpt-4.1, openai:small")
    assert bounded(Context(model="openai:small"), made).model == "openai:small"
    with pytest.raises(
        ValueError, match=r"openai:big is not allowed here; allowed: openai:gpt-4\.1, openai:small"
    ):
        bounded(Context(round_reflection=True, **{role: "openai:big"}), made)


def test_approval_that_is_required_cannot_be_switched_off(settings: Make) -> None:
    assert bounded(Context(approve_plan=False), settings(require_plan_approval=True)).approve_plan
    assert not bounded(Context(), settings()).approve_plan


def test_what_a_run_asks_for_survives_the_bounds(settings: Make) -> None:
    asked = Context(effort="low", max_rounds=2, forced_replans=(3,), foresight="off", max_tokens=50_000)
    assert bounded(asked, settings(max_tokens=10_000)) == asked.model_copy(update={"max_tokens": 10_000})


@pytest.mark.parametrize(
    "bad",
    [
        {"api_key": "k"},
        {"base_url": "http://x"},
        {"max_rounds": 0},
        {"forced_replans": (0,)},
        {"model": "a b\n"},
    ],
)
def test_a_context_holds_nothing_that_could_harm(bad: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Context.model_validate(bad)


async def test_a_setting_that_is_none_is_refused_before_anything_is_asked(drive: Drive) -> None:
    out = await drive(Script(), task=None)
    await out.graph.ainvoke({"task": "x"}, out.config, context={"prospectiv_reflection": False})
    await out.look()
    said = out.state["messages"][-1].text
    assert (out.status, out.requests) == ("failed", [])
    assert "unknown setting 'prospectiv_reflection'; did you mean prospective_reflection?" in said
    assert "docs/reference/context.md" in said
    assert "\n" not in said
    await out.graph.ainvoke({"task": "x"}, out.config, context={"prospective_reflection": False})
    await out.look()
    assert out.status == "answered"
    assert "PlanDiagnosis" not in out.kinds


async def test_a_resumed_run_with_a_setting_that_is_none_stops_and_loses_nothing(drive: Drive) -> None:
    out = await drive(Script(), approve_plan=True)
    asked = len(out.requests)
    resume = Command(resume={"decision": "approve"})
    with pytest.raises(ValueError, match="unknown setting 'max_stepz'; did you mean max_steps"):
        await out.graph.ainvoke(resume, out.config, context={"approve_plan": True, "max_stepz": 9})
    assert len(out.requests) == asked
    await out.go(resume)
    assert out.status == "answered"
    assert out.kinds.count("Plan") == 1


def test_models_by_role() -> None:
    context = Context(model="openai:a", tool_model="openai:b")
    assert (context.model_for("planner"), context.model_for("tool")) == ("openai:a", "openai:b")
    assert models_of(context) == ("openai:a", "openai:b")
    assert models_of(Context(model="openai:a", fallback_model="openai:c")) == ("openai:a", "openai:c")


def test_a_misspelt_setting_is_answered_with_the_nearest() -> None:
    with pytest.raises(ValidationError, match="unknown setting 'max_us'; did you mean max_usd"):
        Context(max_us=1)  # type: ignore[call-arg]
    with pytest.raises(ValidationError, match="file_dir\n"):
        Settings(file_dir=".")  # type: ignore[call-arg]
