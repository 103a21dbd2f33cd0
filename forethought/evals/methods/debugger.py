"""The debugger as a method, for AgentErrorBench only: it answers with the critical error that it finds.

AgentDebug's own two stages, without the first (its ablation), and the baselines of Table 1. A recorded run
cannot be run again: where a baseline substitutes an action, a model says whether that would have saved it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forethought.evals import critical_error_task
from forethought.evals.types import Attempt, BudgetSpent, InfrastructureError, Method, TrialContext
from forethought.models.allowance import total
from forethought.trajectories.types import Loaded, Reference, Trajectory, TrajectoryStep

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

_LEAST_TOKENS = 1_000
"""The smallest token budget of the debugger."""


@dataclass
class Debugger(Method):
    """One way of finding the critical error."""

    name: str
    about: str
    choices: Mapping[str, Any] = field(default_factory=dict)
    """Fields of DebuggerContext."""

    async def run(self, trial: TrialContext) -> Attempt:
        """The critical error of the run that the task is about; a thread that was begun is gone on with."""
        started = time.monotonic()
        try:
            run = critical_error_task.run_in(trial.sample.task)
        except ValueError as error:
            raise InfrastructureError(f"method {self.name} is for agent-error-bench only: {error}") from error
        spent, state = await self._debugged(run, trial)
        critical: Mapping[str, Any] = state.get("critical") or {}
        answer = critical_error_task.answer_of(critical)
        return Attempt(
            answer=answer,
            status="budget_exhausted" if spent else "answered" if answer else "failed",
            trajectory=_trajectory(trial, critical, answer),
            usage=total(*(state.get("usage") or {}).values()),
            seconds=time.monotonic() - started,
            steps=0,
        )

    async def _debugged(self, run: Trajectory, trial: TrialContext) -> tuple[bool, Mapping[str, Any]]:
        """Whether the budget ended it, and the state that it ended with. Raises ModelError."""
        from forethought.graph.debugger import build_debugger
        from forethought.state.debugger import DebuggerContext

        context = DebuggerContext(
            model=trial.model,
            judge="none",
            max_tokens=max(_LEAST_TOKENS, trial.budget.max_tokens),
            **self.choices,
        )
        graph = build_debugger(trial.settings, trial.checkpointer, trial.models.transport)
        config: RunnableConfig = {"configurable": {"thread_id": trial.thread}}
        begun = (await graph.aget_state(config)).created_at is not None
        loaded = Loaded(trajectory=run, reference=Reference(outcome="failure"))
        payload: Any = None if begun else {"trajectory": loaded.model_dump(mode="json")}
        spent = False
        try:
            await graph.ainvoke(payload, config, context=context, durability="sync")
        except BudgetSpent:
            spent = True
        return spent, (await graph.aget_state(config)).values


def _trajectory(trial: TrialContext, critical: Mapping[str, Any], answer: str) -> Trajectory:
    """The debugging as a run of one step; its labels are in the thread."""
    step = TrajectoryStep(number=1, planning=critical.get("root_cause", ""), action=answer)
    return Trajectory(
        id=trial.thread,
        task=trial.sample.task,
        source="forethought",
        steps=(step,) if critical else (),
        answer=answer,
    )


_ONLY = "agent-error-bench only:"
DEBUGGERS: Sequence[Debugger] = (
    Debugger(
        "debugger",
        f"{_ONLY} labels of every step, then the critical error (AgentDebug 3.2)",
        {"method": "agentdebug"},
    ),
    Debugger(
        "debugger-triage",
        f"{_ONLY} labels of the steps that one reading of the run selects, then the critical error",
        {"method": "triage"},
    ),
    Debugger(
        "debugger-no-labels",
        f"{_ONLY} the critical error without labels (AgentDebug without stage 1)",
        {"method": "agentdebug", "fine_grained": False},
    ),
    Debugger("debugger-direct", f"{_ONLY} direct prompting (AgentDebug 4.1)", {"method": "direct"}),
    Debugger(
        "debugger-brute-force",
        f"{_ONLY} asks for each step in turn whether its correction saves the run (AgentDebug 4.1)",
        {"method": "brute_force"},
    ),
    Debugger(
        "debugger-binary-search",
        f"{_ONLY} asks the same by binary search (AgentDebug 4.1)",
        {"method": "binary_search"},
    ),
)
