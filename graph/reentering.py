"""Putting a task that failed back to work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from forethought.state.outside import from_inside
from forethought.state.reducers import CLEAR

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from forethought.graph.agent import AgentGraph


async def back_to_work(graph: AgentGraph, config: RunnableConfig, values: Mapping[str, Any]) -> None:
    """Have a task with the state `values`, whose status is failed, go on when its thread is run next: where
    the next step is decided, or at the planner without a plan. One that was refused gets back the files and
    the guidance that it came with. A wait that it had no time for is over by now.
    """
    from forethought.nodes.support.task import retry_rejected_task

    planned = bool((values.get("plan") or {}).get("subtasks"))
    # The edge behind answer_agent leads to the planner while the task runs: as the next round begins.
    node = "replan_trigger" if planned else "answer_agent"
    with from_inside():
        update = {"status": "running", "usage": _waited(values), **retry_rejected_task(values)}
        await graph.aupdate_state(config, update, as_node=node)


def _waited(values: Mapping[str, Any]) -> dict[str, Any]:
    """The update of `usage` that leaves all that was spent, and no mark of a wait."""
    kept = {
        role: {name: figure for name, figure in usage.items() if name != "out_of_time"}
        for role, usage in (values.get("usage") or {}).items()
    }
    return {CLEAR: None, **kept}
