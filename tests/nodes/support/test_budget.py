"""Budgets: steps, tokens, seconds, dollars; what is kept back for the answer; the status."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from typing import Any

import pytest

from forethought.models.pricing import estimate_tokens
from forethought.models.types import ModelReply, ModelRequest
from forethought.nodes.support.budget import Width, exhausted, left_text, reserve_tokens, spent, wave_width
from forethought.nodes.support.tool_env import earlier_failure
from forethought.state.context import Context
from tests.support.agent import Drive, Script, World, broken, kind_of
from tests.support.model_server import Reply, SeenRequest
from tests.support.replies import answer, ask_replan, call, diagnosis, finish, plan, sub

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


async def test_only_calls_that_were_made_use_up_the_steps(drive: Drive) -> None:
    """A result handed over, a repeat refused, a plan asked for and a move that scored too low are moves."""
    script = Script(
        plans=lambda seen: plan(sub("a"), sub("b", ["a"])),
        moves={
            "a": [call("1", finishes=False), ask_replan(), call("2"), call("2"), call("a", finishes=False),
                  finish("found")],
            "b": [*[call("b", score=1)] * 3, call("b")],
        },
    )  # fmt: skip
    world = World({"2": [broken("locked")]})
    out = await drive(script, world, max_steps=4, max_attempts=9)
    assert out.world.calls == ["1", "2", "a", "b"]
    assert [step["cause"] or step["action"] for step in out.steps] == [
        "call", "replan", "tool", "repeat", "call", "finish", "proposal", "call",
    ]  # fmt: skip
    assert out.status == "answered"
    assert "0 of 4 tool calls, 4 of 12 moves" in out.asked("ToolChoice")[-1].text


async def test_moves_have_a_cap_of_their_own(drive: Drive) -> None:
    moves = {f"s{n}": [finish(f"known {n}")] for n in range(6)}
    long = plan(*(sub(f"s{n}", [f"s{n - 1}"] if n else []) for n in range(6)))
    out = await drive(Script(plans=[long], moves=moves), max_steps=5, max_moves=4)
    assert (len(out.steps), out.world.calls) == (4, [])
    assert (out.status, out.state["progress"]["stopped"]) == ("budget_exhausted", "moves")
    assert "budget of moves is spent" in out.asked("AnswerDraft")[0].text


async def test_without_a_number_moves_are_three_times_the_steps(drive: Drive) -> None:
    moves = {f"s{n}": [finish(f"known {n}")] for n in range(8)}
    out = await drive(Script(plans=[plan(*(sub(f"s{n}") for n in range(8)))], moves=moves), max_steps=2)
    assert len(out.steps) == 6, "three times the steps"
    assert out.state["progress"]["stopped"] == "moves"


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
    out = await drive(script, max_moves=1)
    assert out.kinds.count("Plan") == 1
    assert out.status == "budget_exhausted"


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
    assert left_text(state, context) == "0 of 20 tool calls, 35 of 60 moves, about 0 thousand tokens."
    assert wave_width(state, context).subtasks == 0
    assert exhausted(state, context) == "steps"
    assert reserve_tokens(state, context) >= 1_000


async def test_a_call_that_costs_nothing_known_is_not_free(drive: Drive) -> None:
    out = await drive(Script(moves={"a": [call("a")]}))
    assert out.state["usage"]["planner"]["unpriced"] == 1


@dataclass
class Priced:
    """A model whose every call costs a cent and takes `seconds`; calls in flight are counted."""

    script: Script
    seconds: float = 0.0
    running: int = 0
    widest: int = 0

    async def send(self, request: ModelRequest) -> ModelReply:
        """See `Transport`."""
        self.running += 1
        self.widest = max(self.widest, self.running)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.running -= 1
        messages = [{"role": message.role, "content": message.text} for message in request.messages]
        shape = {"type": "json_schema", "json_schema": {"name": request.reply, "schema": request.schema}}
        reply = self.script(SeenRequest(0, {"messages": messages, "response_format": shape}, {}))
        return ModelReply(json.dumps(reply), input_tokens=900, output_tokens=100, usd=0.01)


EIGHT = [f"w{n}" for n in range(8)]


@pytest.mark.parametrize("low", [False, True], ids=["passing", "revised"])
@pytest.mark.parametrize(
    ("name", "budget"),
    [("max_usd", 0.05), ("max_usd", 0.08), ("max_usd", 0.3), ("max_tokens", 9_000), ("max_tokens", 30_000)],
)
async def test_waves_of_eight_keep_within_the_budget_and_an_answer_is_written(
    drive: Drive, name: str, budget: float, low: bool
) -> None:
    later = [sub(f"x{n}", EIGHT) for n in range(40)]
    script = Script(
        plans=lambda seen: plan(*map(sub, EIGHT), *later),
        moves={key: [call(key, score=5 if low else 9)] for key in EIGHT},
    )
    out = await drive(
        script, transport=lambda settings: Priced(script), max_parallel=8, max_steps=100, **{name: budget}
    )
    used = spent(out.state)
    assert out.status == "budget_exhausted"
    assert out.state["progress"]["stopped"] == name.removeprefix("max_")
    assert out.state["answer"] == "the answer"
    assert (used.usd if name == "max_usd" else used.tokens) <= budget * (1 + 1e-9)


async def test_seconds_are_exceeded_by_no_more_than_the_calls_in_flight(drive: Drive) -> None:
    model = Priced(Script(plans=lambda seen: plan(*(sub(f"w{n}") for n in range(200)))), seconds=0.05)
    out = await drive(transport=lambda settings: model, max_parallel=8, max_steps=400, max_seconds=0.8)
    assert out.status == "budget_exhausted"
    assert out.state["progress"]["stopped"] == "seconds"
    assert model.widest == 8
    assert out.state["answer"] == "the answer"
    waves: dict[int, float] = {}
    for step in out.steps:
        waves[step["wave"]] = max(waves.get(step["wave"], 0.0), step["seconds"])
    calls = sum(u["seconds"] for role, u in out.state["usage"].items() if role not in ("tool", "answer"))
    assert calls + sum(list(waves.values())[:-1]) <= 0.8, "the last wave began within the budget"


@pytest.mark.parametrize(("score", "revisions"), [(5, 2)])
async def test_siblings_seconds_count_once_when_it_is_asked_whether_to_revise(
    drive: Drive, score: int, revisions: int
) -> None:
    script = Script(plans=[plan(*map(sub, EIGHT))], moves={key: [call(key, score=score)] for key in EIGHT})
    out = await drive(transport=lambda settings: Priced(script, seconds=0.2), max_parallel=8, max_seconds=6.0)
    proposals = [entry for entry in out.steps if entry["usage"]["calls"] == revisions + 1]
    assert len(proposals) == 8, "each revised as often as it may"


def test_the_width_of_a_wave_names_the_budget_that_bounds_it() -> None:
    state: Any = {"usage": {"planner": {"calls": 2, "usd": 0.02, "input_tokens": 900}}}
    assert wave_width(state, Context(max_parallel=8, max_usd=0.1)) == Width(7, "usd")
    assert wave_width(state, Context(max_parallel=8, max_usd=0.021)) == Width(0, "usd")
    assert wave_width(state, Context(max_parallel=8, max_usd=10)) == Width(8, "")
    assert wave_width({}, Context(max_parallel=8, max_usd=0.001)) == Width(8, ""), "no price was seen yet"
    assert wave_width(state, Context(max_parallel=20, max_steps=20)).bound == ""
    assert wave_width(state, Context(max_parallel=32, max_steps=3)) == Width(3, "steps")


async def test_a_wave_leaves_room_for_what_its_steps_add_to_the_answers_prompt(drive: Drive) -> None:
    first = [sub("s0"), *(sub(key, ["s0"]) for key in EIGHT), *(sub(f"x{n}", EIGHT) for n in range(9))]
    pages = {key: ["p" * 20_000] for key in ("s0", *EIGHT, *(f"x{n}" for n in range(9)))}
    script = Script(plans=lambda seen: plan(*first))

    class Metered(Priced):
        async def send(self, request: ModelRequest) -> ModelReply:
            got = await super().send(request)
            tokens = sum(estimate_tokens(message.text) for message in request.messages)
            return replace(got, input_tokens=tokens) if request.reply == "AnswerDraft" else got

    out = await drive(
        script,
        World(pages),
        transport=lambda settings: Metered(script),
        max_parallel=8,
        max_tokens=60_000,
        replanning=False,
        prospective_reflection=False,
    )
    assert out.status == "budget_exhausted"
    assert len(out.steps) >= 4
    assert spent(out.state).tokens <= 60_000


def paid(script: Script, **costs: int) -> Any:
    """`script`, whose replies cost as many tokens as `costs` says of their kind, else 1,000."""

    def policy(seen: SeenRequest) -> Any:
        tokens = costs.get(kind_of(seen), 1_000)
        return Reply(script(seen), prompt_tokens=tokens - 10, completion_tokens=10)

    return policy


@pytest.mark.parametrize(("budget", "asked"), [(16_000, 3), (9_000, 2), (5_000, 1)])
async def test_the_answers_repairs_are_paid_from_what_is_left(drive: Drive, budget: int, asked: int) -> None:
    script = Script(answers=["no json"])
    out = await drive(paid(script, AnswerDraft=4_000), max_tokens=budget, prospective_reflection=False)
    assert len(out.asked("AnswerDraft")) == asked
    assert spent(out.state).tokens - 4_000 < budget, "the last of them was begun within it"
    assert out.status == "failed"
    said = out.state["messages"][-1].text
    assert ("the budget of tokens is spent" in said) == (asked < 3)


async def test_what_was_kept_back_pays_for_the_answers_repair_though_calls_in_flight_took_more(
    drive: Drive,
) -> None:
    script = Script(answers=["no json", answer()])
    out = await drive(paid(script, ToolChoice=30_000), max_tokens=20_000)
    assert len(out.asked("AnswerDraft")) == 2
    assert out.state["answer"] == "the answer"

    script = Script(answers=["no json", answer()])
    out = await drive(paid(script, ToolChoice=30_000, AnswerDraft=5_000), max_tokens=20_000, thread="u")
    assert len(out.asked("AnswerDraft")) == 1
    assert spent(out.state).tokens == 2_000 + 30_000 + 5_000


async def test_dollars_end_the_answers_repairs(drive: Drive) -> None:
    script = Script(plans=[plan(*(sub(f"s{n}", [f"s{n - 1}"] if n else []) for n in range(9)))])
    script.answers = ["no json"]
    out = await drive(transport=lambda settings: Priced(script), max_usd=0.06)
    assert spent(out.state).usd == pytest.approx(0.06)
    assert "the budget of usd is spent" in out.state["messages"][-1].text


async def test_a_rounds_reflection_is_paid_from_what_its_answer_left(drive: Drive) -> None:
    script = Script(answers=[answer(score=2)], reflections=["no json"])
    costs = {"AnswerDraft": 8_000, "RoundReflection": 4_000}
    out = await drive(paid(script, **costs), max_tokens=17_000, round_reflection=True, max_rounds=2)
    assert len(out.asked("RoundReflection")) == 1


async def test_no_tool_is_called_once_the_time_is_spent(drive: Drive) -> None:
    class Slow(Priced):
        async def send(self, request: ModelRequest) -> ModelReply:
            self.seconds = 1.5 if request.reply == "ToolChoice" else 0.0
            return await super().send(request)

    script = Script(plans=[plan(sub("a"), sub("b"))], moves={"b": [finish("known")]})
    out = await drive(script, transport=lambda settings: Slow(script), max_seconds=1.5, max_attempts=1)
    assert out.world.calls == []
    assert [(step["cause"], step["approval"], step["finished"]) for step in out.steps] == [
        ("limit", "", False),
        ("", "", True),
    ]
    assert "Not called: " in out.steps[0]["observation"]
    assert out.status == "budget_exhausted", "a call that was not made is no failed attempt"
    assert out.state["answer"] == "the answer"
    assert earlier_failure(out.world.tool(), out.steps[0]["arguments"], out.state) is None


async def test_a_budget_of_tokens_holds_where_no_reply_tells_what_it_used(drive: Drive) -> None:
    script = Script(moves={"a": lambda seen: call(f"k{seen.n}", finishes=False)})

    def policy(seen: SeenRequest) -> Any:
        return Reply(script(seen), told=False)

    out = await drive(policy, max_tokens=20_000, max_steps=30, max_attempts=10)
    assert out.state["progress"]["stopped"] == "tokens"
    assert len(out.steps) > 1
    assert sum(len(seen.text) for seen in out.requests) / 3.5 < spent(out.state).tokens <= 20_000
