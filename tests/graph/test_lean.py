"""Runs of small models: lean prompts, the same graph, and one loop if no plan comes."""

from __future__ import annotations

from typing import Any

import pytest

from forethought.state.context import Context
from forethought.state.reply_style import is_small, why_lean, with_style
from tests.support.agent import Drive, Driven, Script
from tests.support.replies import INVALID

PLAN = {"subtasks": [{"id": "a", "description": "look a up"}, {"id": "b", "description": "look b up"}]}
LOOK = {"thought": "", "action": "lookup", "arguments": {"key": "a"}, "finishes": False, "result": ""}
DONE = {**LOOK, "action": "finish", "arguments": {}, "result": "it is 3"}
ANSWER = {"missing": "", "answer": "It is 3.", "used_steps": [1]}


def left_out(out: Driven) -> list[str]:
    return [skip["mechanism"] for skip in out.state["skipped"]]


async def lean(drive: Drive, script: Script, **switches: Any) -> Driven:
    return await drive(script, **{"effort": "auto", "reply_style": "lean", **switches})


async def test_a_lean_run_has_the_same_nodes_and_no_other_mechanism(drive: Drive) -> None:
    moves = {key: [{**LOOK, "finishes": True, "arguments": {"key": key}}] for key in ("a", "b")}
    out = await lean(drive, Script(plans=[PLAN], moves=moves, answers=[ANSWER]))
    assert out.kinds == ["Plan", "ToolChoice", "ToolChoice", "AnswerDraft"]
    assert (out.status, out.state["answer"], out.world.calls) == ("answered", "It is 3.", ["a", "b"])
    assert all(len(seen.schema["properties"]) <= 6 for seen in out.requests if seen.schema)
    assert left_out(out) == ["full_replies"]


async def test_a_gap_in_the_answer_is_worked_on_once(drive: Drive) -> None:
    gap = {**ANSWER, "missing": "the price of b"}
    moves = {"a": [{**LOOK, "finishes": True}], "mend": [DONE]}
    plans = [{"subtasks": PLAN["subtasks"][:1]}]
    out = await lean(drive, Script(plans=plans, moves=moves, answers=[gap, ANSWER]))
    assert out.kinds == ["Plan", "ToolChoice", "AnswerDraft", "ToolChoice", "AnswerDraft"]
    assert "the price of b" in out.asked("ToolChoice", "mend")[0].text
    assert out.status == "answered"


@pytest.mark.parametrize(("style", "asked"), [("lean", 2), ("full", 3)])
async def test_without_a_valid_plan_one_worker_does_the_task_step_by_step(
    drive: Drive, style: str, asked: int
) -> None:
    look, done = ({**move, "defects": []} for move in (LOOK, DONE))
    moves = {"task": [{**look, "tool": "lookup", "action": "call"}, done]}
    answer = {**ANSWER, "checks": []}
    out = await lean(drive, Script(plans=[INVALID], moves=moves, answers=[answer]), reply_style=style)
    assert out.kinds == ["Plan"] * asked + ["ToolChoice", "ToolChoice", "AnswerDraft"]
    assert (out.status, out.world.calls) == ("answered", ["a"])
    why = {skip["mechanism"]: skip["why"] for skip in out.state["skipped"]}
    assert why["planning"] == out.state["plan"]["why"]


async def test_a_model_that_writes_nothing_of_use_ends_soon_and_says_so(drive: Drive) -> None:
    out = await lean(drive, Script(plans=[INVALID], moves={"task": [INVALID]}, answers=[INVALID]))
    assert len(out.requests) <= 8
    assert out.status == "failed"
    assert "no valid answer" in out.state["messages"][-1].text


async def test_a_gap_that_the_one_worker_left_is_told(drive: Drive) -> None:
    gap = {**ANSWER, "missing": "the price of b"}
    out = await lean(drive, Script(plans=[INVALID], moves={"task": [DONE]}, answers=[gap]))
    assert (out.status, out.state["draft"]["evaluation"]) == ("best_effort", "not met: the price of b")


async def test_a_person_approves_the_one_loop_as_any_plan(drive: Drive) -> None:
    script = Script(plans=[INVALID], moves={"task": [DONE]}, answers=[ANSWER])
    out = await lean(drive, script, approve_plan=True)
    assert len(await out.waiting()) == 1
    assert (await out.reply("approve")).status == "answered"


@pytest.mark.parametrize(
    ("name", "small"),
    [
        ("openai:SmolLM2-135M-Instruct.Q4_1.gguf", True),
        ("ollama:qwen2.5:0.5b", True),
        ("ollama:gemma3n:e2b", True),
        ("tinyllama", True),
        ("openai:gpt-4.1-mini", False),
        ("groq:llama-3.1-8b-instant", False),
        ("qwen3:30b-a3b", False),
        ("mixtral-8x7b", False),
    ],
)
def test_a_name_tells_whether_a_model_is_small(name: str, small: bool) -> None:
    assert is_small(name) == small


def test_the_style_follows_the_models_the_window_and_the_setting() -> None:
    assert "small model" in why_lean(Context(tool_model="ollama:qwen2.5:0.5b"))
    assert "16,000" in why_lean(Context(context_tokens=16_000))
    assert why_lean(Context(context_tokens=16_001)) == ""
    assert why_lean(Context(context_tokens=16_000, reply_style="full")) == ""
    assert why_lean(Context(context_tokens=16_000, effort="paper")) == ""
    assert why_lean(Context(effort="paper", reply_style="lean"))
    lean_context = with_style(Context(tool_intra=True), lean=True)
    assert (lean_context.lean, lean_context.tool_intra) == (True, False)
