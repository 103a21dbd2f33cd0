"""Re-runs in environments, on households whose critical error is known by construction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from langgraph.errors import GraphDrained

from forethought.models.ask import Models
from forethought.models.types import no_usage
from forethought.rollouts.environment import EnvironmentRollouts, replay_prefix
from forethought.rollouts.evaluators import EnvironmentReward, GoldAnswer
from forethought.rollouts.policies import ModelPolicy, not_possible
from forethought.rollouts.types import Act, Continuation, EnvironmentReply, RolloutError
from forethought.settings import Settings
from forethought.trajectories.types import Trajectory
from tests.support.debugging import record_run
from tests.support.household import RUINS, Habit, Household
from tests.support.model_server import Fault, ModelServer, script

STEPS = 16


async def failed(seed: int) -> tuple[Household, Trajectory, int]:
    """A household, the agent's run in it, and the planted step."""
    house = Household(seed)
    run = (await record_run(house, Habit(house), STEPS)).trajectory
    planted = [step.number for step in run.steps if step.action.split()[0] in RUINS]
    assert len(planted) == 1
    return house, run, planted[0]


async def test_guidance_from_the_planted_step_on_saves_the_run_and_too_late_it_does_not() -> None:
    house, run, planted = await failed(3)
    rollouts = EnvironmentRollouts(house, Habit(house), run, STEPS)
    told = [f"Do not {house.ruin} it."]
    saved = await rollouts.from_step(planted, "planning", told)
    assert (saved.reward, saved.kept, saved.diverged) == (1, planted - 1, "")
    assert saved.trajectory.steps[: planted - 1] == run.steps[: planted - 1]
    assert [(await EnvironmentReward(house).judge(each)).success for each in (run, saved.trajectory)] == [
        False,
        True,
    ]
    assert (await rollouts.from_step(planted + 1, "action", told)).reward == 0
    assert (await rollouts.from_start(told)).status == "done"
    assert (await rollouts.from_step(planted, "action", [])).trajectory.halted


async def test_a_prefix_that_replays_otherwise_is_reported_once() -> None:
    house, run, planted = await failed(3)
    other = run.steps[1].model_copy(update={"observation": "You see a ghost."})
    steps = (run.steps[0], other, *run.steps[2:])
    changed = Trajectory(id="x", task=run.task, steps=steps)
    continuation = await EnvironmentRollouts(house, Habit(house), changed, STEPS).from_step(
        planted, "action", []
    )
    assert continuation.diverged.startswith("at step 2 the replay saw 'At the chute you see: nothing.'")
    assert "'You see a ghost.'" in continuation.diverged


async def test_a_step_in_which_the_model_gave_no_usable_reply_is_not_replayed() -> None:
    house, run, _ = await failed(3)
    silent = run.steps[0].model_copy(update={"action": "", "observation": "There was no usable reply."})
    later = [step.model_copy(update={"number": step.number + 1}) for step in run.steps]
    assert (await replay_prefix(house, [silent, *later])).diverged == ""


@pytest.mark.parametrize("step", [0, 17])
async def test_a_step_that_is_not_there(step: int) -> None:
    house, run, _ = await failed(3)
    with pytest.raises(RolloutError, match=f"there is no step {step}; choose from 1 to 16"):
        await EnvironmentRollouts(house, Habit(house), run, STEPS).from_step(step, "action", [])


def modular(action: str) -> dict[str, str]:
    return {"memory": "a memory", "reflection": "a reflection", "planning": "a plan", "action": action}


async def test_a_model_acts_module_by_module_with_the_guidance_in_every_prompt(
    model_server: Callable[..., ModelServer], settings: Callable[..., Settings]
) -> None:
    house, run, _ = await failed(3)
    server = model_server(script(modular("fly"), modular("go to desk"), modular("go to shelf")))
    policy = ModelPolicy(Models(settings(server)), "openai:scripted")
    continuation = await EnvironmentRollouts(house, policy, run, 2).from_start(["mind the plate"])
    first, second = continuation.trajectory.steps
    assert (first.memory, first.reflection, first.planning) == ("", "", "a plan")
    assert (second.memory, second.reflection, second.action) == ("a memory", "a reflection", "go to shelf")
    assert "not among the possible actions" in server.requests[1].last
    assert all("mind the plate" in seen.text for seen in server.requests)
    assert (continuation.usage["calls"], continuation.status) == (3, "halted")
    assert first.observation in server.requests[2].text


async def test_a_model_without_a_usable_reply_ends_the_run_and_not_the_debugging(
    model_server: Callable[..., ModelServer], settings: Callable[..., Settings]
) -> None:
    house, run, planted = await failed(3)
    policy = ModelPolicy(Models(settings(model_server(script(Fault("refusal"))))), "openai:scripted")
    continuation = await EnvironmentRollouts(house, policy, run, STEPS).from_step(planted, "action", [])
    assert (continuation.status, continuation.trajectory.steps[-1].failure) == ("failed", "llm_limit")
    assert continuation.usage["calls"] == 1


@dataclass
class Acts:
    """A policy that does one thing for ever, at a price."""

    action: str
    tokens: int = 0

    async def act(self, *_: Any) -> Act:
        """See `Policy`."""
        return Act(self.action, usage={**no_usage(), "input_tokens": self.tokens})


class Desk:
    """An environment that takes an answer, and breaks when it is kicked."""

    name, task = "desk", "How much?"

    async def reset(self) -> EnvironmentReply:
        return EnvironmentReply("a desk")

    async def step(self, action: str) -> Any:
        if action == "kick":
            raise KeyError("leg")
        return "ouch" if action == "hit" else EnvironmentReply("seen", done=action.startswith("Finish"))


async def rolled_at_desk(policy: Acts, **limits: Any) -> Continuation:
    blank = Trajectory(id="t", task="How much?", world="a world of desks")
    return await EnvironmentRollouts(Desk(), policy, blank, 9, **limits).from_start([])


async def test_an_answer_that_was_handed_in_is_the_run_s_answer() -> None:
    continuation = await rolled_at_desk(Acts("Finish[42 euros]"))
    assert (continuation.trajectory.answer, continuation.trajectory.world) == ("42 euros", "a world of desks")
    assert (await GoldAnswer(["42 euros"]).judge(continuation.trajectory)).success
    assert (await rolled_at_desk(Acts("look"))).trajectory.answer == ""


async def test_a_re_run_ends_when_its_tokens_are_spent() -> None:
    continuation = await rolled_at_desk(Acts("look", tokens=100), max_tokens=250)
    assert (len(continuation.trajectory.steps), continuation.status) == (3, "budget_exhausted")
    assert continuation.usage["input_tokens"] == 300


@pytest.mark.parametrize(
    ("action", "said"), [("kick", "KeyError: 'leg'"), ("hit", "returned a str at 'hit'")]
)
async def test_an_environment_that_breaks_ends_the_run_with_a_line(action: str, said: str) -> None:
    continuation = await rolled_at_desk(Acts(action))
    (step,) = continuation.trajectory.steps
    assert (continuation.status, step.action, step.failure) == ("failed", action, "environment_error")
    assert said in step.observation
    with pytest.raises(RolloutError, match="the environment desk"):
        await replay_prefix(Desk(), [step])


async def test_an_environment_that_is_stopped_by_the_graph_around_it_is_not_broken() -> None:
    class Stopped(Desk):
        async def reset(self) -> EnvironmentReply:
            raise GraphDrained("SIGTERM")

    with pytest.raises(GraphDrained):
        await replay_prefix(Stopped(), [])


@pytest.mark.parametrize(
    ("action", "fits"),
    [("search[red lamp (small)]", True), ("search[]", False), ("click[b1]", True), ("click[b2]", False)],
)
def test_text_of_ones_own_fits_where_a_possible_action_leaves_room(action: str, fits: bool) -> None:
    assert (not_possible([action], ["search[<keywords>]", "click[b1]"]) is None) == fits
