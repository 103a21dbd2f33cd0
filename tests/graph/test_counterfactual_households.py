"""Counterfactual mode on 20 households whose critical step is known by construction (AgentDebug 3.2)."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from forethought.graph.debugger import build_debugger
from forethought.rollouts.environment import EnvironmentRollouts
from forethought.settings import Settings
from tests.support.debugging import record_run
from tests.support.household import RUINS, Habit, Household, World, moves, right_action
from tests.support.model_server import Answer, ModelServer, SeenRequest

STEPS = 16
_STEP = re.compile(r"(?:critical_step is|action that step) (\d+)")


def oracle(house: Household, actions: list[str]) -> Callable[[SeenRequest], Answer]:
    """A model that labels nothing, corrects a step as the household's solver would, and names the step that
    it is told."""
    right, world = [], house.start
    for action in actions:
        right.append(right_action(house, world) or action)
        world = dict(moves(world, house.things)).get(action, (world, ""))[0]

    def policy(seen: SeenRequest) -> Answer:
        number = int(_STEP.findall(seen.last)[-1])
        if seen.reply_name == "Substitution":
            return {"thought": "", "action": right[number - 1]}
        return {
            "critical_step": number,
            "critical_module": "planning",
            "error_type": "constraint_ignorance",
            "root_cause": "it ruined the object",
            "evidence": actions[number - 1],
            "correction_guidance": "keep it whole",
            "cascading_effects": [],
        }

    return policy


@pytest.mark.parametrize("seed", range(20))
async def test_the_planted_step_is_found(
    model_server: Callable[..., ModelServer], settings: Callable[..., Settings], seed: int
) -> None:
    house = Household(seed)
    run = (await record_run(house, Habit(house), STEPS)).trajectory
    planted = next(step.number for step in run.steps if step.action.split()[0] in RUINS)
    start: World = house.start
    server = model_server(oracle(house, [step.action for step in run.steps]))
    debugger = build_debugger(
        settings(server),
        rollouts=lambda trajectory, thread, context: EnvironmentRollouts(
            house, Habit(house), trajectory, STEPS
        ),
        environment=house,
    )
    found = await debugger.ainvoke(
        {"trajectory": run.model_dump(mode="json")},
        context={"method": "counterfactual", "judge": "environment", "fine_grained": False, "trials": 1},
    )
    assert found["critical"]["critical_step"] == planted, found.get("notes")
    assert house.start == start
    tried = [probe for probe in found["probes"] if not probe.get("control")]
    assert max(probe["step"] for probe in tried) == planted, "no later step is tried"
    assert {probe["flips"] for probe in tried[:-1]} <= {0}
