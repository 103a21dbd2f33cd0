"""rerun: the run is made once more, from where its error entered (AgentDebug, algorithm 1, stage 3).

`context.rerun` names how: AgentDebug's own way, or one of the downstream baselines that it is compared with
(4.2). Every way gets the same tokens, those of `max_tokens`: AgentDebug spends them on labels, a critical
error and at most `max_reruns` re-runs; a baseline, which knows no taxonomy and no critical error, goes on
until they are spent. What came of a re-run waits in `attempt` for its verdict. Where no further one can be
made, the debugging ends here: `failed` if there was none at all, else `not_fixed`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from langgraph.runtime import Runtime
from pydantic import BaseModel

from forethought.models.allowance import total
from forethought.models.types import ReplyError, Usage, no_usage
from forethought.nodes.debugger.services import DebugServices
from forethought.nodes.support.offline import exhausted
from forethought.prompts.debug_replies import FailurePoint, SelfFeedback
from forethought.prompts.render import prompt_messages
from forethought.rollouts.environment import EnvironmentRollouts
from forethought.rollouts.policies import TreePolicy, steps_shown
from forethought.rollouts.types import Continuation, RolloutError, Rollouts
from forethought.state.debugger import BASELINES, Branch, DebuggerContext, DebuggerState
from forethought.trajectories.own import SOURCE, planned_by_planner
from forethought.trajectories.quotes import occurs
from forethought.trajectories.types import Module, Trajectory

R = TypeVar("R", bound=BaseModel)
MAX_ATTEMPTS = 100
"""Of a baseline, whatever its tokens allow: no loop without an end."""


@dataclass
class RerunRequest:
    """The next re-run: what there is to make it with, and what is noted of it on the way."""

    state: DebuggerState
    runtime: Runtime[DebuggerContext]
    services: DebugServices
    original: Trajectory
    rollouts: Rollouts
    about: Branch = field(default_factory=Branch)
    """Its first step, its first module and its guidance."""
    usage: Usage = field(default_factory=no_usage)
    """Usage of the calls before it, such as those for feedback."""
    update: dict[str, Any] = field(default_factory=dict)
    """Further updates of the state."""

    async def ask(
        self, template: str, run: Trajectory, reply: type[R], check: Any = None, **values: Any
    ) -> R:
        """The reply to a baseline's prompt about `run`. Raises ModelError."""
        context = self.services.context(self.runtime)
        steps = steps_shown(run.steps, context.max_observation_chars, context.window)
        messages = prompt_messages(template, task=run.task, steps=steps, answer=run.answer, **values)
        result = await self.services.request(self.runtime, "rerun", messages, reply, check)
        self.usage = result.usage
        return result.reply

    async def run_from(self, step: int, module: Module, guidance: list[str]) -> Continuation:
        """Run on from just before `step`."""
        self.about = Branch(from_step=step, module=module, guidance=guidance)
        return await self.rollouts.from_step(step, module, tuple(guidance))


async def rerun(
    state: DebuggerState, runtime: Runtime[DebuggerContext], *, services: DebugServices
) -> dict[str, Any]:
    """Make the next re-run. Raises ModelError where the model cannot be reached: what was done is kept."""
    context = services.context(runtime)
    made = "" if attempts_left(state, context) > 0 else f"{len(state.get('branches', []))} are done"
    if why := exhausted(state, context) or made:
        return await _end_reruns(state, context, services, f"no more re-runs: {why}")
    original = Trajectory.model_validate(state["subject"])
    try:
        rollouts = services.rollouts_for(original, state, context)
        request = RerunRequest(state, runtime, services, original, rollouts)
        branch = _branch(request, await METHODS[context.rerun](request))
    except RolloutError as error:
        return await _end_reruns(state, context, services, f"no re-run: {error}")
    except ReplyError as error:
        ended = await _end_reruns(state, context, services, f"no re-run: {error.problem or error}")
        return {**ended, "usage": {"rerun": error.usage}}
    return {
        **request.update,
        "attempt": branch,
        "notes": [f"re-run {branch['attempt']}: {branch['diverged']}"] if branch["diverged"] else [],
        "usage": {"rerun": branch["usage"]},
        "status": "running",
    }


def attempts_left(state: DebuggerState, context: DebuggerContext) -> int:
    """How many re-runs may still be made, tokens aside."""
    equal_spend = context.rerun in BASELINES and context.max_tokens is not None
    return (MAX_ATTEMPTS if equal_spend else context.max_reruns) - len(state.get("branches", []))


def branch_trajectory(original: Trajectory, branch: Branch) -> Trajectory:
    """A branch as a whole trajectory: the kept steps and its own."""
    steps = [step.model_dump() for step in original.steps[: branch["kept"]]]
    return Trajectory.model_validate(
        {
            **original.origin(),
            "steps": [*steps, *branch["steps"]],
            "answer": branch["answer"],
            "halted": branch["status"] in ("halted", "budget_exhausted"),
        }
    )


async def _end_reruns(
    state: DebuggerState, context: DebuggerContext, services: DebugServices, why: str
) -> dict[str, Any]:
    await services.restore(state, context)
    if state.get("branches"):
        return {"attempt": {}, "status": "not_fixed", "notes": [why]}
    return {"attempt": {}, "status": "failed", "problem": why}


def _branch(request: RerunRequest, continuation: Continuation) -> Branch:
    branches = request.state.get("branches", [])
    number, known = len(branches) + 1, {branch["branch"] for branch in branches}
    steps = continuation.trajectory.steps[continuation.kept :]
    return {
        "attempt": number,
        "branch": continuation.branch if continuation.branch not in known else f"attempt-{number}",
        "from_step": request.original.steps[0].number,
        "module": "",
        "guidance": [],
        **request.about,
        "kept": continuation.kept,
        "steps": [step.model_dump(mode="json") for step in steps],
        "answer": continuation.trajectory.answer,
        "status": continuation.status,
        "reward": continuation.reward,
        "diverged": continuation.diverged,
        "usage": total(request.usage, continuation.usage),
        "seconds": round(continuation.seconds, 3),
    }


async def agentdebug(request: RerunRequest) -> Continuation:
    """From just before the critical step, with the guidance in force (algorithm 1, stage 3)."""
    critical = request.state["critical"]
    guidance = request.state.get("guidance") or [critical["correction_guidance"]]
    module = restart_module(critical, request.original)
    continuation = await request.run_from(critical["critical_step"], module, guidance)
    request.about["module"] = critical["critical_module"]
    return continuation


def restart_module(critical: Mapping[str, Any], trajectory: Trajectory) -> Module:
    """The module whose call a re-run begins with: the one at fault.

    In a run of our own agent two roles plan, the planner its subtasks and the tool agent its next move. Only
    the planner's error goes back to before the plan in force: for a thought of the tool agent's it is
    `action`, which the same call brings forth, since a whole new plan would throw away sound steps.
    """
    module = cast(Module, critical["critical_module"])
    if module != "planning" or trajectory.source != SOURCE:
        return module
    step = trajectory.step(critical["critical_step"])
    evidence = critical.get("evidence") or ""
    if not evidence or occurs(evidence, planned_by_planner(step)):
        return module
    return "action" if occurs(evidence, f"{step.planning}\n{step.action}") else module


async def self_refine(request: RerunRequest) -> Continuation:
    """Ask why the last run did not finish the task, and run the whole task again with the answer."""
    branches = request.state.get("branches", [])
    last = branch_trajectory(request.original, branches[-1]) if branches else request.original
    reply = await request.ask("debug_self_refine", last, SelfFeedback)
    request.about = Branch(guidance=[reply.feedback])
    return await request.rollouts.from_start((reply.feedback,))


async def vanilla(request: RerunRequest) -> Continuation:
    """Ask which step of the original run failed first and what to do instead, and run on from there."""
    tried = [text for branch in request.state.get("branches", []) for text in branch["guidance"]]
    numbers = [step.number for step in request.original.steps]

    def check(reply: FailurePoint) -> str | None:
        known = f"{numbers[0]} to {numbers[-1]}"
        return None if reply.step in numbers else f"there is no step {reply.step}: steps are {known}"

    point = await request.ask("debug_vanilla", request.original, FailurePoint, check, tried=tried)
    # It knows a step, not a module: the plan in force stays.
    return await request.run_from(point.step, "action", [f"{point.reason} {point.suggestion}".strip()])


async def best_of_n(request: RerunRequest) -> Continuation:
    """Run the task once more, from the beginning and without a word: the judge picks out a success."""
    return await request.rollouts.from_start(())


async def tree_of_thoughts(request: RerunRequest) -> Continuation:
    """One path through the tree of valued candidates; what was left aside is for the next attempt."""
    if not isinstance(request.rollouts, EnvironmentRollouts):
        raise RolloutError(
            "tree_of_thoughts needs an environment, since it chooses single actions; for a thread of "
            "the agent, choose self_refine, vanilla or best_of_n"
        )
    context = request.services.context(request.runtime)
    policy = TreePolicy(
        request.services.models,
        context.actor_model or context.model,
        max_observation=context.max_observation_chars,
    )
    policy.restore(request.state.get("tree", []))
    continuation = await replace(request.rollouts, policy=policy).from_start(())
    request.update["tree"] = policy.saved()
    return continuation


METHODS: dict[str, Callable[[RerunRequest], Awaitable[Continuation]]] = {
    "agentdebug": agentdebug,
    "self_refine": self_refine,
    "vanilla": vanilla,
    "best_of_n": best_of_n,
    "tree_of_thoughts": tree_of_thoughts,
}
"""The re-run methods by `context.rerun`. Each raises RolloutError or ModelError."""
