"""Our agent as a method: its graph on the sample's tools, within the sample's budget."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateUpdate
from pydantic import ValidationError

from forethought.evals.baselines.bench import LONGEST_FORMAT
from forethought.evals.harness.budget import Meter, MeteredTransport
from forethought.evals.methods.readout import Readout, read_out
from forethought.evals.toolset import Toolset, opening
from forethought.evals.types import (
    Attempt,
    BudgetSpent,
    EarlierTask,
    InfrastructureError,
    Method,
    TrialContext,
)
from forethought.graph.agent import AgentGraph, build_agent
from forethought.state.context import Context, models_of
from forethought.state.cost import cost_rows
from forethought.tools.files import FilesError
from forethought.tools.folders.intake import take_paths
from forethought.trajectories.own import from_state

NOBODY = "this is an evaluation: nobody is there to approve it; go on without it"
LAST_NODE = "score_keeper"
"""The last node of a task: the thread then waits for its next one."""
_LEAST_TOKENS = 1_000
"""The smallest token budget that Context accepts."""


@dataclass
class Ours(Method):
    """The agent of this project, with some switches changed."""

    name: str = "ours"
    about: str = "our agent with its defaults: mechanisms only if they can change something (effort=auto)"
    switches: Mapping[str, Any] = field(default_factory=dict)
    """Fields of Context that define the method."""

    async def run(self, trial: TrialContext) -> Attempt:
        """See Method. A thread that was broken off begins anew: its world is gone.

        A call that would need a person's approval is refused; any other question to a person ends the
        attempt as failed, and its trajectory says why.
        """
        started = time.monotonic()
        meter = Meter()
        try:
            tools = trial.tools
            graph = self._graph(trial, tools, meter)
            run = GraphRun(graph, self.context(trial), {"configurable": {"thread_id": trial.thread}})
            await trial.checkpointer.adelete_thread(trial.thread)
            payload = await self._begin(trial, run)
        except (ValueError, FilesError) as error:
            raise InfrastructureError(f"sample {trial.sample.id}: {error}") from error
        stopped = await run.to_its_end(payload)
        if tools.broken is not None:
            raise tools.broken
        readout = await read_out(graph, run.config)
        if readout.refused:
            raise InfrastructureError(f"sample {trial.sample.id}: {readout.refused}")
        reward = await tools.finish(readout.answer)
        return _attempt(readout, trial, tools, meter, reward, time.monotonic() - started, stopped)

    async def _begin(self, trial: TrialContext, run: GraphRun) -> Any:
        """Make the thread ready. Returns what the graph is run with. Raises FilesError, ValueError,
        InfrastructureError and ConfigurationError."""
        payload = await self._task_input(trial, trial.tools)
        if trial.sample.earlier:
            update = StateUpdate(_conversation(trial.sample.earlier), LAST_NODE)
            # Not the graph's own, which takes no such write from a client.
            await CompiledStateGraph.abulk_update_state(run.graph, run.config, [[update]])
        return payload

    def context(self, trial: TrialContext) -> Context:
        """What the agent is run with: the operator's choices, then the method's own, then the evaluation's.

        Raises InfrastructureError for a choice that is none.
        """
        budget, sample = trial.budget, trial.sample
        own = {name: value for name, value in trial.context.items() if name in Context.model_fields}
        chosen = {**own, **self.switches}
        steps = min(budget.max_steps, int(chosen.get("max_steps", budget.max_steps)))
        tokens = min(budget.max_tokens, int(chosen.get("max_tokens") or budget.max_tokens))
        fixed = {
            "model": trial.model,
            "max_steps": max(steps, 1),
            "max_tokens": max(tokens, _LEAST_TOKENS),
            "approve_tools": "never",
            "approve_plan": False,
            "answer_format": sample.answer_format if len(sample.answer_format) <= LONGEST_FORMAT else "",
        }
        if trial.episode is not None:
            fixed["max_parallel"] = 1
        try:
            return Context.model_validate({**chosen, **fixed})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise InfrastructureError(f"--set {where}: {first['msg']}") from error

    def _graph(self, trial: TrialContext, tools: Toolset, meter: Meter) -> AgentGraph:
        """The agent with the sample's tools and no other."""
        settings = trial.settings.model_copy(update={"tools": None, "mcp_file": None})
        watched = MeteredTransport(trial.models.transport, (meter,), stop=lambda: tools.broken)
        return build_agent(
            list(tools.values()),
            settings,
            checkpointer=trial.checkpointer,
            transport=watched,
            builtin=(),
        )

    async def _task_input(self, trial: TrialContext, tools: Toolset) -> dict[str, Any]:
        """The task as a client would send it. Raises FilesError, InfrastructureError, ConfigurationError."""
        await asyncio.to_thread(trial.models.verify, models_of(self.context(trial)))
        task = opening(trial.sample.task, await tools.begin())
        if len(trial.sample.answer_format) > LONGEST_FORMAT:
            task += f"\n\nThe answer's form: {trial.sample.answer_format}"
        given = await asyncio.to_thread(take_paths, trial.sample.files, trial.settings)
        return {"task": task, **given.channels}


def _conversation(earlier: Sequence[EarlierTask]) -> dict[str, Any]:
    """The update that makes a new thread stand as if these tasks had been answered in it."""
    turns = [
        (HumanMessage(turn.task, id=f"task-{n}"), AIMessage(turn.answer)) for n, turn in enumerate(earlier)
    ]
    former = [{**turn._asdict(), "status": "answered"} for turn in earlier]
    return {
        "messages": [message for turn in turns for message in turn],
        "status": "answered",
        "progress": {"task": len(turns), "message_id": turns[-1][0].id, "earlier": former},
    }


@dataclass
class GraphRun:
    """One run of the graph, with nobody to answer what it asks."""

    graph: AgentGraph
    context: Context
    config: RunnableConfig
    first: Context | None = None
    """Context of the first superstep, and of the next ones until the plan is examined, if it is another."""
    refusals: int = 0

    async def to_its_end(self, payload: Any) -> str:
        """Run until the agent ends; why it was stopped before that ('' if it was not)."""
        try:
            while self.first is not None:
                await self.graph.ainvoke(payload, self.config, context=self.first, interrupt_after="*")
                payload, state = None, await self.graph.aget_state(self.config)
                if not state.next:
                    return ""
                if state.values.get("plan", {}).get("reviewed", True):
                    self.first = None
            while True:
                await self.graph.ainvoke(payload, self.config, context=self.context)
                interrupts = (await self.graph.aget_state(self.config)).interrupts
                if not interrupts:
                    return ""
                kinds = {item.value.get("kind") for item in interrupts}
                if kinds != {"tool"} or self.refusals >= self.context.max_steps:
                    asked = ", ".join(sorted(map(str, kinds)))
                    return f"it asked a person ({asked}), but an evaluation has none"
                self.refusals += 1
                payload = Command(
                    resume={
                        item.id: {"decision": "reject", "value": None, "reason": NOBODY}
                        for item in interrupts
                    }
                )
        except BudgetSpent:
            return "the token budget was spent within a step"


def _attempt(
    made: Readout,
    trial: TrialContext,
    tools: Toolset,
    meter: Meter,
    reward: float | None,
    seconds: float,
    stopped: str,
) -> Attempt:
    effects = {name: tool.effect for name, tool in tools.items()}
    trajectory = from_state(made.values, effects, id=trial.thread, plans=made.plans)
    episode = trial.episode
    update: dict[str, Any] = {"environment": episode.name} if episode else {}
    if stopped:
        update["notes"] = (*trajectory.notes, f"The run was stopped: {stopped}.")
    return Attempt(
        answer=made.answer,
        status=_status(made, stopped),
        trajectory=trajectory.model_copy(update=update),
        usage=meter.usage,
        seconds=seconds,
        steps=tools.counter.used,
        reward=reward,
        tries=made.rounds,
        self_scores=made.self_scores,
        plan_errors=made.plan_errors,
        costs=cost_rows(made.values),
    )


def _status(made: Readout, stopped: str) -> str:
    if not stopped:
        return made.status
    return "budget_exhausted" if made.answer else "failed"
