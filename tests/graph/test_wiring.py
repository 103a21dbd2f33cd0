"""What a node is wrapped in, besides its journal and its siblings."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel

from forethought.graph.node_wrapper import wrap_node
from forethought.settings import Settings

CONFIG: Any = {"configurable": {"thread_id": "t"}}
SECRET = "sk-of-the-settings"


class Number(BaseModel):
    n: int


def plain() -> None:
    raise ValueError(f"refused {SECRET}")


def grouped() -> None:
    raise ExceptionGroup("two", [OSError(2, "none", f"/of/{SECRET}"), RuntimeError(SECRET)])


def of_pydantic() -> None:
    Number.model_validate({"n": SECRET})


@pytest.mark.parametrize(
    ("fail", "raised"),
    [(plain, ValueError), (grouped, ExceptionGroup), (of_pydantic, RuntimeError)],
)
async def test_no_error_of_a_node_is_stored_with_a_secret(
    settings: Callable[..., Settings], fail: Callable[[], None], raised: type[Exception]
) -> None:
    async def node(state: Any, services: Any) -> Any:
        fail()

    saver = InMemorySaver()
    graph: Any = StateGraph(dict)
    graph.add_node("node", wrap_node(node, SimpleNamespace(settings=settings(api_key=SECRET))))
    graph.add_edge(START, "node")
    with pytest.raises(raised) as caught:
        await graph.compile(checkpointer=saver).ainvoke({"x": 1}, CONFIG)
    stored = str([saver.storage, saver.writes, saver.blobs])
    assert "[secret]" in stored
    assert SECRET not in stored + repr(caught.value)


async def test_a_question_to_a_person_passes_through(settings: Callable[..., Settings]) -> None:
    async def node(state: Any, services: Any) -> Any:
        return {"said": interrupt("which?")}

    graph: Any = StateGraph(dict)
    graph.add_node("node", wrap_node(node, SimpleNamespace(settings=settings(api_key=SECRET))))
    graph.add_edge(START, "node")
    got = await graph.compile(checkpointer=InMemorySaver()).ainvoke({"x": 1}, CONFIG)
    assert got["__interrupt__"][0].value == "which?"
