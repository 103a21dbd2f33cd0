"""Budgets: steps, tokens, seconds, dollars; what is kept back for the answer; the status."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from forethought.models.live import LiveTransport
from forethought.models.types import ModelReply, ModelRequest
from forethought.settings import Settings
from graph.context import Context
from nodes.budget import exhausted, left_text, reserve_tokens, spent, wave_width
from tests.support.agent import Drive, Script, World, kind_of
from tests.support.model_server import Reply, SeenRequest
from tests.support.replies import answer, ask_replan, call, diagnosis, plan, sub

WIDE = plan(*(sub(f"w{n}") for n in range(7)))


@pytest.mark.parametrize(("steps", "width"), [(1, 4), (3, 4), (5, 4), (5, 2), (6, 7)])
async def test_steps_are_never_exceeded_also_in_wide_waves(drive: Drive, steps: int, width: int) -> None:
    out = await drive(Script(plans=lambda seen: WIDE), max_steps=steps, max_parallel=width)
    assert [step["n"] for step in out.steps] == list(range(1, steps + 1))
    assert len(out.world.calls) == steps
    assert out.kinds[-1] == "AnswerDraft"
    assert out.status == "budget_exhausted"
    assert out.state["progress"]["stopped"] == "steps"
    assert "budget of steps is spent" in out.asked("AnswerDraft")[0].text


async def test_a_plan_finished_with_the_last_step_is_answered(drive: Drive) -> None:
    out = await drive(Script(plans=[plan(sub("a"), sub("b"))]), max_steps=2)
    assert out.status == "answered"


async def test_a_low_answer_with_no_step_left_ends_as_exhausted(drive: Drive) -> None:
    out = await drive(Script(answers=[answer(score=3)]), max_steps=1, max_rounds=3)
    assert out.kinds.count("AnswerDraft") == 1
    assert out.status == "budget_exhausted"


def costly(script: Script, tokens: int) -> Any:
    """`script` with every reply costing `tokens`."""

    def policy(seen: SeenRequest) -> Any:
        reply = script(seen)
        return (
            Reply(reply, prompt_tokens=tokens - 10, completion_tokens=10)
            if isinstance(reply, dict)
            else reply
        )

    return policy


@pytest.mark.parametrize("budget", [20_000, 40_000, 60_000])
async def test_tokens_are_kept_back_so_that_the_answer_is_written_within_the_budget(
    drive: Drive, budget: int
) -> None:
    long = plan(*(sub(f"s{n}", [f"s{n - 1}"] if n else []) for n in range(30)))
    out = await drive(costly(Script(plans=lambda seen: long), 4_000), max_tokens=budget, max_steps=40)
    used = spent(out.state).tokens
    assert out.kinds[-1] == "AnswerDraft"
    assert out.state["answer"] == "the answer"
    assert out.status == "budget_exhausted"
    assert used <= budget + 4_000, "only the last call before the reserve may overshoot"
    assert used >= budget * 0.5, "the budget is used"


async def test_a_wide_wave_shrinks_to_the_tokens_left(drive: Drive) -> None:
    out = await drive(costly(Script(plans=lambda seen: WIDE), 4_000), max_tokens=24_000, max_parallel=7)
    assert len(out.steps) <= 3
    assert spent(out.state).tokens <= 28_000
    assert out.status == "budget_exhausted"


async def test_revisions_and_reflections_stop_when_tokens_are_spent(drive: Drive) -> None:
    low = Script(plans=[plan(sub("a"), score=2)], diagnoses=[diagnosis("ineffective_tool_selection")])
    out = await drive(costly(low, 6_000), max_tokens=8_000)
    assert out.kinds == ["Plan", "AnswerDraft"]
    assert "budget of tokens" in out.state["plan_reviews"][0]["skipped"]
    assert out.status == "budget_exhausted"


async def test_nothing_but_the_answer_is_asked_where_the_budget_is_too_small(drive: Drive) -> None:
    out = await drive(Script(), max_tokens=1_000)
    assert out.kinds == ["AnswerDraft"]
    assert out.status == "budget_exhausted"
    assert out.state["messages"][-1].text == "the answer"


async def test_a_replan_is_not_made_on_a_spent_budget(drive: Drive) -> None:
    script = Script(moves={"a": [ask_replan()]})
    out = await drive(script, max_steps=1)
    assert out.kinds.count("Plan") == 1
    assert out.status == "budget_exhausted"


async def test_active_seconds_end_a_run_and_siblings_count_once(drive: Drive) -> None:
    long = plan(*(sub(f"s{n}", [f"s{n - 2}"] if n > 1 else []) for n in range(20)))
    out = await drive(Script(plans=lambda seen: long), World(seconds=0.3), max_seconds=2, max_parallel=2)
    assert out.status == "budget_exhausted"
    assert out.state["progress"]["stopped"] == "seconds"
    assert 4 <= len(out.steps) <= 14
    assert out.kinds[-1] == "AnswerDraft"


async def test_dollars_end_a_run(drive: Drive) -> None:
    class Priced:
        def __init__(self, settings: Settings) -> None:
            self.inner = LiveTransport(settings)

        async def send(self, request: ModelRequest) -> ModelReply:
            return replace(await self.inner.send(request), usd=0.01)

    chain = plan(*(sub(f"s{n}", [f"s{n - 1}"] if n else []) for n in range(9)))
    out = await drive(Script(plans=[chain]), max_usd=0.06, transport=Priced)
    assert out.status == "budget_exhausted"
    assert out.state["progress"]["stopped"] == "usd"
    assert spent(out.state).usd == pytest.approx(0.07)


async def test_each_task_of_a_thread_has_its_own_budget(drive: Drive) -> None:
    out = await drive(Script(plans=[plan(sub("a"), sub("b"))]), max_steps=2)
    await out.go("a second task")
    assert out.status == "answered"
    assert [step["n"] for step in out.steps] == [1, 2, 3, 4]
    assert kind_of(out.requests[-1]) == "AnswerDraft"


def test_what_is_left_names_no_time_and_never_less_than_nothing() -> None:
    state: Any = {
        "progress": {"task": 1, "n": 30, "base_n": 5},
        "usage": {"tool": {"input_tokens": 9_999_999}},
    }
    context = Context(max_steps=20, max_tokens=10_000, max_seconds=1)
    assert left_text(state, context) == "Steps left: 0 of 20. Tokens left: about 0 thousand."
    assert wave_width(state, context) == 0
    assert exhausted(state, context) == "steps"
    assert reserve_tokens(state, context) >= 1_000


async def test_a_call_that_costs_nothing_known_is_not_free(drive: Drive) -> None:
    out = await drive(Script(moves={"a": [call("a")]}))
    assert out.state["usage"]["planner"]["unpriced"] == 1


async def test_siblings_leave_room_for_each_others_revisions(drive: Drive) -> None:
    keys = "abcd"
    script = Script(plans=[plan(*map(sub, keys))], moves={key: [call(key, score=4)] for key in keys})
    out = await drive(costly(script, 1_800), max_tokens=20_000)
    assert out.status == "budget_exhausted"
    assert len(out.steps) == 4
    assert spent(out.state).tokens <= 20_000
