"""Going on after an exception, and forking before a step: the prefix is not run again."""

from __future__ import annotations

from typing import Any

import pytest

from forethought.models.types import TransportError
from tests.support.agent import Drive, Driven, Script, kind_of, subtask_of
from tests.support.model_server import Fault, SeenRequest
from tests.support.replies import answer, call, finish, plan, sub

CHAIN = plan(sub("a"), sub("b", ["a"]), sub("c", ["b"]))


def failing_once(script: Script, kind: str, subtask: str = "") -> Any:
    """`script`, but the first request of `kind` (for `subtask`) is answered with a 500."""
    failed: list[int] = []

    def policy(seen: SeenRequest) -> Any:
        mine = kind_of(seen) == kind and (not subtask or subtask_of(seen) == subtask)
        if mine and not failed:
            failed.append(seen.n)
            return Fault("500")
        return script(seen)

    return policy


@pytest.mark.parametrize(
    ("kind", "subtask"), [("Plan", ""), ("PlanDiagnosis", ""), ("ToolChoice", "b"), ("AnswerDraft", "")]
)
async def test_after_an_exception_only_the_failed_call_is_made_again(
    drive: Drive, kind: str, subtask: str
) -> None:
    out = await drive(failing_once(Script(plans=[CHAIN]), kind, subtask), task=None)
    with pytest.raises(TransportError):
        await out.go()
    assert kind_of(out.requests[-1]) == kind
    await out.go(None)
    assert out.status == "answered"
    calm = ["Plan", "PlanDiagnosis", "ToolChoice", "ToolChoice", "ToolChoice", "AnswerDraft"]
    at = len(out.requests) - len(calm)
    assert at == 1
    first_failed = next(
        n
        for n, seen in enumerate(out.requests)
        if kind_of(seen) == kind and (not subtask or subtask_of(seen) == subtask)
    )
    kinds = out.kinds
    assert kinds[:first_failed] + kinds[first_failed + 1 :] == calm
    assert out.world.calls == ["a", "b", "c"]
    assert [step["n"] for step in out.steps] == [1, 2, 3]


async def before(out: Driven, n: int) -> Any:
    """The checkpoint whose pending tasks are the wave of step `n`, walked from the head."""
    snapshot = await out.graph.aget_state(out.config)
    while snapshot.parent_config:
        snapshot = await out.graph.aget_state(snapshot.parent_config)
        if "tool_agent" in snapshot.next and any(item["n"] == n for item in snapshot.values["dispatch"]):
            return snapshot
    raise AssertionError(f"no checkpoint before step {n}")


async def test_a_fork_before_a_step_runs_only_what_follows_and_shows_the_guidance_everywhere(
    drive: Drive,
) -> None:
    plans = [CHAIN, plan(sub("d"))]
    script = Script(plans=plans, answers=[answer("first"), answer(score=4), answer("second")])
    out = await drive(script, round_reflection=True)
    count = len(out.requests)
    snapshot = await before(out, 2)
    forked = await out.graph.aupdate_state(
        snapshot.config, {"guidance": ["mind the footnote"]}, as_node="replan_trigger"
    )
    assert (await out.graph.aget_state(forked)).next == ("tool_agent",)
    await out.graph.ainvoke(None, forked, context=out.context)
    await out.look()
    later = out.requests[count:]
    assert kind_of(later[0]) == "ToolChoice"
    assert subtask_of(later[0]) == "b"
    kinds = {"ToolChoice", "AnswerDraft", "RoundReflection", "Plan", "PlanDiagnosis"}
    assert {kind_of(seen) for seen in later} == kinds
    assert all("mind the footnote" in seen.text for seen in later)
    assert out.world.calls[3:5] == ["b", "c"]
    assert out.state["answer"] == "second"
    assert [step["n"] for step in out.steps][:3] == [1, 2, 3]
    assert out.state["guidance"] == []


async def test_a_plan_edited_at_a_checkpoint_is_what_is_executed(drive: Drive) -> None:
    out = await drive(Script(plans=[CHAIN]))
    snapshot = await out.graph.aget_state(out.config)
    while "replan_trigger" not in snapshot.next or snapshot.values["progress"]["n"] != 1:
        snapshot = await out.graph.aget_state(snapshot.parent_config)
    edited = {**snapshot.values["plan"]}
    edited["subtasks"] = [
        edited["subtasks"][0],
        {**edited["subtasks"][1], "id": "mine", "description": "my way"},
    ]
    forked = await out.graph.aupdate_state(snapshot.config, {"plan": edited}, as_node="prospective_reflector")
    count = len(out.requests)
    await out.graph.ainvoke(None, forked, context=out.context)
    await out.look()
    assert out.subtasks == {"a": "finished", "mine": "finished"}
    assert out.world.calls[3:] == ["mine"]
    assert "my way" in out.requests[count].text


async def test_an_edited_proposal_is_what_is_carried_out(drive: Drive) -> None:
    out = await drive(Script(moves={"a": [call("wrong")]}))
    snapshot = await out.graph.aget_state(out.config)
    while "tool_executor" not in snapshot.next:
        snapshot = await out.graph.aget_state(snapshot.parent_config)
    proposal = {**snapshot.values["proposals"]["a"], "arguments": {"key": "right"}}
    forked = await out.graph.aupdate_state(
        snapshot.config, {"proposals": {"a": proposal}}, as_node="tool_agent"
    )
    await out.graph.ainvoke(None, forked, context=out.context)
    assert out.world.calls == ["wrong", "right"]


async def test_an_edited_proposal_for_a_tool_that_is_not_there_is_a_failed_step(drive: Drive) -> None:
    out = await drive(Script(moves={"a": [call("x"), finish("done")]}))
    snapshot = await out.graph.aget_state(out.config)
    while "tool_executor" not in snapshot.next:
        snapshot = await out.graph.aget_state(snapshot.parent_config)
    proposal = {**snapshot.values["proposals"]["a"], "tool": "hammer"}
    forked = await out.graph.aupdate_state(
        snapshot.config, {"proposals": {"a": proposal}}, as_node="tool_agent"
    )
    await out.graph.ainvoke(None, forked, context=out.context)
    await out.look()
    assert "hammer" in out.steps[0]["observation"]
    assert not out.steps[0]["ok"]
    assert out.status == "answered"
