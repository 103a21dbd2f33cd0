"""Failed tries made again: AgentDebug, and the baselines that it is compared with (AgentDebug 4.2, figure 5).

A model tries the sample module by module (3.1). Where the benchmark calls that a failure, `agentdebug` finds
the critical error and runs on from there with feedback, up to five times. The baselines take over that first
try, and have for their re-runs the tokens that AgentDebug spent on this very sample after it: the paper
matches attempts by total tokens (4.2), over all samples.

Departure: a try may use half of the sample's steps and tokens, and all share the rest.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forethought.evals.baselines.bench import Bench, make_bench
from forethought.evals.harness.budget import MeteredTransport
from forethought.evals.methods.trial_world import TrialWorld
from forethought.evals.types import Attempt, BudgetSpent, InfrastructureError, Method, TrialContext
from forethought.models.allowance import charged_tokens, total
from forethought.rollouts.environment import EnvironmentRollouts
from forethought.rollouts.policies import ModelPolicy
from forethought.rollouts.types import Continuation, RolloutError
from forethought.state.debugger import DebuggerContext, RerunMethod
from forethought.trajectories.types import Loaded, Reference, Trajectory

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from forethought.graph.debugger import DebuggerGraph

LEADER = "agentdebug"
MOST_TRIES = 6
"""AgentDebug's tries: the first one and five re-runs (4.2, N = 5)."""
_LEAST_TOKENS = 1_000
"""The smallest token budget of the debugger."""
_STATUSES = {"done": "answered", "halted": "budget_exhausted", "budget_exhausted": "budget_exhausted"}


@dataclass
class _Tries:
    """The tries of one trial, in their order, each ended and judged by the benchmark."""

    trial: TrialContext
    bench: Bench
    world: TrialWorld
    started: float
    made: list[Attempt] = field(default_factory=list)
    solved: bool = False
    """Whether the last one is."""

    @property
    def share(self) -> int:
        """What part of the budget a try may use: 1 / `share`."""
        return 1 if self.trial.outcome is None else 2

    def rollouts(self, run: Trajectory, context: DebuggerContext) -> EnvironmentRollouts:
        """Re-runs of `run` in the sample's world."""
        policy = ModelPolicy(self.bench.services.models, context.model, context.max_observation_chars)
        steps = max(self.trial.budget.max_steps // self.share, 1)
        return EnvironmentRollouts(
            self.world, policy, run, steps, max_tokens=context.max_tokens, verdict=self._verdict
        )

    async def first(self) -> None:
        """Try the sample. Raises ModelError, InfrastructureError and BudgetSpent."""
        run = Trajectory(
            id=self.trial.thread,
            task=self.world.task,
            environment=self.world.name,
            source="forethought-baseline",
        )
        context = DebuggerContext(
            model=self.trial.model, max_tokens=max(self.trial.budget.max_tokens // self.share, _LEAST_TOKENS)
        )
        await self.rollouts(run, context).from_start(())

    def take_over(self, first: Mapping[str, Any]) -> None:
        """Take over a first try that was made elsewhere."""
        run = Trajectory.model_validate(first["subject"])
        self.world.know(step.action for step in run.steps)
        self.solved = bool(first["verdict"]["success"])
        self.made.append(self._attempt(run, first["first_status"], first["first_reward"]))

    async def _verdict(self, ended: Continuation) -> float:
        """1 or 0, by the benchmark. Raises RolloutError where the world broke."""
        if self.bench.tools.broken is not None:
            raise RolloutError(str(self.bench.tools.broken))
        reward = await self.bench.tools.finish(ended.trajectory.answer)
        attempt = self._attempt(ended.trajectory, _STATUSES.get(ended.status, "failed"), reward)
        self.made.append(attempt)
        self.solved = self.trial.outcome is not None and await self.trial.outcome(attempt)
        return float(self.solved)

    def _attempt(self, run: Trajectory, status: str, reward: float | None) -> Attempt:
        return Attempt(
            answer=run.answer,
            status=status,
            trajectory=run,
            usage=total(self.bench.meter.usage),
            seconds=time.monotonic() - self.started,
            steps=self.bench.tools.counter.used,
            reward=reward,
            tries=len(self.made) + 1,
        )


@dataclass
class Rerun(Method):
    """One way of making failed tries again."""

    name: str
    about: str
    rerun: RerunMethod
    follows: str = ""
    asks_outcome: bool = True

    async def run(self, trial: TrialContext) -> Attempt:
        """The try that succeeded, or else the last one. A thread that was broken off begins anew."""
        bench = await make_bench(trial)
        world = TrialWorld(bench)
        await world.open()
        tries = _Tries(trial, bench, world, time.monotonic())
        await trial.checkpointer.adelete_thread(trial.thread)
        try:
            tokens = await self._first(tries)
            if self.rerun != "off":
                await self._debug(tries, tokens)
        except BudgetSpent:
            if not tries.made:
                raise
        except BaseException:
            # What a method that follows would read is not whole.
            await trial.checkpointer.adelete_thread(trial.thread)
            raise
        if bench.tools.broken is not None:
            await trial.checkpointer.adelete_thread(trial.thread)
            raise bench.tools.broken
        return tries.made[-1]

    async def _first(self, tries: _Tries) -> int:
        """Make the first try, or take it over; the tokens for what follows."""
        trial = tries.trial
        if not self.follows:
            await tries.first()
            return trial.budget.max_tokens - tries.bench.meter.tokens
        thread = trial.thread.replace(self.name, self.follows, 1)
        graph = _graph(tries)
        led = await graph.aget_state({"configurable": {"thread_id": thread}})
        if not led.values.get("subject"):
            raise InfrastructureError(f"{self.follows} has no finished trial of this sample: run it first")
        tries.take_over({**led.values, **(led.metadata or {})})
        return charged_tokens(total(*led.values.get("usage", {}).values()))

    async def _debug(self, tries: _Tries, tokens: int) -> None:
        """Debug the first try within `tokens`. Raises ModelError and BudgetSpent."""
        trial, first = tries.trial, tries.made[0]
        context = DebuggerContext(
            model=trial.model,
            method="agentdebug",
            rerun=self.rerun,
            judge="environment",
            max_reruns=max((trial.budget.tries or MOST_TRIES) - 1, 1),
            max_tokens=max(tokens, _LEAST_TOKENS),
        )
        outcome = Reference(outcome="success" if tries.solved else "failure")
        loaded = Loaded(trajectory=first.trajectory, reference=outcome)
        config: RunnableConfig = {
            "configurable": {"thread_id": trial.thread},
            "metadata": {"first_status": first.status, "first_reward": first.reward},
        }
        await _graph(tries).ainvoke(
            {"trajectory": loaded.model_dump(mode="json")}, config, context=context, durability="sync"
        )


def _graph(tries: _Tries) -> DebuggerGraph:
    from forethought.graph.debugger import build_debugger

    trial, bench = tries.trial, tries.bench
    return build_debugger(
        trial.settings,
        trial.checkpointer,
        MeteredTransport(trial.models.transport, (bench.meter,), stop=lambda: bench.tools.broken),
        rollouts=lambda run, thread, context: tries.rollouts(run, context),
        environment=tries.world,
    )


_AGAIN = f"re-runs of {LEADER}'s failed tries with the same tokens:"
RERUNS = (
    Rerun(
        "modular",
        "memory, reflection, plan and action in each step, one try (AgentDebug 3.1, table 7c)",
        "off",
        asks_outcome=False,
    ),
    Rerun(
        LEADER,
        "re-runs failed tries from their critical error with feedback, up to 5 times (AgentDebug 3.2)",
        "agentdebug",
    ),
    Rerun("rerun-vanilla", f"{_AGAIN} the vanilla debugger (AgentDebug 4.2)", "vanilla", LEADER),
    Rerun("rerun-self-refine", f"{_AGAIN} Self-Refine (AgentDebug 4.2)", "self_refine", LEADER),
    Rerun("rerun-best-of-n", f"{_AGAIN} Best-of-N (AgentDebug 4.2)", "best_of_n", LEADER),
    Rerun("rerun-tot", f"{_AGAIN} Tree of Thoughts (AgentDebug 4.2)", "tree_of_thoughts", LEADER),
)
