"""The downstream baselines that AgentDebug is compared with (4.2), at equal token spend.

Self-Refine, vanilla debugging and Best-of-N run wherever a trajectory can be run again; Tree of Thoughts,
which decides action by action, needs an environment. They know no taxonomy and no critical error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from forethought.models.types import Asked, Message, reply_spec
from forethought.nodes.debugger.attempts import Attempt, Made, branch_trajectory
from forethought.prompts.debug_replies import FailurePoint, SelfFeedback
from forethought.prompts.render import render
from forethought.rollouts.environment import EnvironmentRollouts
from forethought.rollouts.policy import steps_shown
from forethought.rollouts.tree import TreePolicy
from forethought.rollouts.types import RolloutError
from forethought.trajectories.types import Trajectory

R = TypeVar("R", bound=BaseModel)


async def self_refine(attempt: Attempt) -> Made:
    """Ask why the last run did not finish the task, and run the whole task again with the answer."""
    last = _last(attempt)
    asked = await _ask(attempt, "debug_self_refine", SelfFeedback, **_shown(attempt, last))
    guidance = (asked.reply.feedback,)
    rolled = await attempt.rollouts.from_start(guidance)
    return Made(rolled, _first(attempt.original), guidance=guidance, usage=asked.usage)


async def vanilla(attempt: Attempt) -> Made:
    """Ask which step of the original run failed first and what to do instead, and run on from there."""
    tried = [text for branch in attempt.state.get("branches", []) for text in branch["guidance"]]
    numbers = {step.number for step in attempt.original.steps}

    def check(reply: FailurePoint) -> str | None:
        known = f"{min(numbers)} to {max(numbers)}"
        return None if reply.step in numbers else f"there is no step {reply.step}: steps are {known}"

    shown = _shown(attempt, attempt.original)
    asked = await _ask(attempt, "debug_vanilla", FailurePoint, check, **shown, tried=tried)
    point = asked.reply
    guidance = (f"{point.reason} {point.suggestion}".strip(),)
    # It knows a step, not a module: the plan in force stays.
    rolled = await attempt.rollouts.from_step(point.step, "action", guidance)
    return Made(rolled, point.step, "action", guidance, asked.usage)


async def best_of_n(attempt: Attempt) -> Made:
    """Run the task once more, from the beginning and without a word: the judge picks out a success."""
    return Made(await attempt.rollouts.from_start(()), _first(attempt.original))


async def tree_of_thoughts(attempt: Attempt) -> Made:
    """One path through the tree of valued candidates; what was left aside is for the next attempt."""
    rollouts = attempt.rollouts
    if not isinstance(rollouts, EnvironmentRollouts):
        raise RolloutError(
            "tree_of_thoughts chooses single actions, which takes an environment; for a thread "
            "of the agent's choose self_refine, vanilla or best_of_n"
        )
    context = attempt.context
    policy = TreePolicy(attempt.services.models, context.model, max_observation=context.max_observation_chars)
    policy.restore(attempt.state.get("tree", []))
    rolled = await rollouts.with_policy(policy).from_start(())
    return Made(rolled, _first(attempt.original), update={"tree": policy.saved()})


def _first(trajectory: Trajectory) -> int:
    return trajectory.steps[0].number


def _last(attempt: Attempt) -> Trajectory:
    branches = attempt.state.get("branches", [])
    return branch_trajectory(attempt.original, branches[-1]) if branches else attempt.original


def _shown(attempt: Attempt, run: Trajectory) -> dict[str, Any]:
    steps, _ = steps_shown(run.steps, attempt.context.max_observation_chars, attempt.context.window)
    return {"task": run.task, "steps": steps, "answer": run.answer}


async def _ask(
    attempt: Attempt, template: str, reply: type[R], check: Any = None, /, **values: Any
) -> Asked[R]:
    system, user = render(template, **values)
    messages: Sequence[Message] = [Message("system", system), Message("user", user)]
    return await attempt.services.models.ask(
        role="rerun", model=attempt.context.model, messages=messages, reply=reply_spec(reply), check=check
    )
