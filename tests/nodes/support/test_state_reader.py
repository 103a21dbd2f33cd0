"""The one use of LangGraph's private reader: a sent node reads the other channels."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from forethought.nodes.support.state_reader import read_state


class _State(TypedDict, total=False):
    plan: dict[str, Any]
    never: str
    seen: Annotated[list[Any], operator.add]


class _Sent(TypedDict):
    n: int


async def test_a_sent_node_reads_the_channels_it_names() -> None:
    def node(sent: _Sent, config: RunnableConfig) -> Any:
        state: Any = read_state(config, ("plan", "never"))
        seen = {"n": sent["n"], "plan": list(state["plan"]["subtasks"]), "never": "never" in state}
        return {"seen": [seen]}

    graph: Any = StateGraph(_State)
    graph.add_node("first", lambda state: {"plan": {"subtasks": ["a"]}})
    graph.add_node("node", node, input_schema=_Sent)
    graph.add_edge(START, "first")
    graph.add_conditional_edges("first", lambda state: [Send("node", {"n": n}) for n in (1, 2)], ["node"])
    graph.add_edge("node", END)
    out = await graph.compile().ainvoke({"seen": []})
    assert sorted(out["seen"], key=lambda item: item["n"]) == [
        {"n": 1, "plan": ["a"], "never": False},
        {"n": 2, "plan": ["a"], "never": False},
    ]
