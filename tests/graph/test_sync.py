"""The agent from code that is not asynchronous: as any graph of LangGraph's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langchain_core.tools import tool as langchain_tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command

from forethought import own_loop
from forethought.graph.agent import build_agent
from forethought.settings import Settings
from forethought.state.context import Context
from tests.support.agent import Script, World
from tests.support.model_server import ModelServer
from tests.support.replies import call, plan, sub

Build = Callable[..., Any]
LOW = Context(effort="low")


@pytest.fixture
def build(model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Build:
    """Build an agent with a scripted model."""

    def go(script: Script | None = None, tools: Any = (), **options: Any) -> Any:
        server = model_server(script or Script())
        return build_agent([World().tool(), *tools], settings(server, request_retries=0), **options)

    return go


def at(thread: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread}}


@pytest.fixture(params=["memory", "sqlite"])
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseCheckpointSaver[Any]]:
    """A checkpointer as a synchronous program has it."""
    if request.param == "memory":
        yield InMemorySaver()
    else:
        with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as opened:
            yield opened


def test_invoke_stream_state_and_history(build: Build, saver: BaseCheckpointSaver[Any]) -> None:
    agent = build(checkpointer=saver)
    assert agent.invoke({"task": "the task"}, at("a"), context=LOW)["answer"] == "the answer"
    parts = [*agent.stream({"task": "2"}, at("a"), context=LOW, stream_mode=["updates", "values"])]
    assert {mode for mode, _ in parts} == {"updates", "values"}
    nodes = [next(iter(part)) for mode, part in parts if mode == "updates"]
    assert (nodes[0], nodes[-1]) == ("planner", "answer_agent")
    snapshot = agent.get_state(at("a"))
    assert (snapshot.values["status"], snapshot.values["progress"]["task"]) == ("answered", 2)
    assert [item.next for item in agent.get_state_history(at("a"))].count(()) == 2
    agent.update_state(at("a"), {"answer": "another"}, as_node="answer_agent")
    assert agent.get_state(at("a")).values["answer"] == "another"


def test_a_question_is_answered_and_an_abandoned_stream_goes_on(
    build: Build, saver: BaseCheckpointSaver[Any]
) -> None:
    script = Script(plans=[plan(sub("a"), sub("b", after=["a"]))], moves={"a": [call("a")], "b": [call("b")]})
    agent = build(script, checkpointer=saver)
    asked = agent.invoke({"task": "the task"}, at("t"), context=Context(effort="low", approve_plan=True))
    assert [item.value["kind"] for item in asked["__interrupt__"]] == ["plan"]
    for part in agent.stream(
        Command(resume={"decision": "approve"}), at("t"), context=LOW, stream_mode="updates"
    ):
        if "tool_executor" in part:
            break
    assert agent.get_state(at("t")).next, "it was left on the way"
    assert agent.invoke(None, at("t"), context=LOW)["status"] == "answered"


def test_a_batch_runs_side_by_side(build: Build) -> None:
    done = build().batch([{"task": f"task {n}"} for n in range(3)], context=LOW)
    assert [state["status"] for state in done] == ["answered"] * 3
    assert sum(thread.name == "forethought" for thread in threading.enumerate()) == 1


async def test_beside_a_running_loop_as_in_a_notebook(build: Build) -> None:
    agent = build(checkpointer=InMemorySaver())
    assert agent.invoke({"task": "the task"}, at("t"), context=LOW)["status"] == "answered"
    assert agent.get_state(at("t")).values["answer"] == "the answer"
    assert (await agent.ainvoke({"task": "again"}, at("t"), context=LOW))["status"] == "answered"
    assert "planner" in agent._repr_mimebundle_()["text/vnd.mermaid"], "with no request to a web service"


def test_what_a_run_raises_is_raised_here(build: Build) -> None:
    with pytest.raises(ValueError, match="messages: a message must be an object"):
        build().invoke({"messages": [3]})
    with pytest.raises(ValueError, match="No checkpointer set"):
        build().get_state(at("t"))


async def test_an_asynchronous_checkpointer_is_refused_in_one_line(build: Build) -> None:
    async with AsyncSqliteSaver.from_conn_string(":memory:") as opened:
        agent = build(checkpointer=opened)
        with pytest.raises(
            RuntimeError, match="AsyncSqliteSaver works only in the event loop that opened it: await"
        ):
            agent.invoke({"task": "the task"}, at("t"))


def test_asynchronous_code_within_a_run_is_told_to_await(build: Build) -> None:
    other = build()

    async def delegate(task: str) -> str:
        """Delegate a task."""
        return str(other.invoke({"task": task}, context=LOW)["answer"])

    def hand_over(task: str) -> str:
        """Hand a task over."""
        return str(other.invoke({"task": task}, context=LOW)["answer"])

    moves = {"a": [call(tool="delegate", task="x"), call(tool="hand_over", task="x")]}
    agent = build(Script(moves=moves), [delegate, hand_over], checkpointer=InMemorySaver())
    agent.invoke({"task": "the task"}, at("t"), context=LOW)
    first, second = agent.get_state(at("t")).values["trajectory"]
    assert "await ainvoke" in first["observation"]
    assert (second["ok"], second["observation"]) == (True, "the answer"), "a thread may wait"


class Outer(TypedDict, total=False):
    task: str
    answer: str
    status: str


def test_it_is_a_node_of_a_synchronous_graph(build: Build, saver: BaseCheckpointSaver[Any]) -> None:
    outer = StateGraph(Outer, context_schema=Context)
    outer.add_node("agent", build())
    outer.add_edge(START, "agent")
    outer.add_edge("agent", END)
    graph = outer.compile(checkpointer=saver)
    assert graph.invoke({"task": "the task"}, at("t"), context=LOW)["answer"] == "the answer"  # type: ignore[call-overload]


def test_a_graph_with_a_context_of_its_own_runs_it_with_the_default_one(build: Build) -> None:
    @dataclass
    class Tenant:
        name: str

    seen: list[Any] = []

    def whose(runtime: ToolRuntime[Any, Any]) -> str:
        """Whose run it is."""
        seen.append(runtime.context)
        return runtime.context.name

    outer = StateGraph(Outer, context_schema=Tenant)
    moves = {"a": [call(tool="whose")]}
    outer.add_node("agent", build(Script(moves=moves), [langchain_tool(whose)]))
    outer.add_edge(START, "agent")
    state = outer.compile().invoke({"task": "the task"}, context=Tenant("Ada"))
    assert state["answer"] == "the answer"
    assert seen == [Tenant("Ada")]


def test_a_forked_process_starts_a_thread_of_its_own() -> None:
    async def where() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    assert own_loop.run(where()) == "forethought"
    before = own_loop._own
    own_loop._forget()
    assert own_loop.run(where()) == "forethought"
    assert own_loop._own is not before
