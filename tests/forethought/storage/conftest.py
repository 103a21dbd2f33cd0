"""Threads in a database of each kind, without the agent."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph

from forethought.settings import Settings
from forethought.state.agent import AgentState
from forethought.storage import Address, address_of

KEY = bytes(range(32))
OTHER_KEY = bytes(range(1, 33))
Json = dict[str, Any]


@pytest.fixture
def address(database: str) -> Address:
    """A new database of each kind."""
    return address_of(Settings(db=database))


def echo_graph(saver: Any) -> Any:
    """A graph of the agent's channels that answers with the task."""

    def note(state: AgentState) -> Json:
        return {"answer": f"echo of {state['task']}", "usage": {}}

    graph = StateGraph(AgentState)
    graph.add_node("note", note)
    graph.add_edge(START, "note")
    graph.add_edge("note", END)
    return graph.compile(checkpointer=saver)


async def run(
    saver: Any, thread_id: str, task: str = "a task", given: Json | None = None, **kept: str
) -> None:
    """Carry out a task on a thread; `given` are further channels, `kept` is metadata."""
    config = {"configurable": {"thread_id": thread_id}, "metadata": kept}
    await echo_graph(saver).ainvoke({"task": task, "status": "answered", **(given or {})}, config)
