"""What the debugger's nodes work with besides state and context: built once a graph, with no run's data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from langgraph.runtime import Runtime
from pydantic import BaseModel

from forethought.knowledge.error_taxonomy import Taxonomy
from forethought.models.allowance import tokens_of, total
from forethought.models.ask import Models
from forethought.models.types import Message, ReplyResult, Usage, no_usage, reply_spec
from forethought.rollouts.evaluators import EnvironmentReward, evaluator_for
from forethought.rollouts.types import Environment, Evaluator, RolloutError, Rollouts, Verdict
from forethought.settings import Settings
from forethought.state.bounds import bounded
from forethought.state.debugger import DebuggerContext, DebuggerState
from forethought.trajectories.types import Loaded, Trajectory

R = TypeVar("R", bound=BaseModel)
LoadThread = Callable[[str], Awaitable[Loaded]]
"""A thread's present task as a trajectory. Raises ValueError (one line) when there is no such thread."""
MakeRollouts = Callable[[Trajectory, str | None, DebuggerContext], Rollouts]
"""Where this trajectory, of this thread, can be run again. Raises RolloutError when nowhere."""
MakeEvaluator = Callable[[DebuggerContext, Sequence[str]], Evaluator | None]
"""Who judges, given the accepted answers; None where nobody in the program can (a person, or no one)."""


@dataclass(frozen=True)
class DebugServices:
    """The operator's settings, the models, the taxonomy, and the ways into runs and out of them."""

    settings: Settings
    models: Models
    taxonomy: Taxonomy
    load_thread: LoadThread | None = None
    rollouts: MakeRollouts | None = None
    environment: Environment | None = None
    evaluators: MakeEvaluator | None = None
    """Overrides who judges; by default it follows from `DebuggerContext.judge`."""

    def context(self, runtime: Runtime[DebuggerContext]) -> DebuggerContext:
        """The debugging's context within the operator's bounds. Raises ValueError when it asks for a model
        that is not allowed."""
        return bounded(DebuggerContext.model_validate(runtime.context or {}), self.settings)

    def evaluator(self, context: DebuggerContext, accepted: Sequence[str]) -> Evaluator | None:
        """Who judges; None where nobody in the program can: a person, no one, or no answer is known."""
        if self.evaluators is not None:
            return self.evaluators(context, accepted)
        return evaluator_for(
            context.judge,
            accepted=accepted,
            models=self.models,
            model=context.judge_model or context.model,
            environment=self.environment,
        )

    def rollouts_for(
        self, trajectory: Trajectory, state: DebuggerState, context: DebuggerContext, now: Usage | None = None
    ) -> Rollouts:
        """Where `trajectory` is run again, within what is left of the budgets after `now`, which the state
        does not hold yet. Raises RolloutError when nowhere."""
        if self.rollouts is None:
            raise RolloutError("there is no place to run in: debug a thread, or give an environment")
        return self.rollouts(trajectory, state.get("thread") or None, remaining(state, context, now))

    async def ask(
        self,
        context: DebuggerContext,
        role: str,
        messages: Sequence[Message],
        reply: type[R],
        check: Callable[[R], str | None] | None = None,
    ) -> ReplyResult[R]:
        """The checked reply of the debugging's model. Raises ModelError."""
        return await self.models.ask(
            role=role, model=context.model, messages=messages, reply=reply_spec(reply), check=check
        )


async def verdict_on(evaluator: Evaluator, run: Trajectory, reward: float | None) -> Verdict:
    """The verdict on a re-run; an environment that has given its `reward` already is not asked again."""
    if isinstance(evaluator, EnvironmentReward) and reward is not None:
        return evaluator.of(reward)
    return await evaluator.judge(run)


def remaining(state: DebuggerState, context: DebuggerContext, now: Usage | None = None) -> DebuggerContext:
    """`context` with what is left of its budgets: what a single re-run may cost."""
    used = total(*state.get("usage", {}).values(), now or no_usage())
    left: dict[str, float] = {}
    if context.max_tokens is not None:
        left["max_tokens"] = max(context.max_tokens - tokens_of(used), 1)
    if context.max_usd is not None:
        left["max_usd"] = max(context.max_usd - used["usd"], 0.0)
    return context.model_copy(update=left)
