"""The conditions on the edges: pure functions of the state, so that a checkpoint can be forked at any of
them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph.graph import END
from langgraph.runtime import get_runtime
from langgraph.types import Send

from forethought.nodes.support.mending import mending
from forethought.state.agent import AgentState
from forethought.state.debugger import BASELINES, LABELLED_METHODS, DebuggerContext, DebuggerState


def after_planner(state: AgentState) -> str:
    """Every plan is examined. Without one the task has failed, or is answered."""
    return END if state.get("status") == "failed" else _unless_ended(state, "prospective_reflector")


def after_reflector(state: AgentState) -> str:
    """To the person if approval is wanted."""
    return "approve_plan" if state.get("plan", {}).get("approval") == "wanted" else "replan_trigger"


def after_approval(state: AgentState) -> str:
    """A rejected plan is planned anew, an edited one is examined, an approved one is executed."""
    approval = state.get("plan", {}).get("approval")
    if approval == "rejected":
        return "planner"
    return "prospective_reflector" if approval == "edited" else "replan_trigger"


def after_trigger(state: AgentState) -> list[Send] | str:
    """The wave side by side, a new plan, or the answer. A Send carries ids only; the
    node reads the rest. Raises LookupError where an edit took a subtask of the wave out of the plan."""
    if state.get("dispatch"):
        ids = [subtask["id"] for subtask in state.get("plan", {}).get("subtasks", [])]
        if gone := [item["subtask"] for item in state["dispatch"] if item["subtask"] not in ids]:
            raise LookupError(
                f"subtask {gone[0]} is about to start but is not in the plan; write the plan as "
                "prospective_reflector"
            )
        return [Send("tool_agent", dict(item)) for item in state["dispatch"]]
    return "planner" if state.get("decision", {}).get("to") == "planner" else "answer_agent"


def after_tool_agent(state: AgentState) -> list[Send | str]:
    """One executor for each tool agent: a sibling's edge sees its own proposal only; beside them the
    examination of a plan that begins with readings. Raises LookupError if an edit left no proposal."""
    if not state["proposals"]:
        raise LookupError("no proposal is left; write as replan_trigger to get a new one")
    executors = [
        Send("tool_executor", {"subtask": item["subtask"], "n": item["n"]})
        for item in state["proposals"].values()
    ]
    return [*executors, *([] if state["plan"].get("reviewed", True) else ["prospective_reflector"])]


def after_answer(state: AgentState) -> str:
    """What its checks found undone, once a person who approves plans has seen it; the next round, or the
    end."""
    way, mended = "planner", mending(state)
    if mended and mended["n"] == state["progress"]["n"]:
        is_asked = state.get("plan", {}).get("approval") == "wanted"
        way = "approve_plan" if is_asked else after_approval(state)
    return _unless_ended(state, way)


def _unless_ended(state: AgentState, then: str) -> str:
    """`then`, or the end; before it the score of the advice that was shown."""
    if state.get("status") == "running":
        return then
    return "score_keeper" if state.get("experience", {}).get("due") else END


Route = Callable[[Any], list[Send] | str]


def if_running(then: str | Route) -> Route:
    """The way on while the status is `running`, else the end (all graphs but the agent's)."""

    def route(state: Any) -> list[Send] | str:
        if state["status"] != "running":
            return END
        return then if isinstance(then, str) else then(state)

    return route


def wave_or(then: str) -> Route:
    """The wave's jobs side by side; with none left, `then`."""

    def route(state: Any) -> list[Send] | str:
        return [Send(job["node"], dict(job)) for job in state["wave"]] or then

    return route


def first_debugger_stage(state: DebuggerState) -> str:
    """The stage that the debugging's context begins with."""
    context = DebuggerContext.model_validate(get_runtime(DebuggerContext).context or {})
    if context.rerun in BASELINES:
        return "rerun"
    labelled = context.fine_grained and context.method in LABELLED_METHODS
    return ("triage" if context.method == "triage" else "label_wave") if labelled else "find_critical"
