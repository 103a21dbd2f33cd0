"""Plan-and-act: a planner writes a plan, an executor carries it out step by step as ReAct does, and the plan
is updated after each step (Erdogan et al. 2025, "Plan-and-Act"; the frameworks that PreFlect is compared
with in its table 2 and appendix C plan in this way).

START -> begin -> plan -> think -> act -> think ... -> plan ... -> close -> END

Departures: planner and executor are the same model, neither fine-tuned; the plan is updated when a step of it
is finished, not after every action.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from langgraph.graph import END

from forethought.evals.baselines.base import Baseline
from forethought.evals.baselines.bench import Bench
from forethought.evals.baselines.loop import Graph, new_graph
from forethought.evals.baselines.state import Planned, State, moves_of
from forethought.evals.baselines.transcript import shown
from forethought.evals.prompts.baseline_replies import StepPlan
from forethought.evals.types import BudgetSpent
from forethought.models.types import ReplyError, reply_spec
from forethought.tools.registry import describe

WHOLE_TASK = "Carry out the task."
"""The plan if the planner gave no usable one."""


class PlanAndAct(Baseline):
    """A plan, its execution, and its updates; no reflection on it."""

    name = "plan-and-act"
    about = "a planner and a ReAct-like executor; the plan is updated after each step (Erdogan et al. 2025)"

    def wire(self, bench: Bench) -> Graph:
        """See Baseline."""
        graph = new_graph(bench, entry="plan", finished="plan")
        graph.add_node("plan", partial(plan, bench=bench))
        graph.add_conditional_edges("plan", after_plan, ["think", "close"])
        graph.add_edge("close", END)
        return graph


def after_plan(state: State) -> str:
    """On with the plan's first step, unless the planner or a limit ended the try."""
    return "close" if state["ended"] else "think"


async def plan(state: State, *, bench: Bench) -> dict[str, Any]:
    """Write the plan, or what is left of it after a step was finished."""
    now = _finished(state)
    if why := bench.spent({**state, "plan": now}):
        return {"plan": now, "ended": why, "answer": ""}
    if now["versions"] > bench.trial.budget.max_steps:
        return {"plan": now, "ended": "no_reply", "answer": ""}
    first = not now["versions"]
    try:
        reply = await bench.ask("plan", reply_spec(StepPlan), _checker(first), **_view(state, now, bench))
    except BudgetSpent:
        return {"plan": now, "ended": "tokens", "answer": ""}
    except ReplyError:
        left = now["steps"] or ([WHOLE_TASK] if first else [])
        unchanged: Planned = {**now, "steps": left, "versions": now["versions"] + 1}
        return {"plan": unchanged, "ended": "" if left else "no_reply", "answer": ""}
    steps = [step.strip() for step in reply.steps if step.strip()]
    updated: Planned = {**now, "steps": steps, "versions": now["versions"] + 1}
    return {"plan": updated, "ended": "" if steps else "answered", "answer": reply.answer}


def _finished(state: State) -> Planned:
    """The plan with its current step among those done, if the executor finished it."""
    old = state.get("plan", {})
    steps, done = list(old.get("steps", [])), list(old.get("done", []))
    if state["ended"] == "answered" and steps:
        done.append({"step": steps.pop(0), "result": state["answer"]})
    return Planned(steps=steps, done=done, versions=old.get("versions", 0))


def _checker(first: bool) -> Callable[[StepPlan], str | None]:
    def check(reply: StepPlan) -> str | None:
        return "nothing was done yet: give the steps of a plan" if first and not reply.steps else None

    return check


def _view(state: State, now: Planned, bench: Bench) -> dict[str, Any]:
    return {
        "tools": describe(bench.offered),
        "task": state["task"],
        "done": now["done"],
        "planned": now["steps"],
        "left": bench.left(state),
        **shown(moves_of(state)),
    }
