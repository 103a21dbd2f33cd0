"""What the baselines have in common as methods: a graph run on a trial, and the attempt made of it."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any, cast

from langchain_core.runnables import RunnableConfig

from forethought.evals.baselines.bench import Bench, make_bench
from forethought.evals.baselines.loop import Graph
from forethought.evals.baselines.state import State, Try
from forethought.evals.baselines.transcript import trajectory
from forethought.evals.types import Attempt, Method, TrialContext
from forethought.models.types import Usage

RECURSION_LIMIT = 10_000
"""Far above the steps that any budget allows."""


class Baseline(Method):
    """A method that is a small graph. Subclasses wire it."""

    @abstractmethod
    def wire(self, bench: Bench) -> Graph:
        """The graph of one attempt."""

    def notes(self, trial: TrialContext) -> dict[str, Any]:
        """What stands in every prompt of the attempt besides the task."""
        return {}

    async def run(self, trial: TrialContext) -> Attempt:
        """See Method."""
        started = time.monotonic()
        state, bench = await self.carry_out(trial)
        return attempt_of(state, bench, state["chosen"], time.monotonic() - started)

    async def carry_out(self, trial: TrialContext) -> tuple[State, Bench]:
        """The state at the end of the graph. A thread that was broken off begins anew: its world is gone.

        Raises ModelError, InfrastructureError.
        """
        bench = await make_bench(trial)
        graph = self.wire(bench).compile(checkpointer=trial.checkpointer, name=self.name)
        config: RunnableConfig = {
            "configurable": {"thread_id": trial.thread},
            "recursion_limit": RECURSION_LIMIT,
        }
        await trial.checkpointer.adelete_thread(trial.thread)
        payload = cast(State, {"notes": self.notes(trial)})
        return cast(State, await graph.ainvoke(payload, config)), bench


def attempt_of(state: State, bench: Bench, number: int, seconds: float = 0.0) -> Attempt:
    """The attempt whose answer is that of try `number`; it costs what all tries did."""
    chosen = next(item for item in state["tried"] if item["number"] == number)
    return Attempt(
        answer=chosen["answer"],
        status=status_of(chosen, bench),
        trajectory=trajectory(state, bench, number),
        usage=cast(Usage, dict(bench.meter.usage)),
        seconds=seconds,
        steps=bench.tools.counter.used,
        reward=chosen["reward"],
        tries=len(state["tried"]),
    )


def status_of(tried: Try, bench: Bench) -> str:
    """How a try ended, in the words of `Attempt.status`. A world of text actions asks for no answer."""
    if tried["ended"] in ("answered", "over"):
        return "answered"
    if not tried["answer"] and not bench.tools.acts_in_text:
        return "failed"
    return "best_effort" if tried["ended"] == "no_reply" else "budget_exhausted"
