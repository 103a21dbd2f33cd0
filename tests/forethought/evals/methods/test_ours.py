"""Our agent as a method: on the sample's tools, within its budget, with what its thread tells of the run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forethought.evals.harness.budget import Meter
from forethought.evals.methods.ours import NOBODY
from forethought.evals.registry import method
from forethought.evals.types import Budget, EarlierTask, InfrastructureError
from forethought.settings import Settings
from forethought.tools.base import make_tool
from tests.support.evaluating import Bureau, HouseEpisode, Replies, SafeEpisode, expert
from tests.support.household import Household
from tests.support.model_server import Answer, ModelServer, Reply, SeenRequest
from tests.support.replies import answer, call, diagnosis, finish, plan, revision, sub

OURS = method("ours")


def lookup(key: str, note: str | None = None) -> str:
    """Look something up."""
    return f"value of {key}"


def roles(**others: Any) -> Replies:
    """Our agent's roles at a task of one look-up."""
    return Replies(
        {
            "Plan": [plan(sub("s1"))],
            "PlanDiagnosis": [diagnosis()],
            "ToolChoice": [call("a")],
            "AnswerDraft": [answer("42", [1])],
            **others,
        }
    )


async def test_it_solves_a_household_through_its_own_loop(bureau: Bureau) -> None:
    house = Household(3)
    episode = HouseEpisode(house)
    out = await bureau.work(OURS, expert(house), episode=episode, budget=Budget(max_steps=40))
    attempt = out.attempt
    assert (attempt.status, attempt.reward) == ("answered", 1)
    assert attempt.steps == len(episode.steps), "a move without a call is no step"
    assert {**attempt.usage, "seconds": 0} == {**out.meter.usage, "seconds": 0}
    assert attempt.usage["calls"] == len(out.server.requests)
    trajectory = attempt.trajectory
    assert (trajectory.environment, trajectory.source) == ("household", "forethought")
    assert [step.arguments["action"] for step in trajectory.steps if step.tool] == episode.steps
    assert all(step.changes_world for step in trajectory.steps if step.tool)
    planner = out.asked("Plan")[0]
    assert "act(action: string)" in planner.role_text
    assert "read_file" not in planner.role_text, "no tool is offered but the sample's"
    assert "What the environment shows at the beginning:\n<observation>\nYou are in a room" in planner.last


async def test_what_the_roles_thought_of_themselves_is_read_from_the_thread(bureau: Bureau) -> None:
    replies = roles(
        Plan=[plan(sub("s1"), score=6), plan(sub("s1"), score=8), plan(sub("s1")), plan(sub("s2"))],
        PlanDiagnosis=[diagnosis("ineffective_tool_selection"), diagnosis(), diagnosis()],
        PlanRevision=[revision(sub("s1"))],
        ToolChoice=[call("a", score=4), call("b"), call("c", score=10)],
        AnswerDraft=[answer("41", [1], score=6), answer("42", [2], score=9)],
    )
    out = await bureau.work(OURS, replies, tools=[make_tool(lookup)])
    attempt = out.attempt
    assert (attempt.answer, attempt.status, attempt.tries, attempt.steps) == ("42", "answered", 2, 2)
    assert attempt.self_scores == {"planner": [9, 9], "tool": [4, 9, 10], "answer": [6, 9]}
    assert attempt.plan_errors == [["ineffective_tool_selection"], [], []]
    assert attempt.trajectory.steps[0].planning.startswith("Plan 2")
    assert attempt.reward is None


async def test_an_operators_bounds_keep_no_earlier_conversation_out(
    bureau: Bureau, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORETHOUGHT_ACCESS_TOKENS", "alice=alices-very-own-token")
    earlier = [EarlierTask("Which tower is older?", "Ulm")]
    out = await bureau.work(OURS, roles(), tools=[make_tool(lookup)], earlier=earlier)
    assert out.attempt.status == "answered"
    assert "Which tower is older?" in out.server.requests[0].text


async def test_it_keeps_to_the_token_budget(bureau: Bureau) -> None:
    model = roles(ToolChoice=[call(f"k{n}", finishes=False) for n in range(40)])

    def dear(seen: SeenRequest) -> Answer:
        reply = model(seen)
        assert isinstance(reply, dict)
        return Reply(reply, prompt_tokens=1_900, completion_tokens=100)

    out = await bureau.work(
        OURS, dear, tools=[make_tool(lookup)], budget=Budget(max_steps=60, max_tokens=30_000)
    )
    assert (out.attempt.answer, out.attempt.status) == ("42", "budget_exhausted")
    assert 20_000 <= out.meter.tokens <= 30_000


async def test_a_budget_that_ends_in_the_middle_leaves_an_attempt(
    bureau: Bureau, model_server: Callable[..., ModelServer]
) -> None:
    meter = Meter()
    meter.usage["input_tokens"] = Budget().max_tokens - 200
    workshop = bureau.workshop(model_server(roles()), tools=[make_tool(lookup)], meter=meter)
    attempt = await OURS.run(workshop)
    assert (attempt.answer, attempt.status, attempt.usage["calls"]) == ("", "failed", 2)
    assert "the token budget was spent" in attempt.trajectory.notes[-1]


async def test_a_call_that_needs_approval_is_refused_and_the_agent_goes_on(
    bureau: Bureau, settings: Callable[..., Settings]
) -> None:
    bureau.settings = lambda *given, **more: settings(*given, least_approval="always", **more)
    safe, tried = SafeEpisode(), call(tool="open_safe", code="407", finishes=False)
    ended = finish("It cannot be opened without approval.")
    replies = roles(ToolChoice=[tried, ended], AnswerDraft=[answer("42", [2])])
    out = await bureau.work(OURS, replies, episode=safe)
    assert (out.attempt.reward, safe.called, out.attempt.steps) == (0, [], 0)
    assert out.attempt.answer == "42"
    assert NOBODY in out.attempt.trajectory.steps[0].observation


async def test_any_other_question_to_a_person_ends_the_attempt_with_its_reason(
    bureau: Bureau, settings: Callable[..., Settings]
) -> None:
    bureau.settings = lambda *given, **more: settings(*given, require_plan_approval=True, **more)
    out = await bureau.work(OURS, roles(), tools=[make_tool(lookup)])
    assert (out.attempt.status, out.attempt.answer) == ("failed", "")
    assert "it asked a person (plan), but an evaluation has none" in out.attempt.trajectory.notes[-1]


async def test_a_limit_that_cannot_be_kept_is_no_failed_task(bureau: Bureau) -> None:
    with pytest.raises(InfrastructureError, match="max_usd cannot be enforced"):
        await bureau.work(OURS, roles(), context={"max_usd": 1})


async def test_files_and_built_in_tools_are_at_hand(bureau: Bureau, tmp_path: Path) -> None:
    (tmp_path / "prices.txt").write_text("A pear costs 3 euros.")
    replies = roles(
        ToolChoice=[
            call(tool="read_file", path="prices.txt", part=None, question=None, finishes=False),
            call(tool="python", code="print('pear' in read_file('prices.txt'), 2 * 3)"),
        ]
    )
    out = await bureau.work(
        OURS,
        replies,
        builtin=["read_file", "python"],
        files=[tmp_path / "prices.txt"],
        budget=Budget(max_steps=2),
    )
    steps = out.attempt.trajectory.steps
    assert "A pear costs 3 euros." in steps[0].observation
    assert steps[1].observation.strip() == "True 6"
    assert "web_search" not in out.asked("Plan")[0].role_text


async def test_a_task_without_any_tool_can_be_answered(bureau: Bureau) -> None:
    replies = roles(ToolChoice=[finish("It follows from the task.")])
    out = await bureau.work(OURS, replies, answer_format="a number")
    assert (out.attempt.answer, out.attempt.status) == ("42", "answered")
    (seen,) = out.asked("ToolChoice")
    assert seen.schema["properties"]["action"]["enum"] == ["finish", "replan"]
    assert not {"tool", "arguments", "finishes"} & set(seen.schema["properties"])
    assert "There are none" in seen.role_text
