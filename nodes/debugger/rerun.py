"""rerun: the run is made once more, from where its error entered (AgentDebug, algorithm 1, stage 3).

`context.rerun` names how: AgentDebug's own way, or one of the downstream baselines that it is compared with
(4.2). Every way gets the same tokens, those of `max_tokens`: AgentDebug spends them on labels, a critical
error and at most `max_reruns` re-runs; a baseline, which knows no taxonomy and no critical error, goes on
until they are spent. What came of a re-run waits in `attempt` for its verdict. Where no further one can be
made, the debugging ends here: `failed` if there was none at all, else `not_fixed`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from langgraph.runtime import Runtime
from pydantic import BaseModel

from forethought.models.allowance import total
from forethought.models.types import ReplyError, ReplyResult, Usage, no_usage
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


@dataclass(frozen=True)
class RerunRequest:
    """What there is to make the next re-run with."""

    state: DebuggerState
    context: DebuggerContext
    services: DebugServices
    original: Trajectory
    rollouts: Rollouts

    @property
    def branches(self) -> list[Branch]:
        """The re-runs so far."""
        return self.state.get("branches", [])

    def shown(self, run: Trajectory) -> dict[str, Any]:
        """A run as the baselines' prompts show it."""
        steps, _ = steps_shown(run.steps, self.context.max_observation_chars, self.context.window)
        return {"task": run.task, "steps": steps, "answer": run.answer}

    async def ask(self, template: str, reply: type[R], check: Any = None, /, **values: Any) -> ReplyResult[R]:
        """The reply to a baseline's prompt. Raises ModelError."""
        messages = prompt_messages(template, **values)
        return await self.services.ask(self.context, "rerun", messages, reply, check)


@dataclass(frozen=True)
class RerunResult:
    """A re-run that was made."""

    continuation: Continuation
    from_step: int
    module: str = ""
    guidance: tuple[str, ...] = ()
    usage: Usage = field(default_factory=no_usage)
    """What was asked before it, such as for feedback."""
    update: Mapping[str, Any] = field(default_factory=dict)
    """What else the state is to keep."""


async def rerun(
    state: DebuggerState, runtime: Runtime[DebuggerContext], *, services: DebugServices
) -> dict[str, Any]:
    """Make the next re-run. Raises ModelError where the model cannot be reached: what was done is kept."""
    context = services.context(runtime)
    if why := exhausted(state, context):
        return _end_reruns(state, f"no further re-run: {why}")
    if attempts_left(state, context) <= 0:
        return _end_reruns(state, f"no further re-run: {len(state.get('branches', []))} were made")
    original = Trajectory.model_validate(state["subject"])
    try:
        rollouts = services.rollouts_for(original, state, context)
        result = await METHODS[context.rerun](RerunRequest(state, context, services, original, rollouts))
    except RolloutError as error:
        return _end_reruns(state, f"no re-run: {error}")
    except ReplyError as error:
        usage = {"rerun": error.usage}
        return {**_end_reruns(state, f"no re-run: {error.problem or error}"), "usage": usage}
    branch = _branch(state, result)
    diverged = result.continuation.diverged
    notes = [f"re-run {branch['attempt']}: {diverged}"] if diverged else []
    return {
        **result.update,
        "attempt": branch,
        "notes": notes,
        "usage": {"rerun": branch["usage"]},
        "status": "running",
    }


def attempts_left(state: DebuggerState, context: DebuggerContext) -> int:
    """How many re-runs may still be made, tokens aside."""
    equal_spend = context.rerun in BASELINES and context.max_tokens is not None
    return (MAX_ATTEMPTS if equal_spend else context.max_reruns) - len(state.get("branches", []))


def branch_trajectory(original: Trajectory, branch: Branch) -> Trajectory:
    """A branch as a whole trajectory: the kept steps and its own."""
    kept = [step.model_dump() for step in original.steps[: branch["kept"]]]
    return Trajectory.model_validate(
        {
            **original.model_dump(include={"id", "task", "environment", "world", "source"}),
            "steps": [*kept, *branch["steps"]],
            "answer": branch["answer"],
            "halted": branch["status"] in ("halted", "budget_exhausted"),
        }
    )


def _end_reruns(state: DebuggerState, why: str) -> dict[str, Any]:
    if state.get("branches"):
        return {"attempt": {}, "status": "not_fixed", "notes": [why]}
    return {"attempt": {}, "status": "failed", "problem": why}


def _branch(state: DebuggerState, result: RerunResult) -> Branch:
    branches = state.get("branches", [])
    continuation, number = result.continuation, len(branches) + 1
    known = {branch["branch"] for branch in branches}
    return {
        "attempt": number,
        "branch": continuation.branch if continuation.branch not in known else f"attempt-{number}",
        "from_step": result.from_step,
        "module": result.module,
        "guidance": list(result.guidance),
        "kept": continuation.kept,
        "steps": [
            step.model_dump(mode="json") for step in continuation.trajectory.steps[continuation.kept :]
        ],
        "answer": continuation.trajectory.answer,
        "status": continuation.status,
        "reward": continuation.reward,
        "diverged": continuation.diverged,
        "usage": total(result.usage, continuation.usage),
        "seconds": round(continuation.seconds, 3),
    }


async def agentdebug(request: RerunRequest) -> RerunResult:
    """From just before the critical step, with the guidance in force (algorithm 1, stage 3)."""
    critical = request.state["critical"]
    step, module = critical["critical_step"], critical["critical_module"]
    guidance = tuple(request.state.get("guidance") or [critical["correction_guidance"]])
    continuation = await request.rollouts.from_step(
        step, restart_module(critical, request.original), guidance
    )
    return RerunResult(continuation, step, module, guidance)


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


async def self_refine(request: RerunRequest) -> RerunResult:
    """Ask why the last run did not finish the task, and run the whole task again with the answer."""
    branches, original = request.branches, request.original
    last = branch_trajectory(original, branches[-1]) if branches else original
    asked = await request.ask("debug_self_refine", SelfFeedback, **request.shown(last))
    guidance = (asked.reply.feedback,)
    continuation = await request.rollouts.from_start(guidance)
    return RerunResult(continuation, original.steps[0].number, guidance=guidance, usage=asked.usage)


async def vanilla(request: RerunRequest) -> RerunResult:
    """Ask which step of the original run failed first and what to do instead, and run on from there."""
    tried = [text for branch in request.branches for text in branch["guidance"]]
    numbers = [step.number for step in request.original.steps]

    def check(reply: FailurePoint) -> str | None:
        known = f"{numbers[0]} to {numbers[-1]}"
        return None if reply.step in numbers else f"there is no step {reply.step}: steps are {known}"

    shown = request.shown(request.original)
    asked = await request.ask("debug_vanilla", FailurePoint, check, **shown, tried=tried)
    point = asked.reply
    guidance = (f"{point.reason} {point.suggestion}".strip(),)
    # It knows a step, not a module: the plan in force stays.
    continuation = await request.rollouts.from_step(point.step, "action", guidance)
    return RerunResult(continuation, point.step, "action", guidance, asked.usage)


async def best_of_n(request: RerunRequest) -> RerunResult:
    """Run the task once more, from the beginning and without a word: the judge picks out a success."""
    return RerunResult(await request.rollouts.from_start(()), request.original.steps[0].number)


async def tree_of_thoughts(request: RerunRequest) -> RerunResult:
    """One path through the tree of valued candidates; what was left aside is for the next attempt."""
    rollouts, context = request.rollouts, request.context
    if not isinstance(rollouts, EnvironmentRollouts):
        raise RolloutError(
            "tree_of_thoughts chooses single actions, which takes an environment; for a thread "
            "of the agent's choose self_refine, vanilla or best_of_n"
        )
    policy = TreePolicy(request.services.models, context.model, max_observation=context.max_observation_chars)
    policy.restore(request.state.get("tree", []))
    continuation = await rollouts.with_policy(policy).from_start(())
    return RerunResult(continuation, request.original.steps[0].number, update={"tree": policy.saved()})


METHODS: dict[str, Callable[[RerunRequest], Awaitable[RerunResult]]] = {
    "agentdebug": agentdebug,
    "self_refine": self_refine,
    "vanilla": vanilla,
    "best_of_n": best_of_n,
    "tree_of_thoughts": tree_of_thoughts,
}
"""How one re-run is made, by `context.rerun`. Each raises RolloutError or ModelError."""
