"""What the debugger's nodes work with besides state and context: built once a graph, holding nothing of any
debugging."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from langgraph.runtime import Runtime

from forethought.knowledge.error_taxonomy import Taxonomy
from forethought.models.ask import Models
from forethought.rollouts.evaluators import EnvironmentReward, evaluator_for
from forethought.rollouts.types import Environment, Evaluator, Rolled, Rollouts, Verdict
from forethought.settings import Settings
from forethought.state.bounds import bounded
from forethought.state.debugger import DebuggerContext
from forethought.trajectories.types import Loaded, Trajectory

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


async def verdict_on(evaluator: Evaluator, rolled: Rolled) -> Verdict:
    """The verdict on a re-run; an environment has given its reward already, and is not asked again."""
    if isinstance(evaluator, EnvironmentReward) and rolled.reward is not None:
        return evaluator.of(rolled.reward)
    return await evaluator.judge(rolled.trajectory)
