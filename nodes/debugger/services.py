"""What the debugger's nodes work with besides state and context: built once a graph, with no run's data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from forethought.knowledge.error_taxonomy import Taxonomy, load_taxonomy
from forethought.models.allowance import charged_tokens, total
from forethought.models.types import ReplyError, Usage, no_usage
from forethought.nodes.support.offline import OfflineServices
from forethought.rollouts.evaluators import EnvironmentReward, evaluator_for
from forethought.rollouts.types import Environment, Evaluator, RolloutError, Rollouts, Verdict
from forethought.state.debugger import DebuggerContext, DebuggerState
from forethought.trajectories.types import Loaded, Trajectory

LoadThread = Callable[[str], Awaitable[Loaded]]
"""A thread's current task as a trajectory. Raises ValueError (one line) if there is no such thread."""
MakeRollouts = Callable[[Trajectory, str | None, DebuggerContext], Rollouts]
"""Where a trajectory of a thread can be run again. Raises RolloutError if nowhere."""


@dataclass(frozen=True)
class DebugServices(OfflineServices[DebuggerContext]):
    """The models, the taxonomy, and the ways into runs and out of them."""

    taxonomy: Taxonomy = field(default_factory=load_taxonomy)
    load_thread: LoadThread | None = None
    rollouts: MakeRollouts | None = None
    environment: Environment | None = None

    def evaluator(self, context: DebuggerContext, accepted: Sequence[str]) -> Evaluator | None:
        """Who judges; None where nobody in the program can: a person, no one, or no answer is known."""
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
            raise RolloutError(
                "a re-run needs a thread or an environment: debug a thread, or name an --environment"
            )
        used = total(*state.get("usage", {}).values(), now or no_usage())
        left: dict[str, float] = {}
        if context.max_tokens is not None:
            left["max_tokens"] = max(context.max_tokens - charged_tokens(used), 1)
        if context.max_usd is not None:
            left["max_usd"] = max(context.max_usd - used["usd"], 0.0)
        return self.rollouts(trajectory, state.get("thread") or None, context.model_copy(update=left))

    async def restore(self, state: DebuggerState, context: DebuggerContext) -> None:
        """Put a thread back on the run that was debugged: no probe and no failed re-run is its head."""
        try:
            rollouts = self.rollouts_for(Trajectory.model_validate(state["subject"]), state, context)
        except RolloutError:
            return  # nothing can have been run
        await rollouts.restore()


async def verdict_on(evaluator: Evaluator, run: Trajectory, reward: float | None) -> Verdict:
    """The verdict on a run, which counts as failed where it cannot be judged; an environment that has given
    its `reward` already is not asked again. Raises the ModelErrors other than ReplyError."""
    if isinstance(evaluator, EnvironmentReward) and reward is not None:
        return evaluator.of(reward)
    try:
        return await evaluator.judge(run)
    except (ReplyError, RolloutError) as error:
        reason, usage = getattr(error, "problem", "") or str(error), getattr(error, "usage", None)
        reason = f"judging it failed, so it counts as failed: {reason}"
        return Verdict(False, reason, usage=usage or no_usage())
