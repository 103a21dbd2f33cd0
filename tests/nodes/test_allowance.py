"""Budgets within a step: the share that each subtask of a wave may use, what a cancelled call had paid, and
waits that the task's time has no room for."""

from __future__ import annotations

import base64
import time
from typing import Any

import pytest
from langgraph.types import Command

from forethought.graph.resume import restart_failed_task
from forethought.nodes.support.budget import spent
from forethought.tools.base import ToolEnv, make_tool
from tests.support.agent import Drive, Script, World, kind_of, subtask_of
from tests.support.model_server import Fault, Reply, SeenRequest
from tests.support.replies import answer, call, finish, plan, sub

TASK = {"task": "?", "files": [{"name": "a.txt", "data": base64.b64encode(b"words " * 50).decode()}]}
TWENTY = """
for i in range(20):
    try:
        read_file(path='a.txt', question='%s %%d?' %% i)
    except RuntimeError as error:
        print(error)
"""
KEYS = "abcd"


def asking(inspected: Any, tokens: int = 2_000) -> Any:
    """Four subtasks side by side whose programs ask twenty questions each; the inspector's reply to each is
    `inspected` and costs `tokens`, any other reply 1,000."""
    script = Script(
        plans=[plan(*map(sub, KEYS))],
        moves={key: [{**call(tool="python"), "arguments": {"code": TWENTY % key}}] for key in KEYS},
    )

    def policy(seen: SeenRequest) -> Any:
        if kind_of(seen) == "DocumentAnswer":
            return Reply(inspected, prompt_tokens=tokens - 100, completion_tokens=100)
        return Reply(script(seen), prompt_tokens=900, completion_tokens=100)

    return policy


@pytest.mark.parametrize(
    "inspected", [{"brief": "x", "details": "", "context": ""}, "no json"], ids=["valid", "to be repaired"]
)
async def test_a_waves_programs_ask_no_more_than_their_share_pays_for(drive: Drive, inspected: Any) -> None:
    out = await drive(asking(inspected), task=TASK, max_tokens=20_000, max_rounds=1)
    asked = len(out.asked("DocumentAnswer"))
    assert 4 <= asked <= 8
    assert spent(out.state).tokens <= 20_000 + 4 * 2_000
    assert out.state["usage"]["inspector"]["calls"] == asked
    assert out.state["answer"] == "the answer"
    for step in out.steps:
        said = step["observation"].splitlines()[-1]
        assert said.startswith("limit: no model is asked about a.txt: this step's share of the")
        assert step["sub_steps"][-1]["cause"] == "limit"


async def test_a_program_calls_nothing_more_when_the_time_is_spent(drive: Drive) -> None:
    world = World(seconds=0.7)
    code = "for i in range(20):\n  try:\n    lookup(key=str(i))\n  except RuntimeError as e:\n    print(e)"
    script = Script(moves={"a": [{**call(tool="python"), "arguments": {"code": code}}]})
    out = await drive(script, world, max_seconds=2.0)
    assert 1 <= len(world.calls) <= 4
    assert "limit: this step's share of the seconds budget is spent" in out.steps[0]["observation"]
    assert out.state["answer"] == "the answer"


async def digest(env: ToolEnv, about: str) -> str:
    """Digest.

    Args:
        about: What.
    """
    assert env.inspect is not None
    return (await env.inspect("what?", f"text of {about}", "doc")).brief


async def test_what_was_paid_before_a_tools_timeout_is_booked(drive: Drive) -> None:
    move = call(tool="digest", about="x", finishes=False)
    script, replies = Script(moves={"a": [move, finish("gave up")]}), iter(("no json", "none", None))

    def policy(seen: SeenRequest) -> Any:
        if kind_of(seen) == "DocumentAnswer":
            text = next(replies)
            return Reply(text, prompt_tokens=50_000, completion_tokens=10) if text else Fault("hang")
        return script(seen)

    out = await drive(policy, tools=[make_tool(digest, effect="read", timeout_s=1)])
    assert out.steps[0]["cause"] == "timeout"
    used = out.state["usage"]["inspector"]
    assert (used["calls"], used["input_tokens"], used["output_tokens"]) == (3, 100_000, 20)
    assert out.steps[0]["usage"]["input_tokens"] >= 100_000
    assert used["seconds"] > 0.5


def limited(script: Script, kind: str, retry_after: str = "60") -> Any:
    """`script`, whose requests for `kind` are turned down for ever."""
    return lambda seen: Fault("429", retry_after=retry_after) if kind_of(seen) == kind else script(seen)


@pytest.mark.parametrize("kind", ["Plan", "PlanDiagnosis", "ToolChoice"])
async def test_a_wait_that_the_tasks_time_has_no_room_for_is_not_begun(drive: Drive, kind: str) -> None:
    started = time.monotonic()
    out = await drive(limited(Script(), kind), max_seconds=30, setting={"request_retries": 10})
    assert time.monotonic() - started < 30
    assert len(out.asked(kind)) == 1
    assert out.status == "budget_exhausted"
    assert out.state["progress"]["stopped"] == "seconds"
    assert out.state["answer"] == "the answer"


async def test_an_inspectors_wait_has_its_bound_too(drive: Drive) -> None:
    move = call(tool="read_file", path="a.txt", part=None, question="?", finishes=False)
    script = Script(plans=[plan(sub("a"), sub("b", ["a"]))], moves={"a": [move]})
    out = await drive(
        limited(script, "DocumentAnswer"), task=TASK, max_seconds=30, setting={"request_retries": 10}
    )
    assert out.steps[0]["cause"] == "limit"
    assert "the time of the task is spent" in out.steps[0]["observation"]
    assert out.status == "budget_exhausted"


async def test_an_answer_that_there_is_no_time_to_wait_for_is_written_on_resume(drive: Drive) -> None:
    waits = [Fault("429", retry_after="60"), answer()]
    out = await drive(Script(answers=waits), max_seconds=30, setting={"request_retries": 10})
    assert out.status == "failed"
    assert "the time of the task is spent" in out.state["messages"][-1].text
    await restart_failed_task(out.graph, out.config, out.state)
    await out.go(None)
    assert (out.status, out.state["answer"]) == ("answered", "the answer")
    assert len(out.asked("ToolChoice")) == 1


async def test_repairs_end_with_the_budget(drive: Drive) -> None:
    script = Script(moves={"a": [call("x")]})

    def policy(seen: SeenRequest) -> Any:
        value = "no json" if kind_of(seen) == "ToolChoice" else script(seen)
        return Reply(value, prompt_tokens=5_990, completion_tokens=10)

    out = await drive(policy, max_tokens=20_000, prospective_reflection=False)
    assert len(out.asked("ToolChoice")) == 2
    assert "no valid reply" in out.steps[0]["observation"]
    assert out.status == "budget_exhausted"


class Limited:
    """`script`, whose requests for a plan and an answer, or else the moves of `subtasks`, are refused until
    it is `well`."""

    def __init__(self, script: Script, subtasks: str = "") -> None:
        self.script, self.subtasks, self.well = script, subtasks, False

    def __call__(self, seen: SeenRequest) -> Any:
        if self.well:
            return self.script(seen)
        if self.subtasks:
            turned_down = kind_of(seen) == "ToolChoice" and subtask_of(seen) in self.subtasks
        else:
            turned_down = kind_of(seen) in ("Plan", "AnswerDraft")
        return Fault("429", retry_after="60") if turned_down else self.script(seen)


@pytest.mark.parametrize("seconds", [30, 3_600])
async def test_a_task_that_had_no_time_to_wait_is_worked_on_when_it_is_resumed(
    drive: Drive, seconds: int
) -> None:
    model = Limited(Script())
    out = await drive(model, max_seconds=30, setting={"request_retries": 10})
    assert out.status == "failed"
    model.well = True
    await restart_failed_task(out.graph, out.config, out.state)
    await out.go(None, max_seconds=seconds)
    assert (out.status, len(out.steps)) == ("answered", 1)
    calls = {role: usage["calls"] for role, usage in out.state["usage"].items()}
    assert calls == {"planner": 2, "reflector": 1, "tool": 1, "answer": 2}, (
        "what was asked before stays booked"
    )


@pytest.mark.parametrize(("seconds", "status"), [(30, "budget_exhausted"), (45, "answered")])
async def test_more_time_lets_a_task_work_on_that_waited_for_a_person_meanwhile(
    drive: Drive, seconds: int, status: str
) -> None:
    script = Script(plans=[plan(*map(sub, "abc"))], moves={"b": [call(tool="ask_user", question="?")]})
    model = Limited(script, "ac")
    out = await drive(model, max_seconds=30, setting={"request_retries": 10})
    assert len(await out.waiting()) == 1
    model.well = True
    await out.go(Command(resume="yes"), max_seconds=seconds)
    assert out.status == status
