from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from forethought.settings import Settings
from forethought.tools.ask_user import ASK_USER
from forethought.tools.base import ToolEnv
from forethought.tools.call import call_tool


async def test_question_and_choices_reach_the_person_and_the_answer_comes_back(
    settings: Callable[..., Settings],
) -> None:
    asked: list[tuple[str, list[str]]] = []

    def ask(question: str, choices: list[str]) -> str:
        asked.append((question, choices))
        return "red"

    env = ToolEnv(settings=settings(), ask=ask)
    seen = await call_tool(ASK_USER, {"question": "Which?", "choices": ["red", "blue"]}, env)
    assert (seen.ok, seen.text, seen.origin) == (True, "red", "user")
    await call_tool(ASK_USER, {"question": "Why?"}, env)
    assert asked == [("Which?", ["red", "blue"]), ("Why?", [])]


async def test_where_nobody_can_be_asked_it_says_so(settings: Callable[..., Settings]) -> None:
    seen = await call_tool(ASK_USER, {"question": "Which?"}, ToolEnv(settings=settings()))
    assert (seen.ok, seen.cause) == (False, "unavailable")
    assert "nobody can be asked" in seen.text


class State(TypedDict):
    answer: str


async def test_it_waits_for_the_person_in_a_graph(settings: Callable[..., Settings]) -> None:
    """The interrupt is raised in a node, the run waits, and the resumed run gets the answer."""
    env = ToolEnv(
        settings=settings(),
        ask=lambda question, choices: interrupt({"question": question, "choices": choices}),
    )

    async def node(state: State) -> State:
        return {"answer": (await call_tool(ASK_USER, {"question": "Which?"}, env)).text}

    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    graph = builder.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    waiting = await graph.ainvoke({"answer": ""}, config)  # type: ignore[arg-type]
    assert waiting["__interrupt__"][0].value == {"question": "Which?", "choices": []}
    done = await graph.ainvoke(Command(resume="red"), config)  # type: ignore[arg-type]
    assert done["answer"] == "red"
